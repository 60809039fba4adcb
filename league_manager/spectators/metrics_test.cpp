#include "league_manager/spectators/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "league_manager/core/league_testing.h"

namespace league::league_manager::spectators {
namespace {

using testing::at;

/// The value of a sample; -1 where there is none.
double value_of(const std::string& text, const std::string& sample) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(sample + " ")) return std::stod(line.substr(sample.size()));
  }
  return -1;
}

testing::PlayedLeague played_league() {
  testing::PlayedLeague played(testing::settings(4, 1));
  played.enter_all(4);
  played.step(at(1));
  int kind = 0;
  for (int round = 1; round <= 3; ++round) {
    for (int number = 1; number <= 2; ++number) {
      const events::MatchKey match{round, number};
      auto report = match == events::MatchKey{2, 2}
                        ? testing::technical_report_of(played.league, match)
                        : testing::report_of(played.league, match, kind++ % 3);
      report.answered_in["P01"] = {.join_us = 700, .choice_us = 40'000'000};
      EXPECT_FALSE(played.report(0, report, at(10 * round + number)).refusal);
    }
    played.step(at(10 * round + 5));
  }
  return played;
}

TEST(Metrics, AreWhatTheJournalHolds) {
  const auto played = played_league();
  Metrics metrics;
  metrics.on_events(played.events);
  const std::string text = metrics.text(played.league, {});
  const events::MatchSummary finished = played.league.status().finished;
  EXPECT_EQ(value_of(text, R"(league_matches_finished_total{result="win"})"), finished.wins);
  EXPECT_EQ(value_of(text, R"(league_matches_finished_total{result="draw"})"), finished.draws);
  EXPECT_EQ(value_of(text, R"(league_matches_finished_total{result="technical_loss"})"),
            finished.technical_losses);
  EXPECT_EQ(value_of(text, "league_matches_assigned_total"),
            std::ranges::count_if(played.events, [](const events::Event& event) {
              return std::holds_alternative<events::MatchAssigned>(event.body);
            }));
  EXPECT_EQ(value_of(text, R"(league_state{state="COMPLETED"})"), 1);
  EXPECT_EQ(value_of(text, R"(league_agents{role="player",state="ACTIVE"})"), 4);
  // P01 plays three matches; the bounds of buckets belong to them.
  EXPECT_EQ(value_of(text, R"(league_answer_seconds_bucket{call="GAME_INVITATION",le="0.001"})"),
            3);
  EXPECT_EQ(value_of(text, R"(league_answer_seconds_bucket{call="CHOOSE_PARITY_CALL",le="30"})"),
            0);
  EXPECT_EQ(value_of(text, R"(league_answer_seconds_count{call="CHOOSE_PARITY_CALL"})"), 3);
  EXPECT_EQ(value_of(text, R"(league_answer_seconds_sum{call="CHOOSE_PARITY_CALL"})"), 120);
}

TEST(Metrics, WhatTheOperatorDidAndWhatTheManagerEnded) {
  const League league(testing::settings(2, 1));
  Metrics metrics;
  const auto act = [](events::OperatorAct what, std::string_view by) {
    return events::Event{at(0),
                         events::OperatorActed{.act = what, .by = std::string(by), .reason = "x"}};
  };
  const auto change = [](events::AgentState to, std::string_view reason,
                         std::optional<std::string> by) {
    return events::Event{at(0), events::AgentStateChanged{
                                    events::AgentRef::player(0), to, std::string(reason), {}, by}};
  };
  metrics.on_events({act(events::OperatorAct::kPause, "Ann"),
                     act(events::OperatorAct::kPause, events::kByManager),
                     change(events::AgentState::kShutdown, events::kReasonDisqualified, "Ann"),
                     change(events::AgentState::kActive, events::kReasonRestored, {}),
                     change(events::AgentState::kShutdown, events::kReasonWithdrawn, {}),
                     change(events::AgentState::kSuspended, events::kReasonFailedMatches, {})});
  for (std::string_view reason : {events::kReasonNoReferee, std::string_view("what\"}")})
    metrics.on_events(
        {{at(0), events::MatchForfeited{{1, 1}, game::technical_result({}, reason)}}});
  const std::string text = metrics.text(league, {});
  EXPECT_EQ(value_of(text, R"(league_operator_acts_total{act="PAUSE"})"), 1);
  EXPECT_EQ(value_of(text, R"(league_operator_acts_total{act="DISQUALIFY"})"), 1);
  EXPECT_EQ(value_of(text, R"(league_operator_acts_total{act="RESTORE"})"), 1);
  EXPECT_EQ(value_of(text, R"(league_operator_acts_total{act="WITHDRAW"})"), -1);
  EXPECT_EQ(value_of(text, R"(league_matches_forfeited_total{reason="NO_REFEREE"})"), 1);
  EXPECT_EQ(value_of(text, R"(league_matches_forfeited_total{reason="other"})"), 1);
}

