#include <gtest/gtest.h>

#include <functional>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using testing::at;
using testing::PlayedLeague;
using testing::started;
using testing::state_of;

/// Plays every round of a league of `rounds`; `fails(round)` says whether player 0 loses its match
/// through its own failure.
void play_rounds(PlayedLeague& played, const std::function<bool(int)>& fails) {
  while (played.league.state() == LeagueState::kRunning) {
    for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
      auto pairing = played.league.match(match)->pairing;
      bool is_his = pairing.player_a == 0 || pairing.player_b == 0;
      auto report = testing::report_of(played.league, match, 0);
      if (is_his && fails(match.round)) {
        report = testing::technical_report_of(played.league, match, true);
        // Only player 0 failed.
        const auto other =
            events::AgentRef::player(pairing.player_a == 0 ? pairing.player_b : pairing.player_a)
                .id();
        report.claim.winner = other;
        for (auto& [player, points] : *report.claim.score) points = player == other ? 3 : 0;
        std::erase_if(report.failures,
                      [&](const auto& failure) { return failure.player_id == other; });
        report.claim.technical_reason = "CONNECTION_JOIN";
      }
      auto decision =
          played.report(played.league.board().slot(match).referee(), report, at(match.round));
      ASSERT_FALSE(decision.refusal) << decision.refusal->message;
    }
    played.step(at(100));
  }
}

std::vector<std::string> changes_of(const PlayedLeague& played, events::AgentRef agent) {
  std::vector<std::string> changes;
  for (const auto& event : played.events) {
    const auto* change = std::get_if<events::AgentStateChanged>(&event.body);
    if (change != nullptr && change->agent == agent)
      changes.push_back(std::string(events::agent_state_name(change->to)) + " " + change->reason);
  }
  return changes;
}

using Changes = std::vector<std::string>;

TEST(LeagueStates, ADeadPlayerIsSuspendedOnceAndNeverShutDown) {
  auto played = started(testing::settings(10, 1), 10);
  play_rounds(played, [](int) { return true; });
  EXPECT_EQ(changes_of(played, events::AgentRef::player(0)), Changes{"SUSPENDED FAILED_MATCHES"});
  EXPECT_EQ(played.league.roster().agent(events::AgentRef::player(0)).lifecycle.failed_matches(),
            9);
  EXPECT_TRUE(played.league.roster()
                  .agent(events::AgentRef::player(0))
                  .lifecycle.detail()
                  .starts_with("3 matches in a row lost through its own failure up to R3M"));
  for (int i = 1; i < 10; ++i)
    EXPECT_EQ(changes_of(played, events::AgentRef::player(i)), Changes{});
}

TEST(LeagueStates, APersonIsSuspendedAfterOneMissedMatch) {
  PlayedLeague played(testing::settings(10, 1));
  RegistrationRequest person = testing::player("Ada", 1);
  person.profile.endpoint = "outward";
  person.profile.played_by = "person";
  ASSERT_TRUE(played.enter(person));
  for (int i = 1; i < 10; ++i)
    ASSERT_TRUE(played.enter(testing::player("bot" + std::to_string(i), 10 + i)));
  ASSERT_TRUE(played.enter({events::AgentKind::kReferee, testing::profile("r", 9, 10), {}, {}}));
  played.step();
  EXPECT_GT(played.league.round_limit(),
            played.league.settings().match_time_limit * played.league.settings().max_attempts +
                std::chrono::minutes(5));
  play_rounds(played, [](int round) { return round % 3 == 0; });
  EXPECT_EQ(changes_of(played, events::AgentRef::player(0)),
            (Changes{"SUSPENDED FAILED_MATCHES", "ACTIVE PLAYED", "SUSPENDED FAILED_MATCHES",
                     "ACTIVE PLAYED", "SUSPENDED FAILED_MATCHES"}))
      << "it is back whenever it plays";
}

TEST(LeagueStates, ARepairedPlayerPlaysFromTheRoundInWhichItIsBack) {
  auto played = started(testing::settings(10, 1), 10);
  play_rounds(played, [](int round) { return round < 6; });
  EXPECT_EQ(changes_of(played, events::AgentRef::player(0)),
            (Changes{"SUSPENDED FAILED_MATCHES", "ACTIVE PLAYED"}));
  EXPECT_EQ(played.league.status().finished.technical_losses, 5);
}

TEST(LeagueStates, WhoFailsOnlyEveryThirdMatchIsNeverSuspended) {
  auto played = started(testing::settings(10, 1), 10);
  play_rounds(played, [](int round) { return round % 3 != 0; });
  EXPECT_EQ(changes_of(played, events::AgentRef::player(0)), Changes{});
}

TEST(LeagueStates, AFlappingPlayerIsSuspendedAndComesBackEachTime) {
  auto played = started(testing::settings(14, 1), 14);
  play_rounds(played, [](int round) { return round % 4 != 0; });
  EXPECT_EQ(changes_of(played, events::AgentRef::player(0)),
            (Changes{"SUSPENDED FAILED_MATCHES", "ACTIVE PLAYED", "SUSPENDED FAILED_MATCHES",
                     "ACTIVE PLAYED", "SUSPENDED FAILED_MATCHES", "ACTIVE PLAYED"}));
}

TEST(LeagueStates, TheSettingShutsDown) {
  auto settings = testing::settings(10, 1);
  settings.lifecycle.shutdown_after_failed_matches = 5;
  auto played = started(settings, 10);
  play_rounds(played, [](int) { return true; });
  EXPECT_EQ(changes_of(played, events::AgentRef::player(0)),
            (Changes{"SUSPENDED FAILED_MATCHES", "SHUTDOWN FAILED_MATCHES"}));
}

TEST(LeagueStates, AReplayGivesTheSameStatesWhateverTheSettings) {
  auto played = started(testing::settings(10, 1), 10);
  play_rounds(played, [](int round) { return round < 6; });
  auto settings = testing::settings(10, 1);
  settings.lifecycle = {1, 2};
  League again(settings);
  ASSERT_TRUE(again.apply_all(played.events));
  EXPECT_EQ(testing::dump(again), testing::dump(played.league));
}

}  // namespace
}  // namespace league::league_manager
