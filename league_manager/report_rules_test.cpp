#include "league_manager/report_rules.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace league::league_manager {
namespace {

constexpr Pairing kPairing{0, 1};

/// P01 chose even, P02 odd, 4 was drawn: P01 won.
MatchReport won() {
  MatchReport report;
  report.match = {1, 1};
  report.winner_id = "P01";
  report.score = {{"P01", 3}, {"P02", 0}};
  report.drawn_number = 4;
  report.choices = {{"P01", "even"}, {"P02", "odd"}};
  return report;
}

std::string fault_field(const MatchReport& report) {
  auto result = check_report(report, kPairing);
  if (result) return "accepted";
  EXPECT_EQ(result.error().code, core::ErrorCode::kInvalidResult);
  EXPECT_NE(result.error().message.find("R1M1"), std::string::npos);
  return result.error().field;
}

TEST(ReportRules, AcceptAWin) {
  auto result = check_report(won(), kPairing);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, (MatchResult{Outcome::kPlayerAWins, 4, Parity::kEven, Parity::kOdd, ""}));
}

TEST(ReportRules, AcceptADraw) {
  auto report = won();
  report.choices[1].second = "even";
  report.winner_id.reset();
  report.score = {{"P02", 1}, {"P01", 1}};
  EXPECT_EQ(check_report(report, kPairing)->outcome, Outcome::kDraw);
}

TEST(ReportRules, AcceptTechnicalLosses) {
  auto one = won();
  one.technical_reason = "CHOICE_TIMEOUT";
  one.drawn_number.reset();
  one.choices = {{"P01", "odd"}, {"P02", std::nullopt}};
  auto result = check_report(one, kPairing);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, (MatchResult{Outcome::kPlayerAWins, std::nullopt, Parity::kOdd, std::nullopt,
                                  "CHOICE_TIMEOUT"}));
  auto both = one;
  both.winner_id.reset();
  both.score = {{"P01", 0}, {"P02", 0}};
  both.choices.clear();
  EXPECT_EQ(check_report(both, kPairing)->outcome, Outcome::kNoWinner);
}

TEST(ReportRules, RefuseAWinnerWhoDoesNotPlay) {
  auto report = won();
  report.winner_id = "P03";
  EXPECT_EQ(fault_field(report), "/result/winner");
}

TEST(ReportRules, RefuseAScoreThatDoesNotFit) {
  for (auto score : std::vector<std::vector<std::pair<std::string, int>>>{
           {},
           {{"P01", 3}},
           {{"P01", 0}, {"P02", 3}},
           {{"P01", 3}, {"P02", 1}},
           {{"P01", 1000}, {"P02", 0}},
           {{"P01", 3}, {"P03", 0}},
           {{"P01", 3}, {"P01", 3}},
           {{"P01", 3}, {"P02", 0}, {"P03", 3}}}) {
    auto report = won();
    report.score = score;
    EXPECT_EQ(fault_field(report), "/result/score");
  }
}

TEST(ReportRules, RefuseImpossibleDetails) {
  auto report = won();
  report.drawn_number = 0;
  EXPECT_EQ(fault_field(report), "/result/details/drawn_number");
  report.drawn_number = 11;
  EXPECT_EQ(fault_field(report), "/result/details/drawn_number");
  report.drawn_number.reset();
  EXPECT_EQ(fault_field(report), "/result/details");
  report = won();
  report.choices[0].second = "Even";
  EXPECT_EQ(fault_field(report), "/result/details/choices");
  report = won();
  report.choices[0].first = "P07";
  EXPECT_EQ(fault_field(report), "/result/details/choices");
  report = won();
  report.choices.pop_back();
  EXPECT_EQ(fault_field(report), "/result/details");
  report = won();
  report.technical_reason = std::string(101, 'x');
  EXPECT_EQ(fault_field(report), "/result/details/reason");
}

TEST(ReportRules, AcceptExactlyTheWinnerThatFollowsFromTheDraw) {
  const std::vector<std::optional<std::string>> winners = {std::nullopt, "P01", "P02"};
  for (int number = 1; number <= 10; ++number) {
    for (const char* a : {"even", "odd"}) {
      for (const char* b : {"even", "odd"}) {
        bool a_right = (number % 2 == 0) == (std::string(a) == "even");
        bool b_right = (number % 2 == 0) == (std::string(b) == "even");
        for (int winner = 0; winner < 3; ++winner) {
          auto report = won();
          report.drawn_number = number;
          report.choices = {{"P01", a}, {"P02", b}};
          report.winner_id = winners[static_cast<std::size_t>(winner)];
          report.score = {{"P01", winner == 0 ? 1 : (winner == 1 ? 3 : 0)},
                          {"P02", winner == 0 ? 1 : (winner == 2 ? 3 : 0)}};
          int right = a_right == b_right ? 0 : (a_right ? 1 : 2);
          EXPECT_EQ(fault_field(report), winner == right ? "accepted" : "/result/winner")
              << number << a << b << winner;
        }
      }
    }
  }
}

TEST(CompactResult, TellsResultsApart) {
  MatchResult base{Outcome::kPlayerAWins, 4, Parity::kEven, Parity::kOdd, ""};
  auto same = [&base](const MatchResult& other) {
    return CompactResult::of(base).same_result(CompactResult::of(other));
  };
  EXPECT_TRUE(same(base));
  auto other = base;
  other.drawn_number = 6;
  EXPECT_FALSE(same(other));
  other = base;
  other.choice_a.reset();
  EXPECT_FALSE(same(other));
  other = base;
  other.technical_reason = "X";
  EXPECT_FALSE(same(other));
  other = base;
  other.outcome = Outcome::kDraw;
  EXPECT_FALSE(same(other));
  EXPECT_EQ(CompactResult::of(base).choice_a(), Parity::kEven);
  EXPECT_EQ(CompactResult::of(base).choice_b(), Parity::kOdd);
  static_assert(sizeof(CompactResult) <= 12,
                "a league of 1,000 players keeps half a million of them");
}

}  // namespace
}  // namespace league::league_manager
