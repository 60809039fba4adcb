#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using core::ErrorCode;
using testing::at;
using testing::PlayedLeague;

PlayedLeague started(int players = 4, int referees = 2) {
  PlayedLeague played(testing::settings(players, referees));
  played.enter_all(1);
  played.step();
  return played;
}

OperatorCommand command(events::OperatorAct act, const std::string& reason = "a reason") {
  return {.act = act, .by = "Ann", .reason = reason};
}

void act(PlayedLeague& played, const OperatorCommand& wanted, int seconds = 0) {
  auto events = played.league.decide_act(wanted, at(seconds));
  ASSERT_TRUE(events) << events.error().message;
  played.take(*events);
}

void expect_refused(const PlayedLeague& played, const OperatorCommand& wanted, ErrorCode code) {
  auto events = played.league.decide_act(wanted, at(0));
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, code) << events.error().message;
}

OperatorCommand void_of(events::MatchKey match, bool replays) {
  auto wanted = command(events::OperatorAct::kVoidMatch);
  wanted.match = match;
  wanted.replays = replays;
  return wanted;
}

/// Every match that a referee has ends in a draw.
void report_all(PlayedLeague& played, int seconds = 0) {
  for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
    auto decision = played.report(played.league.board().slot(match).referee(),
                                  testing::report_of(played.league, match, 0), at(seconds));
    ASSERT_FALSE(decision.refusal) << decision.refusal->message;
  }
}

void play_out(PlayedLeague& played) {
  while (played.league.state() == LeagueState::kRunning) {
    report_all(played);
    played.step();
  }
}

