#include "tests/in_process/league_checks.h"

#include <gtest/gtest.h>

#include <map>

namespace league::testing {
namespace {

using league_manager::events::MatchForfeited;
using league_manager::events::MatchReported;

struct End {
  league_manager::events::MatchKey match;
  game::MatchResult result;
};

std::vector<End> ends_of(const LeagueFixture& league) {
  std::vector<End> ends;
  for (const auto& event : league.events()) {
    if (const auto* one = std::get_if<MatchReported>(&event.body))
      ends.push_back({one->match, one->result});
    if (const auto* one = std::get_if<MatchForfeited>(&event.body))
      ends.push_back({one->match, one->result});
  }
  return ends;
}

/// Points by player, from the results alone.
std::map<int, int> points_from(const std::vector<End>& ends,
                               const league_manager::Schedule& schedule,
                               const game::Definition& game) {
  std::map<int, int> points;
  for (const auto& [match, result] : ends) {
    auto [a, b] = schedule.pairing(match);
    const auto gained = game::points_of(game, result);
    points[a] += gained[game::Side::kA];
    points[b] += gained[game::Side::kB];
  }
  return points;
}

}  // namespace

void expect_sound(const LeagueFixture& league) {
  auto status = league.status();
  int players = league.options.players;
  int matches = players * (players - 1) / 2 * league.options.meetings;
  EXPECT_EQ(status["state"], "COMPLETED");
  EXPECT_EQ(status["total_matches"], matches);
  EXPECT_EQ(status["matches_completed"], matches);
  int decided = status["wins"];
  int draws = status["draws"];
  int technical = status["technical_losses"];
  EXPECT_EQ(decided + draws + technical, matches);
  auto ends = ends_of(league);
  std::map<std::string, int> times;
  for (const auto& end : ends) ++times[end.match.id().str()];
  EXPECT_EQ(times.size(), static_cast<std::size_t>(matches));
  for (const auto& [match, count] : times) EXPECT_EQ(count, 1) << match;
  league.read([&](const league_manager::League& state) {
    auto points = points_from(ends, state.schedule(), *league.options.game);
    for (int i = 0; i < players; ++i) {
      EXPECT_EQ(state.standings().tally(i).points, points[i]) << "player " << i;
      EXPECT_EQ(state.standings().tally(i).played, (players - 1) * league.options.meetings) << i;
    }
  });
}

std::string ending_of(const LeagueFixture& league, const std::string& match_id) {
  for (const End& end : ends_of(league)) {
    if (end.match.id().str() != match_id) continue;
    std::string text;
    league.read([&](const league_manager::League& state) {
      auto [a, b] = state.schedule().pairing(end.match);
      const auto points = game::points_of(*league.options.game, end.result);
      auto row = [](int player, int gained) {
        return league_manager::events::AgentRef::player(player).id() + " " +
               std::to_string(gained) + " ";
      };
      text = row(a, points[game::Side::kA]) + row(b, points[game::Side::kB]);
    });
    return text + (end.result.is_technical() ? end.result.technical_reason : "NORMAL");
  }
  return "none";
}

league_manager::events::AgentState state_of(const LeagueFixture& league,
                                            league_manager::events::AgentRef agent) {
  league_manager::events::AgentState state{};
  league.read([&](const league_manager::League& one) {
    state = one.roster().agent(agent).lifecycle.state();
  });
  return state;
}

std::vector<Spoken> spoken(const LeagueFixture& league, const std::string& agent,
                           audit::record::Direction direction, audit::record::Kind kind,
                           std::string_view type) {
  std::vector<Spoken> found;
  for (auto& one : league.recording.of(agent)) {
    if (one.is(direction, kind, type)) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace league::testing
