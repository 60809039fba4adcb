#include "tools/audit/rules/accepted_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/core/timestamp.h"
#include "tests/support/temporary_directory.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/league_testing.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Rules = std::vector<std::string>;

const Rules kGivenUp{"incident journal.given_up"};
const std::string kOtherSeed(64, '7');

/// Everything once more, after R1M1 was played and its result given up: the round is begun again
/// with another seed, so the same names stand for another match.
void play_round_again(TestLeague& league) {
  league.set_seed(kOtherSeed);
  std::swap(league.choices["P01"], league.choices["P02"]);
  league.announce();
  league.invite_and_choose();
  league.report();
}

/// The journal still has the round, so its seed stays; the referee gets the match once more.
void play_match_again(TestLeague& league, int attempt) {
  league.attempt = attempt;
  league.conversation = "convr1m100" + std::to_string(attempt);
  league.choices["P02"] = league.choices["P01"];
  league.nonces["P02"] = std::string(64, 'd');
  league.announce();
  league.invite_and_choose();
  league.report();
}

void forget_play(TestLeague& league) {
  for (const std::string agent : {"league_manager", "referee:REF01", "player:P01", "player:P02"}) {
    for (const char* type : {"GAME_INVITATION", "CHOOSE_PARITY_CALL", "MATCH_RESULT_REPORT"})
      league.drop(agent, type);
  }
}

void forget_report(TestLeague& league) {
  for (const std::string agent : {"referee:REF01", "league_manager"})
    league.drop(agent, "MATCH_RESULT_REPORT");
}

std::vector<audit::log::LogFault> incidents_of(const TestLeague& league) {
  const league::testing::TemporaryDirectory temporary;
  league.write(temporary.path());
  auto report = verify_directory(temporary.path(), {});
  return report ? report->incidents : std::vector<audit::log::LogFault>();
}

TEST(VerifyGivenUp, ARoundThatIsPlayedAgainAccusesNobody) {
  TestLeague league;
  league.end_match();
  league.dispute();
  league.give_up(0);
  play_round_again(league);
  EXPECT_EQ(league.found(), kGivenUp);
}

TEST(VerifyGivenUp, AMatchThatIsPlayedAgainAccusesNobody) {
  for (int attempt : {1, 2}) {
    TestLeague league;
    league.give_up(0);
    play_match_again(league, attempt);
    EXPECT_EQ(league.found(), kGivenUp) << attempt;
  }
}

TEST(VerifyGivenUp, TheIncidentNamesTheTextAndTheResults) {
  TestLeague league;
  league.give_up(0);
  play_round_again(league);
  auto incidents = incidents_of(league);
  ASSERT_EQ(incidents.size(), 1U);
  EXPECT_THAT(incidents[0].text, HasSubstr("journal.mark names entry 22"));
  EXPECT_THAT(incidents[0].text, HasSubstr("no longer count (1)"));
  EXPECT_THAT(incidents[0].text, HasSubstr("R1M1 ("));
  EXPECT_THAT(incidents[0].file, HasSubstr("results.json"));
}

TEST(VerifyGivenUp, WithoutTheNoteASecondHistoryIsALie) {
  TestLeague round;
  play_round_again(round);
  EXPECT_THAT(round.found(), Contains("fault draw.commitment"));
  TestLeague match;
  play_match_again(match, 2);
  EXPECT_THAT(match.found(), Contains("fault commitment.second"));
}

TEST(VerifyGivenUp, AMatchThatWasKeptIsCheckedAsAlways) {
  TestLeague honest;
  honest.give_up(1);
  EXPECT_EQ(honest.found(), kGivenUp);
  TestLeague second;
  second.give_up(1);
  play_match_again(second, 2);
  EXPECT_THAT(second.found(), Contains("fault commitment.second"));
  TestLeague liar;
  liar.change("", "MATCH_RESULT_REPORT",
              [](json& report) { report["result"]["details"]["draw_proof"] = kOtherSeed; });
  liar.give_up(1);
  EXPECT_THAT(liar.found(), Contains("fault draw.proof"));
}

TEST(VerifyGivenUp, WhatFollowsIsCheckedAsAlways) {
  TestLeague reveals;
  reveals.give_up(0);
  play_round_again(reveals);
  reveals.change("", "MATCH_RESULT_REPORT",
                 [](json& report) { report["result"]["details"]["draw_proof"] = kOtherSeed; });
  EXPECT_EQ(reveals.found(), kGivenUp) << "the first report is of the past, the second one right";
  reveals.change("", "MATCH_RESULT_REPORT", [](json& report) {
    report["result"]["details"]["draw_proof"] = std::string(64, '5');
  });
  EXPECT_THAT(reveals.found(), Contains("fault draw.proof")) << "the seed of the past";

  TestLeague promises;
  promises.give_up(0);
  const std::string old = promises.promised;
  play_round_again(promises);
  promises.change("player:P01", "CHOOSE_PARITY_CALL",
                  [&](json& call) { call["context"]["draw_commitment"] = old; });
  EXPECT_THAT(promises.found(), Contains("missing choice.absent")) << "a call of the past";
}

