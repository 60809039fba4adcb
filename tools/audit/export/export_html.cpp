#include "tools/audit/export/export_files.h"

#include "league_manager/files/league_files.h"
#include "tools/audit/export/export_page.h"
#include "tools/audit/export/export_plot.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;

/// A cross table of more players would be unreadable.
constexpr int kMostCrossed = 200;

class IndexPage {
 public:
  IndexPage(const ExportedLeague& league, const std::vector<PlayerFigures>& players)
      : book_(league.book), players_(players) {}

  std::string text() {
    const lm::League& league = book_.league();
    std::string name = html_text(league.settings().league_id.str());
    auto status = league.status();
    out_ = page_begin(league.settings().league_id.str(), "League " + name);
    out_ += "<p>" + std::string(lm::league_state_name(status.state)) + ", " +
            std::to_string(status.finished.total_matches) + " of " +
            std::to_string(status.total_matches) + " matches played; as of " +
            book_.table_change().at.to_wire() + "</p>\n";
    add_standings();
    add_plots();
    add_cross_table();
    add_rounds();
    add_acts();
    return out_ + std::string(kPageEnd);
  }

 private:
  [[nodiscard]] std::string name_of(int player) const {
    return html_text(agent_of(book_, player).profile.display_name);
  }

  void add_standings() {
    out_ +=
        "<h2>Standings</h2>\n<div class=\"wide\"><table><tr><th>#</th>"
        "<th class=\"words\">player</th><th>id</th>"
        "<th>played</th><th>won</th><th>drawn</th><th>lost</th><th>points</th><th>state</th></"
        "tr>\n";
    for (const auto& row : book_.table()) {
      out_ += "<tr><td>" + std::to_string(row.rank) + "</td><td class=\"name\">" +
              name_of(row.player) + "</td><td><a href=\"players/" + player_id_of(row.player) +
              ".html\">" + player_id_of(row.player) + "</a></td>";
      for (int number : {row.tally.played, row.tally.wins, row.tally.draws, row.tally.losses})
        out_ += "<td>" + std::to_string(number) + "</td>";
      out_ += "<td><b>" + std::to_string(row.tally.points) + "</b></td><td>" +
              state_of(row.player) + "</td></tr>\n";
    }
    out_ += "</table></div>\n";
  }

  /// The state of a player and why it has it.
  [[nodiscard]] std::string state_of(int player) const {
    const auto& lifecycle = agent_of(book_, player).lifecycle;
    std::string text(lm::events::agent_state_name(lifecycle.state()));
    if (!lifecycle.reason().empty()) text += " (" + html_text(lifecycle.reason()) + ")";
    return text;
  }

  /// The result of `match` as `player` sees it, with a link.
  [[nodiscard]] std::string cell(const lm::MatchView& view, int player) const {
    if (!view.result) return "<td>&middot;</td>";
    int winner = lm::files::winner_of(view.pairing, *view.result);
    const char* word = view.result->is_voided                       ? "V"
                       : winner == player                           ? "W"
                       : winner < 0 && !view.result->is_technical() ? "D"
                                                                    : "L";
    return std::string("<td class=\"") + word + "\"><a href=\"matches/" + view.match.id().str() +
           ".html\">" + word + (view.result->is_technical() ? "*" : "") + "</a></td>";
  }

  void add_plots() {
    const auto rounds = book_.rounds().size();
    if (rounds == 0) return;
    std::vector<PlottedLine> lines;
    for (const auto& row : book_.table()) {
      PlottedLine line{player_id_of(row.player), std::vector<int>(rounds + 1)};
      for (const OwnMatch& match : players_[static_cast<std::size_t>(row.player)].matches)
        line.values[static_cast<std::size_t>(match.view.match.round)] += match.points.value_or(0);
      for (std::size_t i = 1; i <= rounds; ++i) line.values[i] += line.values[i - 1];
      lines.push_back(std::move(line));
    }
    out_ += "<h2>Points over rounds</h2>\n" +
            line_plot("Points of each player after each round", lines);
    add_numbers();
  }

  void add_numbers() {
    const lm::League& league = book_.league();
    const auto numbers = league.settings().rules->numbers();
    if (!numbers) return;
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
    out_ += "<h2>Numbers drawn</h2>\n" +
            bar_plot("How often each number was drawn; the dashed line is the average", bars,
                     static_cast<double>(drawn) / static_cast<double>(bars.size()));
  }