TEST(Metrics, RegistrationsAndRefusals) {
  const auto played = played_league();
  Metrics metrics;
  metrics.on_events(played.events);
  RegistrationBoard board([] {});
  for (int i = 0; i < 200; ++i)
    board.on_refused(events::AgentKind::kPlayer, "stranger " + std::to_string(i), "",
                     {core::ErrorCode::kDuplicateRegistration, "x\"}", ""}, at(i));
  const std::string text = metrics.text(played.league, {.refused = board.refusals()});
  EXPECT_EQ(value_of(text, R"(league_registrations_total{role="player"})"), 4);
  EXPECT_EQ(value_of(text, R"(league_registrations_total{role="referee"})"), 1);
  const std::string code(core::wire_code(core::ErrorCode::kDuplicateRegistration));
  EXPECT_EQ(value_of(text, R"(league_registrations_refused_total{role="player",error_code=")" +
                               code + "\"}"),
            200)
      << "also those that the board has forgotten";
}

TEST(Metrics, HowFarStandBysAre) {
  const League league(testing::settings(2, 1));
  const std::string text = Metrics().text(
      league, {.replication = ReplicationFigures{
                   .leader = "alba-1f2e",
                   .term = 3,
                   .stream = 2,
                   .acknowledged = 40,
                   .written = 42,
                   .standbys = {{"bela-77aa", 41, true, 0.2}, {"x\"\n\\", 7, false, 90}},
                   .waits_for = "the stream's store is full",
                   .store_bytes = 300,
                   .store_max_bytes = 400}});
  EXPECT_EQ(value_of(text, "league_replication_term"), 3);
  EXPECT_EQ(value_of(text, "league_replication_acknowledged"), 40);
  EXPECT_EQ(value_of(text, "league_replication_written"), 42);
  EXPECT_EQ(value_of(text, "league_replication_waiting"), 1);
  EXPECT_EQ(value_of(text, R"(league_standby_entries{name="bela-77aa"})"), 41);
  EXPECT_EQ(value_of(text, R"(league_standby_in_sync{name="bela-77aa"})"), 1);
  EXPECT_EQ(value_of(text, R"(league_standby_entries{name="x\"\n\\"})"), 7) << text;
  EXPECT_EQ(value_of(text, R"(league_standby_in_sync{name="x\"\n\\"})"), 0);
  EXPECT_EQ(value_of(text, "league_journal_store_ratio"), 0.75);
}

TEST(Metrics, WithoutALimitNoStoreIsFull) {
  const League league(testing::settings(2, 1));
  const std::string text = Metrics().text(
      league, {.replication = ReplicationFigures{.leader = "a", .store_bytes = 300}});
  EXPECT_EQ(text.find("league_journal_store_ratio"), std::string::npos);
  EXPECT_EQ(value_of(text, "league_replication_waiting"), 0);
}

