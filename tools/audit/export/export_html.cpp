#include "tools/audit/export/export_files.h"

#include <algorithm>
#include <span>

#include "common/core/text.h"
#include "league_manager/files/league_files.h"
#include "tools/audit/export/export_page.h"
#include "tools/audit/export/export_plot.h"
#include "tools/audit/export/site_styles.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;

/// A cross table of more players would be unreadable.
constexpr int kMostCrossed = 200;

/// The beginning of the site's style sheets, by which they are recognised.
constexpr std::string_view kMark = "/* Written by league export. */\n";

class IndexPage {
 public:
  IndexPage(const ExportedLeague& league, const std::vector<PlayerFigures>& players)
      : book_(league.book), players_(players) {}

  std::string text() {
    const std::string id = book_.league().settings().league_id.str();
    return page_begin({.league = id,
                       .title_html = html_text(id),
                       .beside_html = state(),
                       .headline_html = headline(),
                       .root = ""}) +
           card("main", "Standings", standings()) + "<div class=\"column\">\n" + plots() +
           "</div>\n" + cross_table() + rounds() + acts() + std::string(kPageEnd);
  }

 private:
  [[nodiscard]] std::string state() const {
    const lm::LeagueStatus status = book_.league().status();
    const std::string name(lm::league_state_name(status.state));
    std::string out = "<span class=\"pill " + core::lower_case(name) + "\">" + name + "</span>";
    if (status.state != lm::LeagueState::kCompleted) return out;
    std::string champions;
    int count = 0;
    for (const auto& row : book_.table()) {
      if (row.rank != 1) continue;
      champions += (count++ == 0 ? "" : ", ") + name_of(row.player);
    }
    return out + "<div id=\"champion\">&#9733; " +
           (count > 1 ? "First place shared: " : "Champion: ") + champions + "</div>";
  }

  [[nodiscard]] std::string headline() const {
    const lm::LeagueStatus status = book_.league().status();
    std::string out = "Round " + std::to_string(status.current_round) + " of " +
                      std::to_string(status.total_rounds) + " &middot; " +
                      std::to_string(status.finished.total_matches) + " of " +
                      std::to_string(status.total_matches) + " matches played";
    if (const int lost = status.finished.technical_losses; lost > 0)
      out += " &middot; " + std::to_string(lost) +
             (lost == 1 ? " match lost technically" : " matches lost technically");
    return out + " &middot; as of " + book_.table_change().at.to_wire();
  }

  [[nodiscard]] std::string name_of(int player) const {
    return html_text(agent_of(book_, player).profile.display_name);
  }

  [[nodiscard]] std::span<const OwnMatch> matches_by(int player) const {
    const auto found = std::ranges::find(players_, player,
                                         [](const PlayerFigures& one) { return one.row.player; });
    return found != players_.end() ? std::span(found->matches) : std::span<const OwnMatch>();
  }

  [[nodiscard]] std::string row_of(int player, const std::string& more_html = {}) const {
    const std::string id = player_id_of(player);
    return agent_row(id, agent_of(book_, player).profile.display_name, "players/" + id + ".html",
                     more_html);
  }

  [[nodiscard]] std::string standings() const {
    std::string out =
        "<div class=\"scroll\"><table class=\"standings\"><thead><tr><th class=\"number\">#</th>"
        "<th>Player</th>";
    for (const char* heading : {"Played", "Won", "Drawn", "Lost", "Points"})
      out += std::string("<th class=\"number\">") + heading + "</th>";
    out += "<th>Latest</th></tr></thead><tbody>\n";
    for (const auto& row : book_.table()) {
      const bool is_active =
          agent_of(book_, row.player).lifecycle.state() == lm::events::AgentState::kActive;
      const std::string badge =
          is_active ? "" : "<span class=\"badge\">" + state_of(row.player) + "</span>";
      out += "<tr" + std::string(is_active ? "" : " class=\"out\"") + "><td class=\"number\">" +
             std::to_string(row.rank) + "</td><th>" + row_of(row.player, badge) + "</th>";
      for (int number : {row.tally.played, row.tally.wins, row.tally.draws, row.tally.losses})
        out += "<td class=\"number\">" + std::to_string(number) + "</td>";
      out += "<td class=\"number points\">" + std::to_string(row.tally.points) +
             "</td><td class=\"form\">" + latest(row.player) + "</td></tr>\n";
    }
    return out + "</tbody></table></div>\n";
  }

