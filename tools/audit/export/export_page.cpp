#include "tools/audit/export/export_page.h"

#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/rpc/json_text.h"
#include "tools/audit/export/export_files.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;
using nlohmann::json;

constexpr std::string_view kStyle =
    "body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:0 .8rem 3rem;"
    "color:#222;background:#fff}h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.15rem}"
    ".wide{overflow-x:auto}table{border-collapse:collapse}th,td{padding:.2rem .5rem;"
    "border:1px solid #ccc;text-align:right}.name{text-align:left;min-width:7rem;"
    "max-width:14rem;overflow-wrap:anywhere}.cross .name{min-width:0}.cross "
    "td{text-align:center}.words{text-align:left;overflow-wrap:anywhere}"
    ".plot{display:block;width:100%;max-width:48rem;height:auto;font-size:12px;fill:currentColor}"
    ".plot polyline{fill:none;stroke-width:2}.plot .faint{stroke:#8888;stroke-width:1}"
    ".plot .grid{stroke:#8884}.plot .expected{stroke:currentColor;stroke-dasharray:5 4}"
    ".plot .bar{fill:#6a9fd4}.s0{stroke:#1f6fb5}.s1{stroke:#d1691a}.s2{stroke:#2f8f3e}"
    ".s3{stroke:#b5342c}.s4{stroke:#7d55b0}.s5{stroke:#8a6d1d}.self{background:#ddd}.W{background:#"
    "dff0d8}"
    ".D{background:#fcf8e3}.L{background:#f5dede}summary{padding:.3rem 0}li{overflow-wrap:anywhere}"
    "dt{font-weight:bold}dd{margin:0 0 .4rem 1rem;overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}a{color:#8bf}"
    "th,td{border-color:#555}.self{background:#444}.W{background:#263d20}.D{background:#3d3a20}"
    ".L{background:#452525}}@media print{a{color:inherit;text-decoration:none}}";

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
  out += "<h2>Transcript</h2>\n";
  if (lines.empty()) out += "<p>No log of its referee was found.</p>\n";
  out += "<ol>\n";
  for (const auto& line : lines) {
    out += "<li>" + shown(line["at"]) + " " + shown(line["from"]) + " &rarr; " + shown(line["to"]) +
           " " + shown(line["message_type"]);
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

std::string page_begin(std::string_view league, const std::string& title_html) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" + page_mark(league) +
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "style-src 'unsafe-inline'\">\n<title>" +
         title_html + "</title><style>" + std::string(kStyle) + "</style></head>\n<body><h1>" +
         title_html + "</h1>\n";
}

std::string match_page(const ExportedLeague& league, const referee::files::MatchRecord& record) {
  json match = json::parse(record.json());
  const lm::League& of = league.book.league();
  auto name = [&of](const json& id) {
    auto ref = lm::events::AgentRef::parse(id.get<std::string>());
    return html_text(of.roster().agent(*ref).profile.display_name) + " (" + shown(id) + ")";
  };
  std::string out = page_begin(of.settings().league_id.str(), "Match " + shown(match["match_id"]));
  out += "<p><a href=\"../index.html\">" + shown(match["league_id"]) + "</a>, round " +
         shown(match["round_id"]) + "</p>\n<dl>\n";
  add_entry(out, "player A", name(match["player_A_id"]));
  add_entry(out, "player B", name(match["player_B_id"]));
  add_entry(out, "referee", shown(match["referee_id"]));
  add_entry(out, "attempt", shown(match["attempt"]));
  add_entry(out, "state", shown(match["state"]));
  if (const auto key = lm::events::MatchKey::parse(match["match_id"].get<std::string>()))
    add_acts(out, league.book, *key);
  add_result(out, match["result"]);
  add_entry(out, "draw_commitment", shown(match["draw_commitment"]));
  out += "</dl>\n";
  add_transcript(out, match["transcript"]);
  return out + std::string(kPageEnd);
}

}  // namespace league::tools::auditor