TEST(LeagueAdmin, APauseBeginsNothingAndEndsNothing) {
  auto played = started(4, 1);
  ASSERT_EQ(played.league.board().with_status(MatchStatus::kAssigned).size(), 1u);
  act(played, command(events::OperatorAct::kPause));
  EXPECT_TRUE(played.league.is_paused());
  report_all(played);  // what is being played goes on
  EXPECT_TRUE(played.league.board().with_status(MatchStatus::kAssigned).empty());
  EXPECT_EQ(played.league.due(), Step::kNone);
  EXPECT_TRUE(played.league.decide_tick(at(100'000)).empty()) << "a pause is nobody's time";
  expect_refused(played, command(events::OperatorAct::kPause), ErrorCode::kInvalidFieldValue);

  act(played, command(events::OperatorAct::kResume), 100'000);
  EXPECT_EQ(played.league.board().with_status(MatchStatus::kAssigned).size(), 1u);
  EXPECT_TRUE(played.league.decide_tick(at(100'010)).empty()) << "limits begin anew";
  report_all(played);
  EXPECT_EQ(played.league.due(), Step::kCompleteRound);
  play_out(played);
  EXPECT_EQ(played.league.status().finished.total_matches, 6);
}

TEST(LeagueAdmin, KnowsTheEarlierMeetingsThatCount) {
  auto settings = testing::settings(2, 1);
  settings.meetings = 3;
  PlayedLeague played(settings);
  played.enter_all(1);
  played.step();
  ASSERT_EQ(played.league.schedule().rounds(), 3);
  EXPECT_TRUE(played.league.earlier_meetings({1, 1}).empty());
  report_all(played);
  played.step();
  report_all(played);
  played.step();
  act(played, void_of({1, 1}, true));
  const auto met = [&](events::MatchKey match) {
    std::vector<events::MatchKey> keys;
    for (const MatchView& view : played.league.earlier_meetings(match)) keys.push_back(view.match);
    return keys;
  };
  EXPECT_EQ(met({3, 1}), (std::vector<events::MatchKey>{{2, 1}}));
  EXPECT_EQ(met({4, 1}), (std::vector<events::MatchKey>{{2, 1}})) << "3 is not over";
  EXPECT_EQ(played.league.schedule().meeting_of({4, 1}), 1);
  play_out(played);
  EXPECT_EQ(met({4, 1}), (std::vector<events::MatchKey>{{2, 1}, {3, 1}}));
  EXPECT_EQ(played.league.standings().tally(0), (Tally{3, 0, 3, 0, 3}));
}

TEST(LeagueAdmin, AJournalFromBeforeMeetingsKeepsItsRules) {
  PlayedLeague played(testing::settings(2, 1));
  EXPECT_EQ(played.league.meetings(), 1);
  auto events = played.events;
  std::get<events::LeagueCreated>(events[0].body).meetings.reset();
  League old(testing::settings(2, 1));
  ASSERT_TRUE(old.apply_all(events));
  EXPECT_EQ(old.meetings(), std::nullopt);
}

TEST(LeagueAdmin, APausedLeagueDoesNotStart) {
  PlayedLeague played(testing::settings(2, 1));
  act(played, command(events::OperatorAct::kPause));
  played.enter_all(1);
  EXPECT_EQ(played.league.due(), Step::kNone);
  EXPECT_EQ(played.league.decide_start(at(0)).error().code, ErrorCode::kLeagueNotStartable);
  act(played, command(events::OperatorAct::kResume));
  EXPECT_EQ(played.league.due(), Step::kStartLeague);
}

TEST(LeagueAdmin, AnExtensionIsForOneRound) {
  auto played = started();
  const auto usual = played.league.round_limit();
  auto wanted = command(events::OperatorAct::kExtendRound);
  expect_refused(played, wanted, ErrorCode::kInvalidFieldValue);
  wanted.seconds = 90;
  act(played, wanted);
  EXPECT_EQ(played.league.round_limit(), usual + std::chrono::seconds(90));
  report_all(played);
  played.step();
  ASSERT_EQ(played.league.board().round(), 2);
  EXPECT_EQ(played.league.round_limit(), usual);
}

TEST(LeagueAdmin, AVoidMatchCountsForNothing) {
  auto played = started();
  const events::MatchKey match{1, 1};
  expect_refused(played, void_of(match, false), ErrorCode::kMatchNotOpen);
  expect_refused(played, void_of({9, 1}, false), ErrorCode::kMatchNotFound);
  report_all(played);
  auto without_reason = void_of(match, false);
  without_reason.reason.clear();
  expect_refused(played, without_reason, ErrorCode::kMissingRequiredField);
  act(played, void_of(match, false));
  expect_refused(played, void_of(match, false), ErrorCode::kInvalidFieldValue);
  const Pairing players = played.league.schedule().pairing(match);
  EXPECT_EQ(played.league.standings().tally(players.player_a), Tally{});
  EXPECT_TRUE(played.league.match(match)->result->is_voided);
  EXPECT_EQ(played.league.status().total_matches, 5u);
  play_out(played);
  EXPECT_EQ(played.league.round_summary(1), (events::MatchSummary{1, 0, 1, 0}));
  EXPECT_EQ(played.league.status().finished, (events::MatchSummary{5, 0, 5, 0}));
  EXPECT_EQ(played.league.schedule().rounds(), 3);
  expect_refused(played, void_of({1, 2}, false), ErrorCode::kInvalidFieldValue);
}

TEST(LeagueAdmin, AReplayIsAMatchOfARoundAfterTheOthers) {
  auto played = started();
  report_all(played);
  played.step();
  ASSERT_EQ(played.league.board().round(), 2);
  act(played, void_of({1, 1}, true));  // of a round that is over
  report_all(played);
  act(played, void_of({2, 1}, true));  // of the open one
  EXPECT_EQ(played.league.schedule().rounds(), 5)
      << "the two matches share a player, who plays one match in a round";
  EXPECT_EQ(played.league.voided().at({1, 1}), (events::MatchKey{4, 1}));
  EXPECT_EQ(played.league.voided().at({2, 1}), (events::MatchKey{5, 1}));
  EXPECT_EQ(played.league.schedule().pairing({4, 1}), played.league.schedule().pairing({1, 1}));
  const auto first_seed = played.next_seed;
  play_out(played);
  EXPECT_NE(played.league.board().slot({5, 1}).seed[0], 0);
  EXPECT_GT(played.next_seed, first_seed) << "a replay has a seed of its own";
  EXPECT_EQ(played.league.status().finished.total_matches, 6);
  for (int player = 0; player < 4; ++player)
    EXPECT_EQ(played.league.standings().tally(player), (Tally{3, 0, 3, 0, 3}));
}

TEST(LeagueAdmin, AReplayCanBeVoidToo) {
  auto played = started(2, 1);
  report_all(played);
  act(played, void_of({1, 1}, true));
  played.step();
  report_all(played);
  act(played, void_of({2, 1}, true));
  EXPECT_EQ(played.league.schedule().replay_of({3, 1}), (events::MatchKey{2, 1}));
  play_out(played);
  EXPECT_EQ(played.league.status().finished.total_matches, 1);
}

TEST(LeagueAdmin, TheEndLeavesOutWhatIsNotPlayed) {
  auto played = started(4, 1);
  ASSERT_EQ(played.league.board().with_status(MatchStatus::kAssigned).size(), 1u);
  const events::MatchKey open = played.league.board().with_status(MatchStatus::kAssigned).front();
  const auto late = testing::report_of(played.league, open, 0);
  act(played, command(events::OperatorAct::kPause));
  act(played, command(events::OperatorAct::kEndLeague));
  played.step();
  EXPECT_EQ(played.league.state(), LeagueState::kCompleted);
  EXPECT_TRUE(played.league.is_ended_early());
  EXPECT_EQ(played.league.round_summary(1), events::MatchSummary{});
  EXPECT_FALSE(played.league.match(open)->result);
  const auto decision = played.league.decide_report(0, late, at(1));
  ASSERT_TRUE(decision.refusal);
  EXPECT_EQ(decision.refusal->code, ErrorCode::kStaleAttempt);
}

TEST(LeagueAdmin, AnActNamesItsAuthorWithinBounds) {
  auto played = started();
  auto wanted = command(events::OperatorAct::kAnnounce, std::string(1000, 'x') + "\n");
  wanted.by = std::string(1000, 'y');
  act(played, wanted);
  const auto& acted = std::get<events::OperatorActed>(played.events.back().body);
  EXPECT_LE(acted.reason.size(), 310u);
  EXPECT_LE(acted.by.size(), 90u);
  expect_refused(played, command(events::OperatorAct::kAnnounce, ""),
                 ErrorCode::kMissingRequiredField);
}

TEST(LeagueAdmin, AManagerThatEndsBeginsNothingUntilItIsBack) {
  auto played = started(4, 1);
  played.take(played.league.decide_drain(at(1)));
  EXPECT_TRUE(played.league.is_paused());
  EXPECT_TRUE(played.league.decide_drain(at(1)).empty());
  report_all(played);
  EXPECT_TRUE(played.league.board().with_status(MatchStatus::kAssigned).empty());
  played.take(played.league.decide_continuation(at(2)));
  EXPECT_FALSE(played.league.is_paused());
  EXPECT_EQ(played.league.board().with_status(MatchStatus::kAssigned).size(), 1u);
  play_out(played);
  EXPECT_EQ(played.league.status().finished.total_matches, 6);
  EXPECT_TRUE(played.league.decide_drain(at(3)).empty());
}

TEST(LeagueAdmin, AManagerThatIsBackDoesNotUndoTheOperatorsPause) {
  for (bool is_paused_before : {true, false}) {
    auto played = started(4, 1);
    if (is_paused_before) act(played, command(events::OperatorAct::kPause));
    played.take(played.league.decide_drain(at(1)));
    if (!is_paused_before) act(played, command(events::OperatorAct::kPause));
    played.take(played.league.decide_continuation(at(2)));
    EXPECT_TRUE(played.league.is_paused());
    act(played, command(events::OperatorAct::kResume));
  }
}

TEST(LeagueAdmin, NobodyActsInTheManagersName) {
  auto played = started();
  auto wanted = command(events::OperatorAct::kPause);
  wanted.by = events::kByManager;
  act(played, wanted);
  EXPECT_EQ(std::get<events::OperatorActed>(played.events.back().body).by, "operator");
  played.take(played.league.decide_continuation(at(2)));
  EXPECT_TRUE(played.league.is_paused());
}

}  // namespace
}  // namespace league::league_manager