  /// How the player fared in its last matches.
  [[nodiscard]] std::string latest(int player) const {
    constexpr std::size_t kShown = 5;
    std::string out;
    std::size_t shown = 0;
    const std::span<const OwnMatch> matches = matches_by(player);
    for (auto match = matches.rbegin(); match != matches.rend() && shown < kShown; ++match) {
      if (!match->view.result) continue;
      out.insert(0, result_link(match->view, player));
      ++shown;
    }
    return out;
  }

  /// The state of a player and why it has it.
  [[nodiscard]] std::string state_of(int player) const {
    const auto& lifecycle = agent_of(book_, player).lifecycle;
    std::string text(lm::events::agent_state_name(lifecycle.state()));
    if (!lifecycle.reason().empty()) text += " (" + html_text(lifecycle.reason()) + ")";
    return text;
  }

  /// `W`, `D`, `L`, `T` for a technical loss or `V` for void: how `player` fared in a finished
  /// match.
  [[nodiscard]] static char letter(const lm::MatchView& view, int player) {
    const int winner = lm::files::winner_of(view.pairing, *view.result);
    if (view.result->is_voided) return 'V';
    if (winner == player) return 'W';
    if (view.result->is_technical()) return 'T';
    return winner < 0 ? 'D' : 'L';
  }

  [[nodiscard]] static std::string result_link(const lm::MatchView& view, int player) {
    const std::string word(1, letter(view, player));
    const std::string id = view.match.id().str();
    return "<a class=\"result " + word + "\" href=\"matches/" + id + ".html\" title=\"" + id +
           "\">" + word + "</a>";
  }

  [[nodiscard]] std::string plots() const {
    const auto rounds = book_.rounds().size();
    if (rounds == 0) return {};
    std::vector<PlottedLine> lines;
    for (const auto& row : book_.table()) {
      PlottedLine line{agent_of(book_, row.player).profile.display_name,
                       std::vector<int>(rounds + 1)};
      for (const OwnMatch& match : matches_by(row.player))
        line.values[static_cast<std::size_t>(match.view.match.round)] += match.points.value_or(0);
      for (std::size_t i = 1; i <= rounds; ++i) line.values[i] += line.values[i - 1];
      lines.push_back(std::move(line));
    }
    return card("", "Points over rounds",
                line_plot("Points of each player after each round", lines)) +
           numbers_drawn();
  }

  [[nodiscard]] std::string numbers_drawn() const {
    const lm::League& league = book_.league();
    const auto numbers = league.settings().rules->numbers();
    if (!numbers) return {};
    std::vector<PlottedBar> bars;
    for (int number = numbers->lowest; number <= numbers->highest; ++number)
      bars.push_back({std::to_string(number), 0});
    int drawn = 0;
    for (const auto& view : league.schedule_page(0, league.schedule().total_matches())) {
      const int number = view.result ? int{view.result->drawn_number} : 0;
      if (number < numbers->lowest || number > numbers->highest) continue;
      ++bars[static_cast<std::size_t>(number - numbers->lowest)].value;
      ++drawn;
    }
    return card("", "Numbers drawn",
                bar_plot("How often each number was drawn; the dashed line is the average", bars,
                         static_cast<double>(drawn) / static_cast<double>(bars.size())));
  }

