#include "referee/result_codec.h"

#include <gtest/gtest.h>

namespace league::referee {
namespace {

const PerPlayer<core::PlayerId> kPlayers{{core::PlayerId("P01"), core::PlayerId("P02")}};

const Instant kThen{std::chrono::hours(5)};
const ClockAnchor kAnchor{kThen, *core::UtcTimestamp::parse("2025-01-15T10:30:00Z")};

MatchResult won() {
  MatchResult result;
  result.status = ResultStatus::kWin;
  result.winner = Slot::kB;
  result.score = {{0, 3}};
  result.drawn_number = 7;
  result.number_parity = "odd";
  result.choices = {{"even", "odd"}};
  result.reason = "7 is odd";
  return result;
}

TEST(ResultCodec, TellsThePlayersWhatHappened) {
  auto told = game_result(won(), kPlayers);
  EXPECT_EQ(told.status, envelope::GameStatus::kWin);
  EXPECT_EQ(told.winner_player_id, core::PlayerId("P02"));
  EXPECT_EQ(told.drawn_number, 7);
  EXPECT_EQ(told.number_parity, envelope::Parity::kOdd);
  EXPECT_EQ(told.choices.at(core::PlayerId("P01")), envelope::Parity::kEven);
  EXPECT_EQ(told.reason, "7 is odd");
}

TEST(ResultCodec, ReportsScoreAttemptAndProof) {
  auto report = match_result(won(), kPlayers, 2, "00ff", kAnchor);
  EXPECT_EQ(report.winner, core::PlayerId("P02"));
  EXPECT_EQ(report.score.at(core::PlayerId("P01")), 0);
  EXPECT_EQ(report.score.at(core::PlayerId("P02")), 3);
  EXPECT_EQ(report.details.attempt, 2);
  EXPECT_EQ(report.details.draw_proof, "00ff");
  EXPECT_EQ(report.details.termination, "NORMAL");
  EXPECT_TRUE(report.details.failures.empty());
}

TEST(ResultCodec, ATechnicalLossHasNoNumberAndNamesItsFailures) {
  MatchResult result;
  result.status = ResultStatus::kTechnicalLoss;
  result.winner = Slot::kA;
  result.score = {{3, 0}};
  result.choices = {{"even", std::nullopt}};
  result.termination = Termination::kTimeoutChoice;
  result.failures = {{.slot = Slot::kB,
                      .player = core::PlayerId("P02"),
                      .call = Call::kChooseParity,
                      .code = core::ErrorCode::kTimeout,
                      .attempt = 3,
                      .elapsed = std::chrono::milliseconds(30'000),
                      .text = "late",
                      .clock = {}}};
  auto told = game_result(result, kPlayers);
  EXPECT_EQ(told.status, envelope::GameStatus::kTechnicalLoss);
  EXPECT_EQ(told.drawn_number, std::nullopt);
  EXPECT_EQ(told.number_parity, std::nullopt);
  EXPECT_EQ(told.choices.at(core::PlayerId("P02")), std::nullopt);
  auto report = match_result(result, kPlayers, 1, "", kAnchor);
  EXPECT_EQ(report.details.termination, "TIMEOUT_CHOICE");
  ASSERT_EQ(report.details.failures.size(), 1U);
  EXPECT_EQ(report.details.failures[0].call, "CHOOSE_PARITY_CALL");
  EXPECT_EQ(report.details.failures[0].elapsed_ms, 30'000);
  EXPECT_EQ(report.details.failures[0].attempt, 3);
}

TEST(ResultCodec, ATimeOutCarriesItsProofInWallTime) {
  MatchResult result = won();
  result.replays = 2;
  ClockProof proof{.limit = std::chrono::seconds(5),
                   .sent_at = kThen - std::chrono::microseconds(4'999'875),
                   .gave_up_at = kThen + std::chrono::microseconds(250),
                   .own = {.scheduling = std::chrono::milliseconds(251),
                           .canary = std::chrono::microseconds(900)}};
  result.failures.emplace_back();
  result.failures.back().clock = proof;
  result.failures.emplace_back();
  auto report = match_result(result, kPlayers, 1, "", kAnchor);
  EXPECT_EQ(report.details.replays, 2);
  envelope::ClockProof expected{.limit_ms = 5000,
                                .sent_at = "2025-01-15T10:29:55.000125Z",
                                .gave_up_at = "2025-01-15T10:30:00.000250Z",
                                .scheduling_delay_us = 251000,
                                .canary_us = 900,
                                .is_void = true};
  ASSERT_EQ(report.details.failures.size(), 2U);
  EXPECT_EQ(report.details.failures[0].clock, expected);
  EXPECT_FALSE(report.details.failures[1].clock);
}

}  // namespace
}  // namespace league::referee