TEST(Metrics, ALeagueWithOneManagerHasNoneOfReplication) {
  const League league(testing::settings(2, 1));
  const std::string text = Metrics().text(league, {});
  for (const char* name : {"league_replication", "league_standby", "league_journal_store"})
    EXPECT_EQ(text.find(name), std::string::npos) << name;
}

TEST(Metrics, RefereesMakeNoNewLabels) {
  const League league(testing::settings(2, 1));
  Metrics metrics;
  for (int i = 0; i < 100; ++i) {
    events::FailureCounted failure{.agent = events::AgentRef::player(0),
                                   .kind = events::FailureKind::kTimeout,
                                   .match = std::nullopt};
    failure.cause = events::FailureCause{
        .call = "x", .error_code = "E\"}" + std::to_string(i), .attempts = 1, .text = "x"};
    metrics.on_events({{at(0), failure}});
  }
  EXPECT_EQ(
      value_of(metrics.text(league, {}), R"(league_technical_losses_total{error_code="other"})"),
      100);
}

audit::record::Record record(audit::record::Direction direction, audit::record::Kind kind,
                             std::uint64_t call, std::string peer, std::string type) {
  audit::record::Record one;
  one.direction = direction;
  one.kind = kind;
  one.call = call;
  one.elapsed = std::chrono::milliseconds(20);
  one.notes.peer = peer;
  if (direction == audit::record::Direction::kIn) one.notes.said_by = std::move(peer);
  one.notes.message_type = std::move(type);
  return one;
}

TEST(Metrics, CallsOfOthersAndOurs) {
  using audit::record::Direction;
  using audit::record::Kind;
  const League league(testing::settings(2, 1));
  Metrics metrics;
  metrics.on_record(
      record(Direction::kIn, Kind::kRequest, 1, "referee:REF01", "MATCH_RESULT_REPORT"));
  metrics.on_record(record(Direction::kOut, Kind::kReply, 1, "referee:REF01", ""));
  // Ours are named after the request, whatever the answer says of itself.
  metrics.on_record(record(Direction::kOut, Kind::kRequest, 2, "player:P01", "ROUND_ANNOUNCEMENT"));
  auto failed = record(Direction::kIn, Kind::kFailure, 2, "player:P01", "GAME_ERROR");
  failed.notes.verdict = core::ErrorCode::kTimeout;
  metrics.on_record(failed);
  metrics.on_record(record(Direction::kOut, Kind::kRequest, 3, "player:P01", "ROUND_ANNOUNCEMENT"));
  const std::string text = metrics.text(league, {});
  EXPECT_EQ(value_of(text, "league_calls_unanswered"), 1);
  EXPECT_EQ(
      value_of(
          text,
          R"(league_call_seconds_count{direction="in",role="referee",type="MATCH_RESULT_REPORT"})"),
      1);
  EXPECT_EQ(
      value_of(
          text,
          R"(league_call_seconds_bucket{direction="out",role="player",type="ROUND_ANNOUNCEMENT",le="0.025"})"),
      1);
  EXPECT_EQ(
      value_of(
          text,
          R"(league_call_errors_total{direction="out",role="player",type="ROUND_ANNOUNCEMENT",error_code="E001"})"),
      1);
  EXPECT_EQ(text.find("GAME_ERROR"), std::string::npos);
}

TEST(Metrics, StrangersMakeNoNewLabels) {
  const League league(testing::settings(2, 1));
  Metrics metrics;
  for (int i = 0; i < 100; ++i) {
    const std::string word = "x\"}" + std::to_string(i);
    metrics.on_record(
        record(audit::record::Direction::kIn, audit::record::Kind::kRequest, 1, word, word));
    metrics.on_record(
        record(audit::record::Direction::kIn, audit::record::Kind::kReply, 7, word, word));
  }
  EXPECT_EQ(value_of(metrics.text(league, {}),
                     R"(league_call_seconds_count{direction="in",role="other",type="other"})"),
            100);
}

}  // namespace
}  // namespace league::league_manager::spectators
