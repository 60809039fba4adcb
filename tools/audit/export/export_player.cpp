#include "tools/audit/export/export_files.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/core/counted.h"
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
    const std::string id = player_id_of(figures_.row.player);
    return page_begin({.league = league,
                       .title_html = name(figures_.row.player),
                       .headline_html = id + " in <a href=\"../index.html\">" + html_text(league) +
                                        "</a> &middot; " + summary(),
                       .is_alone = true}) +
           card("wide", "What went wrong", faults()) + card("wide", "Matches", matches()) +
           card("wide", "States", states()) + std::string(kPageEnd);
  }

 private:
  [[nodiscard]] std::string name(int player) const {
    return html_text(agent_of(book_, player).profile.display_name);
  }

  [[nodiscard]] std::string summary() const {
    const lm::Tally& tally = figures_.row.tally;
    std::string out =
        "Rank " + std::to_string(figures_.row.rank) + " of " +
        std::to_string(book_.league().roster().taken(lm::events::AgentKind::kPlayer)) + " with " +
        core::counted(tally.points, "point") + ": " +
        core::counted(tally.played, "match", "matches") + " played, " + std::to_string(tally.wins) +
        " won, " + std::to_string(tally.draws) + " drawn, " + std::to_string(tally.losses) +
        " lost";
    if (const int technical = figures_.technical_losses(); technical > 0)
      out += ", " + std::to_string(technical) + " of them technically";
    out += ".";
    if (const auto half = figures_.answer_percentile(50)) {
      out += " Half of its answers came within " + milliseconds(*half) + ", nine in ten within " +
             milliseconds(*figures_.answer_percentile(90)) + ", the slowest in a hundred took " +
             milliseconds(*figures_.answer_percentile(99)) + " or more.";
    }
    return out;
  }

  static std::string milliseconds(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), value < 10 ? "%.1f ms" : "%.0f ms", value);
    return text;
  }

  [[nodiscard]] std::string faults() const {
    std::string out;
    // Each fault once, with all matches that were lost because of it.
    std::vector<std::pair<const OwnMatch*, std::string>> known_faults;
    for (const OwnMatch& match : figures_.matches) {
      if (!match.lost_technically) continue;
      auto known = std::ranges::find_if(
          known_faults, [&](const auto& fault) { return is_same_fault(*fault.first, match); });
      if (known == known_faults.end()) {
        known_faults.emplace_back(&match, link(match));
      } else {
        known->second += ", " + link(match);
      }
    }
    for (const auto& [first, lost] : known_faults) {
      out += "<li>" + lost + ": " + html_text(match_in_words(book_, *first)) + "</li>\n";
    }
    for (const auto& [leniency, count] : figures_.leniencies) {
      out += "<li>Leniency, " + std::to_string(count) + (count == 1 ? " time" : " times") + ": " +
             html_text(leniency) +
             "; a league in strict mode refuses it (docs/protocol.md, 9)</li>\n";
    }
    for (const auto& [key, count] : figures_.told_leniencies) {
      out += "<li>Leniency, " + std::to_string(count) + (count == 1 ? " time" : " times") +
             " according to " + html_text(key.first) +
             ", which counts for nothing: " + html_text(key.second) + "</li>\n";
    }
    return out.empty() ? "<p>Nothing.</p>\n" : "<ul>\n" + out + "</ul>\n";
  }

  [[nodiscard]] bool is_same_fault(const OwnMatch& one, const OwnMatch& other) const {
    const auto* cause = book_.cause(one.view.match, one.side);
    const auto* other_cause = book_.cause(other.view.match, other.side);
    if (cause != nullptr && other_cause != nullptr) return cause->is_same_fault(*other_cause);
    return cause == other_cause && book_.note(one.view.match).technical_reason ==
                                       book_.note(other.view.match).technical_reason;
  }

  static std::string link(const OwnMatch& match) {
    const std::string id = match.view.match.id().str();
    return "<a href=\"../matches/" + id + ".html\">" + id + "</a>";
  }

  [[nodiscard]] std::string matches() const {
    std::string out =
        "<div class=\"scroll\"><table><thead><tr><th>Match</th><th>Opponent</th>"
        "<th class=\"number\">Points</th><th>What happened</th></tr></thead><tbody>\n";
    for (const OwnMatch& match : figures_.matches) {
      const std::string opponent = player_id_of(match.opponent);
      out += "<tr><th>" + (match.view.result ? link(match) : match.view.match.id().str()) +
             "</th><td>" +
             agent_row(opponent, agent_of(book_, match.opponent).profile.display_name,
                       opponent + ".html") +
             "</td><td class=\"number\">" +
             (match.points ? std::to_string(*match.points) : std::string()) +
             "</td><td class=\"causes\">" + html_text(words(match)) + "</td></tr>\n";
    }
    return out + "</tbody></table></div>\n";
  }

  [[nodiscard]] std::string words(const OwnMatch& match) const {
    if (!match.view.result) return "not played";
    if (match.view.result->is_voided) return "void: the operator took it out of the table";
    if (!match.lost_technically) return match_in_words(book_, match);
    const auto* cause = book_.cause(match.view.match, match.side);
    return cause != nullptr ? "lost by a failure: " + cause->str() : match_in_words(book_, match);
  }

  [[nodiscard]] std::string states() const {
    std::string out;
    for (const auto& note : book_.state_changes()) {
      if (note.change.agent != lm::events::AgentRef::player(figures_.row.player)) continue;
      out += "<li>" + note.at.to_wire() + " " +
             std::string(lm::events::agent_state_name(note.change.to)) + " (" +
             html_text(note.change.reason);
      if (note.change.detail) out += ": " + html_text(*note.change.detail);
      if (note.change.by) out += ", by " + html_text(*note.change.by);
      out += ")</li>\n";
    }
    return out.empty() ? "<p>ACTIVE all the time.</p>\n" : "<ul>\n" + out + "</ul>\n";
  }

  const lm::files::LeagueBook& book_;
  const PlayerFigures& figures_;
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
