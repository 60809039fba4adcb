#include "tools/audit/export/export_page.h"

#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/rpc/json_text.h"
#include "tools/audit/export/export_files.h"
#include "tools/audit/export/site_styles.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;
using nlohmann::json;

std::string shown(const json& value) {
  if (value.is_null()) return "none";
  if (value.is_object()) {
    std::string list;
    for (const auto& [key, one] : value.items())
      list += (list.empty() ? "" : ", ") + html_text(key) + " " + shown(one);
    return list;
  }
  return html_text(value.is_string() ? value.get<std::string>() : rpc::to_json_text(value));
}

void add_entry(std::string& out, const std::string& name, const std::string& html) {
  out += "<dt>" + name + "</dt><dd>" + html + "</dd>\n";
}

void add_result(std::string& out, const json& result) {
  if (!result.is_object()) return add_entry(out, "result", "none yet");
  add_entry(out, "winner", shown(result.value("winner", json())));
  if (result.contains("score")) add_entry(out, "score", shown(result["score"]));
  auto details = result.find("details");
  if (details == result.end() || !details->is_object()) return;
  for (const char* key : {"choices", "drawn_number", "termination", "draw_proof", "draw_version",
                          "choice_commitments", "choice_nonces"}) {
    if (details->contains(key)) add_entry(out, key, shown((*details)[key]));
  }
}

void add_transcript(std::string& out, const json& lines) {
  if (lines.empty()) out += "<p>No log of its referee was found.</p>\n";
  out += "<ol class=\"log\">\n";
  for (const auto& line : lines) {
    out += "<li><time>" + shown(line["at"]) + "</time> " + shown(line["from"]) + " &rarr; " +
           shown(line["to"]) + " " + shown(line["message_type"]);
    for (const char* key :
         {"accept", "choice_commitment", "parity_choice", "choice_nonce", "error_code", "error"}) {
      if (line.contains(key)) out += std::string("; ") + key + " " + shown(line[key]);
    }
    out += "</li>\n";
  }
  out += "</ol>\n";
}

/// What the operator has done to the match.
void add_acts(std::string& out, const lm::files::LeagueBook& book, lm::events::MatchKey match) {
  const auto link = [](lm::events::MatchKey other) {
    const std::string id = other.id().str();
    return "<a href=\"" + id + ".html\">" + id + "</a>";
  };
  for (const auto& [at, act] : book.acts()) {
    if (act.match != match) continue;
    std::string text =
        "it counts for nobody, by " + html_text(act.by) + ": " + html_text(act.reason);
    if (act.replay) text += "; played again as " + link(*act.replay);
    add_entry(out, "void", text);
  }
  if (const auto original = book.league().schedule().replay_of(match))
    add_entry(out, "replay of", link(*original));
}

}  // namespace

std::string html_text(std::string_view text) {
  // The conversion to JSON replaces invalid UTF-8.
  std::string valid = json::parse(rpc::to_json_text(json(text))).get<std::string>();
  std::string out;
  for (char c : valid) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 || byte == 0x7f;
    is_control ? out += "\xef\xbf\xbd" : out += c;
  }
  return core::escape_markup(out);
}

std::string page_mark(std::string_view league) {
  return "<meta name=\"generator\" content=\"league export of " + html_text(league) + "\">";
}

std::string page_begin(const PageHead& head) {
  std::string styles;
  for (const EmbeddedFile& file : site_styles()) {
    const std::string media =
        file.name == "dark.css" ? " media=\"(prefers-color-scheme: dark)\"" : "";
    styles += head.is_alone ? "<style" + media + ">" + std::string(file.text) + "</style>\n"
                            : "<link rel=\"stylesheet\" href=\"" + std::string(head.root) +
                                  std::string(file.name) + "\"" + media + ">\n";
  }
  // 'self' does not mean the pages beside this one when they are opened as files.
  const std::string allowed = head.is_alone ? "'unsafe-inline'" : "'self' file:";
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" +
         page_mark(head.league) +
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src " +
         allowed + "\">\n<title>" + head.title_html + "</title>\n" + styles +
         "</head>\n<body><header><div class=\"title\"><h1>" + head.title_html + "</h1>" +
         head.beside_html + "</div><p class=\"headline\">" + head.headline_html +
         "</p></header>\n<main>\n";
}

std::string card(std::string_view classes, std::string_view heading, const std::string& html) {
  std::string out = "<section class=\"card";
  if (!classes.empty()) out.append(" ").append(classes);
  return out.append("\"><h2>").append(heading).append("</h2>\n").append(html).append(
      "</section>\n");
}

std::string agent_row(const std::string& id, std::string_view name, const std::string& href,
                      const std::string& more_html) {
  const std::string text = html_text(name);
  return "<div class=\"agent\">" +
         (href.empty() ? "<span class=\"id\">" + id + "</span>"
                       : "<a class=\"id\" href=\"" + href + "\">" + id + "</a>") +
         "<bdi class=\"name\" title=\"" + text + "\">" + text + "</bdi>" + more_html + "</div>";
}

std::string match_page(const ExportedLeague& league, const referee::files::MatchRecord& record) {
  json match = json::parse(record.json());
  const lm::League& of = league.book.league();
  auto name = [&of](const json& id) {
    auto ref = lm::events::AgentRef::parse(id.get<std::string>());
    return html_text(of.roster().agent(*ref).profile.display_name);
  };
  const auto link = [&](const char* side) {
    const std::string id = shown(match[side]);
    return name(match[side]) + " (<a href=\"../players/" + id + ".html\">" + id + "</a>)";
  };
  std::string out =
      page_begin({.league = of.settings().league_id.str(),
                  .title_html = shown(match["match_id"]) + ": " + name(match["player_A_id"]) +
                                " &ndash; " + name(match["player_B_id"]),
                  .headline_html = "<a href=\"../index.html\">" + shown(match["league_id"]) +
                                   "</a> &middot; Round " + shown(match["round_id"])});
  std::string facts = "<dl class=\"facts\">\n";
  add_entry(facts, "player A", link("player_A_id"));
  add_entry(facts, "player B", link("player_B_id"));
  add_entry(facts, "referee", name(match["referee_id"]) + " (" + shown(match["referee_id"]) + ")");
  add_entry(facts, "attempt", shown(match["attempt"]));
  add_entry(facts, "state", shown(match["state"]));
  if (const auto key = lm::events::MatchKey::parse(match["match_id"].get<std::string>()))
    add_acts(facts, league.book, *key);
  add_result(facts, match["result"]);
  add_entry(facts, "draw_commitment", shown(match["draw_commitment"]));
  std::string transcript;
  add_transcript(transcript, match["transcript"]);
  return out + card("main", "Result", facts + "</dl>\n") + card("", "Transcript", transcript) +
         std::string(kPageEnd);
}

}  // namespace league::tools::auditor
