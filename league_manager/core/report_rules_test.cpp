#include "league_manager/core/report_rules.h"

#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using core::ErrorCode;

const events::DrawSeed kSeed = core::sha256("a seed");
constexpr Pairing kPairing{0, 1};

const game::Definition& rules() { return *game::even_odd(); }

ReportFacts facts() { return {.rules = rules(), .pairing = kPairing, .seed = kSeed, .attempt = 2}; }

/// A true report of R1M1, which P01 won.
MatchReport won() {
  MatchReport report;
  report.match = {1, 1};
  report.attempt = 2;
  report.round = 1;
  report.game_type = "even_odd";
  report.conversation = "convr1m1002";
  report.claim = testing::claim_for(kSeed, {{"P01", "P02"}}, "R1M1", 1);
  return report;
}

/// A true report of the same match, lost by P02 for time.
MatchReport lost_for_time() {
  MatchReport report = won();
  report.claim.choices = {{"P01", "odd"}, {"P02", std::nullopt}};
  report.claim.commitments.clear();
  report.claim.nonces.clear();
  report.claim.draw_version.reset();
  report.claim.drawn_number.reset();
  report.claim.number_kind.reset();
  report.claim.winner = "P01";
  report.claim.score = {{{"P01", 3}, {"P02", 0}}};
  report.claim.technical_reason = "TIMEOUT_CHOICE";
  report.failures = {{.player_id = "P02", .is_timeout = true, .has_clock = true}};
  return report;
}

/// The field at which a report is refused; `accepted` where it is not.
std::string fault_field(const MatchReport& report, const ReportFacts& with = facts()) {
  auto judged = judge_report(report, with);
  if (judged) return "accepted";
  EXPECT_EQ(judged.error().code, ErrorCode::kInvalidResult);
  EXPECT_NE(judged.error().message.find("R1M1"), std::string::npos);
  EXPECT_LT(judged.error().message.size(), 400U);
  return judged.error().field;
}

TEST(JudgeReport, AcceptsWhatIsTrue) {
  auto judged = judge_report(won(), facts());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_EQ(judged->result.outcome, game::Outcome::kPlayerAWins);
  EXPECT_EQ(judged->fairness, game::Fairness::kBoth);
  EXPECT_FALSE(judged->is_unproven);
  judged = judge_report(lost_for_time(), facts());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_EQ(judged->result.technical_reason, "TIMEOUT_CHOICE");
  MatchReport draw = won();
  draw.claim = testing::claim_for(kSeed, {{"P01", "P02"}}, "R1M1", 0);
  EXPECT_EQ(judge_report(draw, facts())->result.outcome, game::Outcome::kDraw);
}

