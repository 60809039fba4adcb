#include "tools/audit/export/export_files.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "league_manager/files/remedies.h"
#include "tools/audit/export/export_grades.h"
#include "tools/audit/export/export_page.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;

class PlayerPage {
 public:
  PlayerPage(const lm::files::LeagueBook& book, const PlayerFigures& figures)
      : book_(book), figures_(figures) {}

  std::string text() {
    const std::string league = book_.league().settings().league_id.str();
    out_ = page_begin(league, player_id_of(figures_.row.player) + " " + name(figures_.row.player));
    out_ += "<p><a href=\"../index.html\">" + html_text(league) + "</a></p>\n";
    add_summary();
    add_faults();
    add_matches();
    add_states();
    return out_ + std::string(kPageEnd);
  }

 private:
  [[nodiscard]] std::string name(int player) const {
    return html_text(agent_of(book_, player).profile.display_name);
  }

  void add_summary() {
    const lm::Tally& tally = figures_.row.tally;
    out_ += "<p>Rank " + std::to_string(figures_.row.rank) + " of " +
            std::to_string(book_.league().roster().count(lm::events::AgentKind::kPlayer)) +
            " with " + std::to_string(tally.points) + " points: " + std::to_string(tally.played) +
            " matches played, " + std::to_string(tally.wins) + " won, " +
            std::to_string(tally.draws) + " drawn, " + std::to_string(tally.losses) + " lost";
    if (const int technical = figures_.technical_losses(); technical > 0)
      out_ += ", " + std::to_string(technical) + " of them technically";
    out_ += ".</p>\n";
    if (const auto half = figures_.answer_percentile(50)) {
      out_ += "<p>Half of its answers came within " + milliseconds(*half) +
              ", nine in ten within " + milliseconds(*figures_.answer_percentile(90)) +
              ", the slowest in a hundred took " + milliseconds(*figures_.answer_percentile(99)) +
              " or more.</p>\n";
    }
  }

  static std::string milliseconds(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), value < 10 ? "%.1f ms" : "%.0f ms", value);
    return text;
  }

  void add_faults() {
    out_ += "<h2>What went wrong</h2>\n<ul>\n";
    bool is_any = false;
    // Each fault once, with all matches that were lost because of it.
    std::vector<std::pair<std::string, std::string>> faults;
    for (const OwnMatch& match : figures_.matches) {
      if (!match.lost_technically) continue;
      std::string words = match_in_words(book_, match);
      auto known = std::ranges::find(faults, words, &std::pair<std::string, std::string>::first);
      if (known == faults.end()) {
        faults.emplace_back(std::move(words), link(match));
      } else {
        known->second += ", " + link(match);
      }
    }
    for (const auto& [words, matches] : faults) {
      is_any = true;
      out_ += "<li>" + matches + ": " + html_text(words) + "</li>\n";
    }
    for (const auto& [leniency, count] : figures_.leniencies) {
      is_any = true;
      out_ += "<li>Leniency, " + std::to_string(count) + (count == 1 ? " time" : " times") + ": " +
              html_text(leniency) +
              "; a league in strict mode refuses it (docs/protocol.md, 9)</li>\n";
    }
    for (const auto& [key, count] : figures_.told_leniencies) {
      is_any = true;
      out_ += "<li>Leniency, " + std::to_string(count) + (count == 1 ? " time" : " times") +
              " according to " + html_text(key.first) +
              ", which counts for nothing: " + html_text(key.second) + "</li>\n";
    }
    if (!is_any) out_ += "<li>Nothing.</li>\n";
    out_ += "</ul>\n";
  }

  static std::string link(const OwnMatch& match) {
    const std::string id = match.view.match.id().str();
    return "<a href=\"../matches/" + id + ".html\">" + id + "</a>";
  }

  void add_matches() {
    out_ +=
        "<h2>Matches</h2>\n<div class=\"wide\"><table><tr><th>match</th>"
        "<th class=\"words\">against</th><th>points</th><th class=\"words\">what "
        "happened</th></tr>\n";
    for (const OwnMatch& match : figures_.matches) {
      out_ += "<tr><td>" + (match.view.result ? link(match) : match.view.match.id().str()) +
              "</td><td class=\"name\">" + player_id_of(match.opponent) + " " +
              name(match.opponent) + "</td><td>" +
              (match.points ? std::to_string(*match.points) : std::string()) +
              "</td><td class=\"words\">" + html_text(words(match)) + "</td></tr>\n";
    }
    out_ += "</table></div>\n";
  }

  [[nodiscard]] std::string words(const OwnMatch& match) const {
    if (!match.view.result) return "not played";
    if (match.view.result->is_voided) return "void: the operator took it out of the table";
    if (!match.lost_technically) return match_in_words(book_, match);
    const auto* causes = book_.causes(match.view.match);
    if (causes == nullptr || !(*causes)[match.side]) return match_in_words(book_, match);
    return "lost by a failure: " + (*causes)[match.side]->str();
  }

  void add_states() {
    out_ += "<h2>States</h2>\n<ul>\n";
    bool is_any = false;
    for (const auto& note : book_.state_changes()) {
      if (note.change.agent != lm::events::AgentRef::player(figures_.row.player)) continue;
      is_any = true;
      out_ += "<li>" + note.at.to_wire() + " " +
              std::string(lm::events::agent_state_name(note.change.to)) + " (" +
              html_text(note.change.reason);
      if (note.change.detail) out_ += ": " + html_text(*note.change.detail);
      if (note.change.by) out_ += ", by " + html_text(*note.change.by);
      out_ += ")</li>\n";
    }
    if (!is_any) out_ += "<li>ACTIVE all the time.</li>\n";
    out_ += "</ul>\n";
  }

  const lm::files::LeagueBook& book_;
  const PlayerFigures& figures_;
  std::string out_;
};

}  // namespace

std::vector<OutputFile> player_pages(const ExportedLeague& league,
                                     const std::vector<PlayerFigures>& players,
                                     const std::filesystem::path& out) {
  const std::string id = league.book.league().settings().league_id.str();
  std::vector<OutputFile> files;
  for (const auto& one : players) {
    files.push_back(html_file(out / "players" / (player_id_of(one.row.player) + ".html"), id,
                              [&league, &one] { return PlayerPage(league.book, one).text(); }));
  }
  return files;
}

}  // namespace league::tools::auditor