TEST(VerifyGivenUp, AnAttemptThatIsReportedLaterCounts) {
  for (const std::string conversation : {"convr1m1001", "convofreferee1"}) {
    TestLeague league;
    forget_report(league);
    league.give_up(0);
    league.announce();  // to the referee, which plays it already
    league.conversation = conversation;
    league.report();
    EXPECT_EQ(league.found(), kGivenUp) << conversation;
    league.change("player:P01", "CHOOSE_PARITY_RESPONSE", [&](json& answer) {
      answer["parity_choice"] = league.choices["P01"] == "even" ? "odd" : "even";
    });
    EXPECT_THAT(league.found(), Contains("fault choice.differs")) << conversation;
  }
}

TEST(VerifyGivenUp, AnAttemptThatIsInvitedAgainBeginsThere) {
  TestLeague league;
  forget_report(league);
  league.give_up(0);
  play_match_again(league, 1);
  EXPECT_EQ(league.found(), kGivenUp) << "a referee that was started again, too";
}

TEST(VerifyGivenUp, AnAttemptThatWasReportedBeforeDoesNotGoOn) {
  TestLeague league(Rules{});
  league.end_match();
  league.give_up(0);
  league.announce();
  json invitation = league.message("GAME_INVITATION", "referee:REF01");
  invitation.update({{"game_type", "even_odd"},
                     {"role_in_match", "PLAYER_B"},
                     {"opponent_id", "P01"},
                     {"draw_commitment", league.promised}});
  league.call("referee:REF01", "player:P02", invitation, nullptr);
  league.report();
  league.lose("CONNECTION_JOIN", "GAME_INVITATION", "E009");  // P01 was not asked any more
  EXPECT_EQ(league.found(), kGivenUp);
}

TEST(VerifyGivenUp, APlayThatNobodyWantsAnyMoreMayGoOn) {
  for (bool was_played : {true, false}) {
    TestLeague league;
    if (!was_played) forget_play(league);
    league.give_up(0);
    const std::string old = league.seed;
    league.set_seed(kOtherSeed);
    league.announce();
    league.set_seed(old);
    league.invite_and_choose();  // the referee has not heard of it yet
    league.set_seed(kOtherSeed);
    league.invite_and_choose();
    league.report();
    EXPECT_EQ(league.found(), kGivenUp) << was_played;
  }
}

TEST(VerifyGivenUp, ALateClockOfAPlayerIsNoFault) {
  for (bool of_round : {true, false}) {
    TestLeague league;
    league.give_up(0);
    for (const std::string player : {"player:P01", "player:P02"})
      league.clocks_us[player] = -90'000;
    of_round ? play_round_again(league) : play_match_again(league, 2);
    EXPECT_EQ(league.found(), kGivenUp) << of_round;
  }
}

TEST(VerifyGivenUp, EachEntryGivesUpItsOwn) {
  TestLeague league;
  league.give_up(0);
  play_round_again(league);
  league.give_up(1);
  EXPECT_EQ(league.found(), kGivenUp);
  EXPECT_EQ(incidents_of(league).size(), 2U);
  TestLeague twice;
  twice.give_up(0);
  play_round_again(twice);
  twice.give_up(0);
  twice.set_seed(std::string(64, '9'));
  twice.announce();
  twice.invite_and_choose();
  twice.report();
  EXPECT_EQ(twice.found(), kGivenUp);
}

TEST(VerifyGivenUp, FilesOfThePastAreNoFault) {
  TestLeague league;
  league.give_up(0);
  play_match_again(league, 1);
  league.files["data/players/P01/history.json"] = {
      {"player_id", "P01"},
      {"matches", {{{"league_id", "l"}, {"match_id", "R1M1"}, {"result", "NONE"}}}}};
  auto match_file = [&](const char* at) -> json {
    return {{"league_id", "l"},
            {"league_key", league.headers.at("league_key")},
            {"match_id", "R1M1"},
            {"state", "FINISHED"},
            {"draw_commitment", league.promised},
            {"result", {{"winner", "P09"}}},
            {"lifecycle", {{{"state", "FINISHED"}, {"at", at}}}}};
  };
  league.files["data/matches/l/R1M1.json"] = match_file("2020-01-01T00:00:00Z");
  EXPECT_EQ(league.found(), kGivenUp);
  league.files["data/matches/l/R1M1.json"] = match_file("2029-01-01T00:00:00Z");
  EXPECT_THAT(league.found(), Contains("fault projection.match"));
}

TEST(VerifyGivenUp, ABundleSaysWhatWasGivenUpAndNoDirectory) {
  JournalLeague kept;
  kept.results.emplace_back().match_id = "R1M1";
  kept.given_up.push_back({.at_us = 1'768'473'000'123'456,
                           .text = "/home/me/data/journal.mark names entry 7",
                           .results = 1});
  auto rows = results_json(kept)["given_up"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["text"], "journal.mark names entry 7");
  EXPECT_EQ(rows[0]["at"], "2026-01-15T10:30:00.123456Z");
  EXPECT_EQ(rows[0]["results"], 1);
  EXPECT_FALSE(results_json({}).contains("given_up"));
}

}  // namespace
}  // namespace league::tools::auditor
