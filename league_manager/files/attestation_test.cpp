#include "league_manager/files/attestation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "league_manager/core/league_testing.h"

namespace league::league_manager::files {
namespace {

using testing::at;
using testing::PlayedLeague;

const std::string kKey(64, 'c');

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A league of four players: the first match is void, the last one was lost technically.
class AttestationTest : public ::testing::Test {
 protected:
  AttestationTest() : played_(settings()) {
    played_.enter_all(4);
    played_.step(at(1));
    for (int round = 1; round <= 3; ++round) play(round);
  }

  static events::LeagueSettings settings() {
    auto settings = testing::settings(4, 1);
    settings.league_key = kKey;
    return settings;
  }
  void play(int round) {
    for (int number = 1; number <= 2; ++number) {
      const events::MatchKey match{round, number};
      auto report = match == events::MatchKey{3, 2}
                        ? testing::technical_report_of(played_.league, match)
                        : testing::report_of(played_.league, match, number);
      EXPECT_FALSE(played_.report(0, report, at(10 * round)).refusal);
    }
    if (round == 1) {
      auto voided = played_.league.decide_act({.act = events::OperatorAct::kVoidMatch,
                                               .by = "me",
                                               .reason = "a test",
                                               .match = events::MatchKey{1, 1}},
                                              at(15));
      EXPECT_TRUE(voided);
      if (voided) played_.take(*voided);
    }
    tell_heads(round);
    played_.step(at(10 * round + 5));
  }
  /// Of P02 and REF01; all heads of a round are different.
  void tell_heads(int round) {
    LogHeads heads;
    for (auto agent : {events::AgentRef::player(1), events::AgentRef::referee(0)})
      heads[agent] = {agent, static_cast<std::uint64_t>(round), std::string(64, 'a')};
    played_.take(played_.league.decide_log_heads(round, heads, at(20)));
  }
  [[nodiscard]] LeagueBook book() const {
    LeagueBook book;
    for (const auto& event : played_.events) EXPECT_TRUE(book.apply(event));
    return book;
  }

  PlayedLeague played_;
};

TEST_F(AttestationTest, EveryResultHasALine) {
  const auto lines = lines_of(results_text(book()));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_TRUE(lines[0].starts_with("R1M1|1|REF01|P")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("|NORMAL|VOID")) << lines[0];
  EXPECT_EQ(lines[5].substr(0, 13), "R3M2|1|REF01|");
  EXPECT_TRUE(lines[5].ends_with("|-|-|-|CONNECTION_JOIN|-")) << lines[5];
}

TEST_F(AttestationTest, TheTableIsThatOfTheLeague) {
  const auto lines = lines_of(table_text(book()));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[0].starts_with("1|P")) << lines[0];
  EXPECT_EQ(std::ranges::count(lines[0], '|'), 6);
}

TEST_F(AttestationTest, HeadsAreSortedById) {
  EXPECT_EQ(heads_text(played_.league.log_heads()),
            "P02 3 " + std::string(64, 'a') + "\nREF01 3 " + std::string(64, 'a') + "\n");
}

TEST_F(AttestationTest, StatesWhatHoldsAtItsEntry) {
  const journal::JournalPosition end{7, core::sha256("journal")};
  const std::string statement = attestation_statement(book(), end);
  const auto digest = [](const std::string& text) { return core::to_hex(core::sha256(text)); };
  EXPECT_EQ(statement, "league.result 1\n" + kKey + "\ntable " + digest(table_text(book())) +
                           "\nresults " + digest(results_text(book())) + "\njournal 7 " +
                           digest("journal") + "\nheads 2 " +
                           digest(heads_text(played_.league.log_heads())) + "\n");
  EXPECT_EQ(attestation_statement(book(), end, statement),
            statement + "supersedes " + digest(statement) + "\n");
}

TEST_F(AttestationTest, WhatComesAfterTheEndDoesNotChangeIt) {
  ASSERT_EQ(played_.league.state(), LeagueState::kCompleted);
  const std::string before = attestation_statement(book(), {});
  tell_heads(4);
  played_.take(
      played_.league.decide_delivered(events::NotificationKind::kLeagueCompleted, 3, at(90)));
  EXPECT_EQ(attestation_statement(book(), {}), before) << "as after a restart";
}

}  // namespace
}  // namespace league::league_manager::files
