#include "league_manager/rounds/operator_log.h"

#include <gtest/gtest.h>

#include <set>

#include "league_manager/core/league_testing.h"

namespace league::league_manager::rounds {
namespace {

using testing::at;
using testing::PlayedLeague;

class OperatorLogTest : public ::testing::Test {
 protected:
  void tell(events::EventBody body, int second = 0) {
    log_.on_events({{at(second), std::move(body)}});
  }
  /// A league of two players and a referee, of which what happened so far is known.
  void open() {
    PlayedLeague played(testing::settings(2, 1));
    played.enter_all(1);
    played.step();
    log_.on_events(played.events);
    EXPECT_TRUE(lines_.empty()) << "what is replayed is no news";
    log_.begin();
  }
  std::string last() {
    if (lines_.empty()) return "nothing";
    const auto& line = lines_.back();
    return std::string(line.is_warning ? "warning " : "info ") + std::string(line.event) + ": " +
           line.text;
  }

  std::vector<OperatorLine> lines_;
  OperatorLog log_{[this](const OperatorLine& line) { lines_.push_back(line); }};
};

constexpr events::MatchKey kFirst{1, 1};

TEST_F(OperatorLogTest, TellsALeagueAsAStory) {
  log_.begin();
  PlayedLeague played(testing::settings(4, 2));
  played.enter_all(2);
  played.step();
  log_.on_events(played.events);
  std::vector<std::string> texts;
  for (const auto& line : lines_) texts.push_back(line.text);
  ASSERT_EQ(texts.size(), 8U);
  EXPECT_EQ(texts[0],
            "P01 'p0' registered from http://127.0.0.1:10000/mcp; 1 of 4 players and 0 of 2 "
            "referees have registered");
  EXPECT_EQ(texts[6], "the league starts: 4 players, 2 referees, 3 rounds, 6 matches");
  EXPECT_EQ(texts[7], "round 1 of 3 starts: 2 matches");
  tell(events::RoundCompleted{1, {2, 1, 0, 1}}, 12);
  EXPECT_EQ(last(),
            "info ROUND_COMPLETED: round 1 of 3 is over after 12.0 s: 1 won, 0 drawn, 1 lost "
            "technically");
}

TEST_F(OperatorLogTest, NamesTheCauseOfATechnicalLoss) {
  open();
  tell(events::FailureCounted{events::AgentRef::player(1), events::FailureKind::kTimeout, kFirst,
                              events::FailureCause{"CHOOSE_PARITY_CALL", "E001", 3, "no answer"}});
  EXPECT_EQ(last(),
            "warning TECHNICAL_LOSS: P02 'p1' loses R1M1 technically: CHOOSE_PARITY_CALL: E001 "
            "TIMEOUT_ERROR, 3 times (no answer)");
  EXPECT_EQ(lines_.back().fields["agent"], "P02");
  EXPECT_EQ(lines_.back().fields["error_code"], "E001");
  EXPECT_FALSE(lines_.back().fields.contains("field"));
  tell(events::MatchForfeited{kFirst,
                              game::technical_result(std::nullopt, events::kReasonNoReferee)});
  EXPECT_EQ(last(),
            "warning MATCH_FORFEITED: R1M1 of P01 'p0' and P02 'p1' ends without being "
            "played, because no referee could finish it: nobody gets a point");
}

TEST_F(OperatorLogTest, TellsTheSameFaultInFullOnlyOnce) {
  open();
  const auto lose = [this](events::MatchKey match, const std::string& nonce, const char* field) {
    tell(events::FailureCounted{events::AgentRef::player(1), events::FailureKind::kValidation,
                                match,
                                events::FailureCause{"CHOOSE_PARITY_CALL", "E004", 1,
                                                     "not a choice; received: " + nonce, field}});
  };
  const std::string start = "warning TECHNICAL_LOSS: P02 'p1' loses ";
  const std::string fault = " technically: CHOOSE_PARITY_CALL: E004 INVALID_PARITY_CHOICE";
  lose(kFirst, "a1", "/parity_choice");
  EXPECT_EQ(last(), start + "R1M1" + fault + " (not a choice; received: a1)");
  EXPECT_EQ(lines_.back().fields["field"], "/parity_choice");
  lose({2, 1}, "b2", "/parity_choice");
  EXPECT_EQ(last(), start + "R2M1" + fault + ", as in R1M1");
  lose({3, 1}, "c3", "/sender");
  EXPECT_EQ(last(), start + "R3M1" + fault + " (not a choice; received: c3)");
}

TEST_F(OperatorLogTest, TellsStatesWithTheirReason) {
  open();
  tell(events::AgentStateChanged{events::AgentRef::player(0), events::AgentState::kSuspended,
                                 std::string(events::kReasonFailedMatches), "3 matches in a row"});
  EXPECT_EQ(last(),
            "warning AGENT_STATE_CHANGED: P01 'p0' is SUSPENDED (FAILED_MATCHES: 3 matches in a "
            "row); its matches begin with a ping and have one attempt per call until it plays "
            "again");
  tell(events::AgentStateChanged{events::AgentRef::player(0), events::AgentState::kActive,
                                 std::string(events::kReasonPlayed)});
  EXPECT_EQ(last(), "info AGENT_STATE_CHANGED: P01 'p0' is ACTIVE (PLAYED)");
}

TEST_F(OperatorLogTest, SaysThatNoRefereeIsLeft) {
  open();
  const auto change = [this](events::AgentState to) {
    tell(events::AgentStateChanged{
        {events::AgentKind::kReferee, 0}, to, std::string(events::kReasonRefereeLost)});
  };
  change(events::AgentState::kSuspended);
  EXPECT_NE(last().find("; no referee is left: matches wait until one comes back or registers"),
            std::string::npos)
      << last();
  change(events::AgentState::kActive);
  EXPECT_EQ(last().find("no referee is left"), std::string::npos) << last();
}

TEST_F(OperatorLogTest, TellsWhatMovedFromAReferee) {
  open();
  tell(events::MatchReleased{kFirst, 1, std::string(events::kReasonRefereeLost), false});
  EXPECT_EQ(last(),
            "warning MATCHES_MOVED: R1M1 taken back from REF01 'r0', which does not answer; "
            "to be assigned again");
}

TEST_F(OperatorLogTest, TellsDisputedAndUnprovenResultsAndWhatCanBeDone) {
  open();
  tell(events::MatchDisputed{kFirst, 0, "\x1b[31mliar"});
  EXPECT_EQ(last(),
            "warning MATCH_DISPUTED: P01 'p0' disputes the result of R1M1: ?[31mliar. The result "
            "stands; `league audit verify` shows whose claim the sealed records support");
  events::MatchReported reported;
  reported.match = kFirst;
  reported.is_unproven = true;
  tell(reported);
  EXPECT_NE(last().find("use --unproven-referees none to refuse such results"), std::string::npos);
}

TEST_F(OperatorLogTest, WhatStrangersWriteIsBoundedAndPrintable) {
  log_.begin();
  log_.refused(events::AgentKind::kPlayer, "evil\x1b]0;x\x07", std::string(5000, 'h'),
               {core::ErrorCode::kLateRegistration, "too\nlate", ""});
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_TRUE(lines_[0].text.starts_with("player 'evil?]0;x?' at hhh")) << lines_[0].text;
  EXPECT_TRUE(lines_[0].text.ends_with(" is refused: E019 too?late")) << lines_[0].text;
  EXPECT_LT(lines_[0].text.size(), 300U);
  log_.assignment_refused(events::AgentRef::referee(0), std::vector<events::MatchKey>(100, kFirst),
                          std::string(5000, '\x1b'));
  EXPECT_LT(lines_.back().text.size(), 600U);
  EXPECT_EQ(lines_.back().text.find('\x1b'), std::string::npos);
}

TEST_F(OperatorLogTest, NamesAreShownAsTheyAre) {
  log_.begin();
  log_.refused(events::AgentKind::kPlayer, "\u017dlu\u0165", "http://somewhere",
               {core::ErrorCode::kInvalidTimestamp, "no zone", ""}, "Ann Author");
  EXPECT_EQ(
      lines_.back().text,
      "player '\u017dlu\u0165' at http://somewhere, with the code of 'Ann Author', is refused: "
      "E021 no zone");
  log_.refused(events::AgentKind::kPlayer, "Ann", "http://somewhere",
               {core::ErrorCode::kInvalidTimestamp, "no zone", ""}, "Ann");
  EXPECT_TRUE(lines_.back().text.starts_with("player 'Ann' at http://somewhere is refused"));
}

TEST_F(OperatorLogTest, AFloodOfRegistrationsIsNoFloodOfDifferentLines) {
  log_.begin();
  for (int i = 0; i < 10'000; ++i) {
    log_.refused(events::AgentKind::kPlayer, "bot" + std::to_string(i), "http://somewhere",
                 {core::ErrorCode::kLateRegistration, "too late", ""});
  }
  std::set<std::string> texts;
  for (const auto& line : lines_) texts.insert(line.text);
  EXPECT_EQ(texts.size(), OperatorLog::kMostRefusals + 1U);
}

TEST_F(OperatorLogTest, TellsOfAReportThatIsRefusedOnce) {
  open();
  const core::Error why{core::ErrorCode::kLeagueIdMismatch, "league_id is not ours", "/league_id"};
  for (int i = 0; i < 3; ++i) log_.report_refused(events::AgentRef::referee(0), kFirst, why);
  EXPECT_EQ(lines_.size(), 1U);
  EXPECT_NE(last().find("R1M1 is refused: E008 league_id is not ours"), std::string::npos)
      << last();
  log_.not_started(events::AgentRef::referee(0), kFirst, true);
  EXPECT_NE(last().find("goes to another referee"), std::string::npos) << last();
}

}  // namespace
}  // namespace league::league_manager::rounds