  /// What the operator did, and to whom.
  [[nodiscard]] std::string acts() const {
    if (book_.acts().empty()) return {};
    std::string out = "<ul class=\"log\">\n";
    for (const auto& [at, act] : book_.acts()) {
      out += "<li><time>" + at.to_wire() + "</time> " +
             std::string(lm::events::operator_act_name(act.act));
      if (act.match) out += " " + act.match->id().str();
      if (act.replay) out += ", played again as " + act.replay->id().str();
      if (act.seconds) out += " by " + std::to_string(*act.seconds) + " s";
      if (!act.reason.empty()) out += ": " + html_text(act.reason);
      out += " (by " + html_text(act.by) + ")</li>\n";
    }
    return card("wide", "What the operator did", out + "</ul>\n");
  }

  [[nodiscard]] std::string cross_table() const {
    const lm::Schedule& schedule = book_.league().schedule();
    const int players = schedule.players();
    if (players == 0) return {};
    if (players > kMostCrossed)
      return card(
          "wide", "Cross table",
          "<p>Left out: there are more than " + std::to_string(kMostCrossed) + " players.</p>\n");
    const auto count = static_cast<std::size_t>(players);
    std::vector<std::string> cells(count * count, "<td class=\"self\"></td>");
    const auto fill = [&](int one, int two, const lm::MatchView& view) {
      cells[static_cast<std::size_t>(one) * count + static_cast<std::size_t>(two)] =
          "<td>" + (view.result ? result_link(view, one) : "&middot;") + "</td>";
    };
    for (const auto& view : book_.league().schedule_page(0, schedule.total_matches())) {
      fill(view.pairing.player_a, view.pairing.player_b, view);
      fill(view.pairing.player_b, view.pairing.player_a, view);
    }
    return card("wide", "Cross table",
                cross_rows(cells, count) +
                    "<p class=\"legend\">Row against column: W won, D drew, L lost, T lost "
                    "technically, V played a void "
                    "match. Each leads to its match.</p>\n");
  }

  [[nodiscard]] std::string cross_rows(const std::vector<std::string>& cells,
                                       std::size_t count) const {
    // The same sizes as in web/view_cross.js.
    const char* size = count > 40   ? " dense"
                       : count > 24 ? " dense roomy"
                       : count > 12 ? " medium"
                                    : "";
    const auto table = book_.table();
    std::string out = std::string("<div class=\"scroll\"><table class=\"cross") + size +
                      "\"><thead><tr><th>Player</th>";
    for (const auto& column : table)
      out += "<th title=\"" + name_of(column.player) + "\"><span>" + player_id_of(column.player) +
             "</span></th>";
    out += "<th class=\"number\">Points</th></tr></thead><tbody>\n";
    for (const auto& row : table) {
      out += "<tr><th>" + row_of(row.player) + "</th>";
      for (const auto& column : table)
        out += cells[static_cast<std::size_t>(row.player) * count +
                     static_cast<std::size_t>(column.player)];
      out += "<td class=\"number points\">" + std::to_string(row.tally.points) + "</td></tr>\n";
    }
    return out + "</tbody></table></div>\n";
  }

  [[nodiscard]] std::string rounds() const {
    if (book_.rounds().empty()) return {};
    std::string out;
    for (std::size_t i = 0; i < book_.rounds().size(); ++i) {
      const auto& note = book_.rounds()[i];
      out += "<details><summary>Round " + std::to_string(i + 1) + ", " +
             (note.completed_at ? "played until " + note.completed_at->to_wire()
                                : std::string("being played")) +
             "</summary>\n" + matches_of(static_cast<int>(i) + 1) + "</details>\n";
    }
    return card("wide", "Rounds", out);
  }