  /// What the operator did, and to whom.
  void add_acts() {
    if (book_.acts().empty()) return;
    out_ += "<h2>What the operator did</h2>\n<ul>\n";
    for (const auto& [at, act] : book_.acts()) {
      out_ += "<li>" + at.to_wire() + " " + std::string(lm::events::operator_act_name(act.act));
      if (act.match) out_ += " " + act.match->id().str();
      if (act.replay) out_ += ", played again as " + act.replay->id().str();
      if (act.seconds) out_ += " by " + std::to_string(*act.seconds) + " s";
      if (!act.reason.empty()) out_ += ": " + html_text(act.reason);
      out_ += " (by " + html_text(act.by) + ")</li>\n";
    }
    out_ += "</ul>\n";
  }

  void add_cross_table() {
    const lm::Schedule& schedule = book_.league().schedule();
    int players = schedule.players();
    if (players == 0) return;
    out_ += "<h2>Cross table</h2>\n";
    if (players > kMostCrossed) {
      out_ +=
          "<p>Left out: there are more than " + std::to_string(kMostCrossed) + " players.</p>\n";
      return;
    }
    auto count = static_cast<std::size_t>(players);
    std::vector<std::string> cells(count * count, "<td class=\"self\"></td>");
    for (const auto& view : book_.league().schedule_page(0, schedule.total_matches())) {
      auto a = static_cast<std::size_t>(view.pairing.player_a);
      auto b = static_cast<std::size_t>(view.pairing.player_b);
      cells[a * count + b] = cell(view, view.pairing.player_a);
      cells[b * count + a] = cell(view, view.pairing.player_b);
    }
    auto table = book_.table();
    out_ += "<div class=\"wide\"><table class=\"cross\"><tr><th></th>";
    for (const auto& column : table) out_ += "<th>" + player_id_of(column.player) + "</th>";
    out_ += "</tr>\n";
    for (const auto& row : table) {
      out_ += "<tr><th class=\"name\">" + name_of(row.player) + "</th>";
      for (const auto& column : table)
        out_ += cells[static_cast<std::size_t>(row.player) * count +
                      static_cast<std::size_t>(column.player)];
      out_ += "</tr>\n";
    }
    out_ +=
        "</table></div>\n<p>W won, D drawn, L lost, V void; * for a failure. Each leads to its "
        "match.</p>\n";
  }

  void add_rounds() {
    const lm::League& league = book_.league();
    const lm::Schedule& schedule = league.schedule();
    if (!book_.rounds().empty()) out_ += "<h2>Rounds</h2>\n";
    for (std::size_t round = 0; round < book_.rounds().size(); ++round) {
      const auto& note = book_.rounds()[round];
      out_ += "<details><summary>Round " + std::to_string(round + 1) + ", " +
              (note.completed_at ? "played until " + note.completed_at->to_wire()
                                 : std::string("being played")) +
              "</summary>\n<ul>\n";
      for (const auto& view : league.schedule_page(
               schedule.index_of({static_cast<int>(round) + 1, 1}),
               static_cast<std::size_t>(schedule.matches_in(static_cast<int>(round) + 1)))) {
        out_ += "<li><a href=\"matches/" + view.match.id().str() + ".html\">" +
                view.match.id().str() + "</a> " + name_of(view.pairing.player_a) + " &ndash; " +
                name_of(view.pairing.player_b) + ": " + result_of(view) + "</li>\n";
      }
      out_ += "</ul></details>\n";
    }
  }

  [[nodiscard]] std::string result_of(const lm::MatchView& view) const {
    if (!view.result)
      return view.status == lm::MatchStatus::kAssigned ? "being played" : "not played yet";
    const auto points = game::points_of(view.result->outcome);
    std::string text =
        std::to_string(points[game::Side::kA]) + ":" + std::to_string(points[game::Side::kB]);
    const auto& reason = book_.note(view.match).technical_reason;
    if (!reason.empty()) text += " (" + html_text(reason) + ")";
    for (game::Side side : game::kBothSides) {
      const std::string cause = cause_of(book_, view.match, side);
      const int player = side == game::Side::kA ? view.pairing.player_a : view.pairing.player_b;
      if (!cause.empty()) text += "; " + player_id_of(player) + ": " + html_text(cause);
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
  std::string out_;
};

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
  std::vector<OutputFile> files;
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