TEST(JudgeReport, GivesPeopleTheirTime) {
  auto with = facts();
  with.own_limits[game::Side::kB] = {.invitation = std::chrono::seconds(20),
                                     .choice = std::chrono::seconds(60)};
  auto report = lost_for_time();
  auto& failure = report.failures.front();
  failure.call = "CHOOSE_PARITY_CALL";
  failure.limit = std::chrono::seconds(30);
  EXPECT_EQ(fault_field(report), "accepted") << "a program";
  EXPECT_EQ(fault_field(report, with), "/result/details/failures");
  failure.limit = std::chrono::seconds(60);
  EXPECT_EQ(fault_field(report, with), "accepted");
  // The call after an invalid answer has the rest of the time.
  failure.limit = std::chrono::seconds(20);
  ReportedFailure invalid = failure;
  invalid.is_timeout = false;
  invalid.elapsed = std::chrono::milliseconds(39'990);
  report.failures.insert(report.failures.begin(), invalid);
  EXPECT_EQ(fault_field(report, with), "accepted");
  report.failures.front().call = "GAME_INVITATION";
  EXPECT_EQ(fault_field(report, with), "/result/details/failures");
}

TEST(JudgeReport, RefusesAnotherNumber) {
  for (int number = 0; number <= 11; ++number) {
    auto report = won();
    const bool is_true = report.claim.drawn_number == number;
    report.claim.drawn_number = number;
    EXPECT_EQ(fault_field(report), is_true ? "accepted" : "/result/details/drawn_number") << number;
  }
  auto report = won();
  report.claim.drawn_number.reset();
  EXPECT_EQ(fault_field(report), "/result/details/drawn_number");
}

TEST(JudgeReport, RefusesAParityThatTheNumberDoesNotHave) {
  auto report = won();
  report.claim.number_kind = report.claim.number_kind == "even" ? "odd" : "even";
  EXPECT_EQ(fault_field(report), "/result/details/number_parity");
}

TEST(JudgeReport, RefusesAnotherSeedAndNone) {
  auto report = won();
  report.claim.seed = core::to_hex(core::sha256("another seed"));
  EXPECT_EQ(fault_field(report), "/result/details/draw_proof");
  report.claim.seed = "00";
  EXPECT_EQ(fault_field(report), "/result/details/draw_proof");
  report.claim.seed.reset();
  EXPECT_EQ(fault_field(report), "/result/details/draw_proof");
  auto technical = lost_for_time();
  technical.claim.seed.reset();
  EXPECT_EQ(fault_field(technical), "/result/details/draw_proof");
}

TEST(JudgeReport, RefusesSwappedAndInventedChoices) {
  auto report = won();
  std::swap(report.claim.choices[0].second, report.claim.choices[1].second);
  EXPECT_EQ(fault_field(report), "/result/details/choice_nonces");
  report = won();
  report.claim.choices[0].second = "Even";
  EXPECT_EQ(fault_field(report), "/result/details/choices");
  report = won();
  report.claim.choices[0].first = "P07";
  EXPECT_EQ(fault_field(report), "/result/details/choices");
  report = won();
  report.claim.choices.pop_back();
  EXPECT_EQ(fault_field(report), "/result/details/choices");
}

TEST(JudgeReport, RefusesCommitmentsThatAreNotOpened) {
  auto report = won();
  report.claim.nonces.pop_back();
  EXPECT_EQ(fault_field(report), "/result/details/choice_nonces");
  report = won();
  report.claim.nonces[0].second = std::string(64, '0');
  EXPECT_EQ(fault_field(report), "/result/details/choice_nonces");
  report = won();
  report.claim.draw_version = 1;
  EXPECT_EQ(fault_field(report), "/result/details/draw_version");
}

TEST(JudgeReport, RefusesWinnersAndScoresThatDoNotFollow) {
  auto report = won();
  report.claim.winner = "P02";
  report.claim.score = {{{"P01", 0}, {"P02", 3}}};
  EXPECT_EQ(fault_field(report), "/result/winner");
  report.claim.winner = "P03";
  EXPECT_EQ(fault_field(report), "/result/winner");
  using Score = std::vector<std::pair<std::string, int>>;
  for (const Score& score :
       {Score{}, Score{{"P01", 3}}, Score{{"P01", 0}, {"P02", 3}}, Score{{"P01", 3}, {"P02", 1}},
        Score{{"P01", 1000}, {"P02", 0}}, Score{{"P01", 3}, {"P03", 0}},
        Score{{"P01", 3}, {"P01", 3}}, Score{{"P01", 3}, {"P02", 0}, {"P03", 3}}}) {
    report = won();
    report.claim.score = score;
    EXPECT_EQ(fault_field(report), "/result/score");
  }
}

TEST(JudgeReport, RefusesAnotherRoundGameAndConversation) {
  auto report = won();
  report.round = 2;
  EXPECT_EQ(fault_field(report), "/round_id");
  report = won();
  report.game_type = "chess";
  EXPECT_EQ(fault_field(report), "/game_type");
  report = won();
  report.conversation = "convr1m1001";
  EXPECT_EQ(fault_field(report), "/conversation_id");
}

TEST(JudgeReport, RefusesLossesWithoutEvidence) {
  auto report = lost_for_time();
  report.failures.clear();
  EXPECT_EQ(fault_field(report), "/result/details/failures");
  report = lost_for_time();
  report.failures[0].player_id = "P01";
  EXPECT_EQ(fault_field(report), "/result/details/failures");
  report = lost_for_time();
  report.failures[0].has_clock = false;
  EXPECT_EQ(fault_field(report), "/result/details/failures");
  report = lost_for_time();
  report.failures[0].is_void = true;
  EXPECT_EQ(fault_field(report), "/result/details/failures");
  report.replays = 3;
  EXPECT_EQ(fault_field(report), "accepted") << "the last replay counts, whoever was late";
  report = lost_for_time();
  report.claim.drawn_number = 4;
  EXPECT_EQ(fault_field(report), "/result/details/drawn_number");
  report = lost_for_time();
  report.claim.technical_reason = std::string(101, 'x');
  EXPECT_EQ(fault_field(report), "/result/details/termination");
}

TEST(JudgeReport, AForeignRefereeMayKeepTheSeedWhereTheOperatorAllowsIt) {
  auto foreign = facts();
  foreign.has_match_credentials = false;
  auto report = won();
  report.claim.seed.reset();
  report.conversation = "my-own-conversation";
  EXPECT_EQ(fault_field(report, foreign), "/result/details/draw_proof");
  foreign.may_be_unproven = true;
  auto judged = judge_report(report, foreign);
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_TRUE(judged->is_unproven);
  foreign.is_strict = true;
  EXPECT_EQ(fault_field(report, foreign), "/conversation_id");
  foreign.is_strict = false;
  report.claim.seed = core::to_hex(core::sha256("another seed"));
  EXPECT_EQ(fault_field(report, foreign), "/result/details/draw_proof")
      << "a false seed is worse than none";
  report.claim.seed.reset();
  report.claim.winner = "P02";
  report.claim.score = {{{"P01", 0}, {"P02", 3}}};
  EXPECT_EQ(fault_field(report, foreign), "/result/winner") << "the rest is judged all the same";
}

/// A report that says who won and no more.
MatchReport bare(std::optional<std::string> winner, int a, int b) {
  MatchReport report = won();
  report.claim = {};
  report.claim.winner = std::move(winner);
  report.claim.score = {{{"P01", a}, {"P02", b}}};
  return report;
}

ReportFacts foreign_facts() {
  auto foreign = facts();
  foreign.has_match_credentials = false;
  foreign.may_be_unproven = true;
  return foreign;
}

TEST(ForeignReport, MaySayNoMoreThanWhoWon) {
  auto judged = judge_report(read_as_foreign(bare("P01", 3, 0)), foreign_facts());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_TRUE(judged->is_unproven);
  EXPECT_EQ(judged->result.outcome, game::Outcome::kPlayerAWins);
  EXPECT_FALSE(judged->result.is_technical());
  judged = judge_report(read_as_foreign(bare(std::nullopt, 1, 1)), foreign_facts());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_EQ(judged->result.outcome, game::Outcome::kDraw);
  EXPECT_FALSE(judge_report(read_as_foreign(bare("P09", 3, 0)), foreign_facts()));
  EXPECT_FALSE(judge_report(read_as_foreign(bare("P02", 3, 0)), foreign_facts()));
  EXPECT_FALSE(judge_report(read_as_foreign(bare("P01", 3, 3)), foreign_facts()));
  EXPECT_FALSE(judge_report(bare("P01", 3, 0), facts())) << "ours have to prove it";
}

TEST(ForeignReport, WithoutANumberIsATechnicalLossWhereSomebodyIsMissing) {
  auto report = bare("P01", 3, 0);
  report.claim.choices = {{"P01", "even"}, {"P02", std::nullopt}};
  auto judged = judge_report(read_as_foreign(report), foreign_facts());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_TRUE(judged->result.is_technical());
  judged = judge_report(read_as_foreign(bare(std::nullopt, 0, 0)), foreign_facts());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_EQ(judged->result.outcome, game::Outcome::kNoWinner);
}

TEST(ForeignReport, IsJudgedByWhatItSays) {
  auto report = won();
  report.claim.seed.reset();
  auto read = read_as_foreign(report);
  EXPECT_FALSE(read.is_bare) << "it names a number";
  read.claim.winner = "P02";
  EXPECT_FALSE(judge_report(read, foreign_facts()));
  report = won();
  report.claim.drawn_number.reset();
  EXPECT_FALSE(read_as_foreign(report).is_bare) << "who reveals the seed shows all";
}

TEST(ClaimedResult, IsNotJudged) {
  auto report = won();
  report.claim.seed.reset();
  auto claimed = claimed_result(report, rules(), kPairing);
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claimed->outcome, game::Outcome::kPlayerAWins);
  report.claim.winner = "P09";
  EXPECT_FALSE(claimed_result(report, rules(), kPairing));
}

}  // namespace
}  // namespace league::league_manager