  [[nodiscard]] std::string matches_of(int round) const {
    const lm::Schedule& schedule = book_.league().schedule();
    std::string out =
        "<div class=\"scroll\"><table><thead><tr><th>Match</th><th>Player A</th><th>Player B</th>"
        "<th class=\"number\">Points</th><th>How</th></tr></thead><tbody>\n";
    for (const auto& view : book_.league().schedule_page(
             schedule.index_of({round, 1}), static_cast<std::size_t>(schedule.matches_in(round)))) {
      const std::string id = view.match.id().str();
      std::string points;
      if (view.result) {
        const auto won = game::points_of(view.result->outcome);
        points =
            std::to_string(won[game::Side::kA]) + "&ndash;" + std::to_string(won[game::Side::kB]);
      }
      out += "<tr><th><a href=\"matches/" + id + ".html\">" + id + "</a></th><td>" +
             row_of(view.pairing.player_a) + "</td><td>" + row_of(view.pairing.player_b) +
             "</td><td class=\"number\">" + points + "</td><td class=\"causes\">" +
             result_of(view) + "</td></tr>\n";
    }
    return out + "</tbody></table></div>\n";
  }

  [[nodiscard]] std::string result_of(const lm::MatchView& view) const {
    if (!view.result)
      return view.status == lm::MatchStatus::kAssigned ? "being played" : "not played yet";
    const auto choices = book_.choices(view.match);
    std::string text = html_text(book_.note(view.match).technical_reason);
    if (text.empty())
      text = html_text(choices[game::Side::kA]) + " &ndash; " + html_text(choices[game::Side::kB]) +
             (view.result->drawn_number > 0 ? ", drawn " + std::to_string(view.result->drawn_number)
                                            : std::string());
    for (game::Side side : game::kBothSides) {
      const auto* cause = book_.cause(view.match, side);
      if (cause == nullptr) continue;
      text += "; " + name_of(view.pairing.player(side)) + ": " + html_text(cause->str());
    }
    if (const auto found = book_.league().voided().find(view.match);
        found != book_.league().voided().end()) {
      text += ", void";
      if (found->second) text += " and played again as " + found->second->id().str();
    }
    const auto fairness = lm::files::shown_fairness(book_.league(), view);
    if (fairness && *fairness != game::Fairness::kBoth)
      text += ", fairness " + std::string(game::fairness_name(*fairness));
    if (view.result->is_unproven) text += ", unproven";
    if (book_.league().disputes().contains(view.match)) text += ", disputed";
    return text;
  }

  const lm::files::LeagueBook& book_;
  const std::vector<PlayerFigures>& players_;
};

std::vector<OutputFile> style_files(const std::filesystem::path& out) {
  std::vector<OutputFile> files;
  for (const EmbeddedFile& style : site_styles()) {
    files.push_back({.path = out / style.name,
                     .write = text_of(std::string(kMark) + std::string(style.text)),
                     .is_ours = [](const std::filesystem::path& file) {
                       return head_of_file(file).starts_with(kMark);
                     }});
  }
  return files;
}

}  // namespace

OutputFile html_file(const std::filesystem::path& path, const std::string& league,
                     std::function<std::string()> render) {
  return {.path = path,
          .write = [render = std::move(render)](
                       core::DraftFile& draft) { return draft.write(render()); },
          .is_ours =
              [mark = page_mark(league)](const std::filesystem::path& file) {
                return head_of_file(file).find(mark) != std::string::npos;
              }};
}

std::vector<OutputFile> html_files(const ExportedLeague& league,
                                   const std::vector<PlayerFigures>& players,
                                   const std::filesystem::path& out) {
  std::string id = league.book.league().settings().league_id.str();
  std::vector<OutputFile> files = style_files(out);
  files.push_back(html_file(out / "index.html", id,
                            [&league, &players] { return IndexPage(league, players).text(); }));
  for (const auto& [match, record] : league.matches) {
    files.push_back(html_file(out / "matches" / (match.id().str() + ".html"), id,
                              [&league, one = record.get()] { return match_page(league, *one); }));
  }
  for (auto& page : player_pages(league, players, out)) files.push_back(std::move(page));
  return files;
}

}  // namespace league::tools::auditor
