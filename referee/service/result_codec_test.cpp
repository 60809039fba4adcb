#include "referee/service/result_codec.h"

#include <gtest/gtest.h>

#include "game/games.h"

namespace league::referee::service {
namespace {

const core::PlayerId kA("P01");
const core::PlayerId kB("P02");

const Instant kThen{std::chrono::hours(5)};
const ClockAnchor kAnchor{kThen, *core::UtcTimestamp::parse("2025-01-15T10:30:00Z")};

ResultFrame frame() {
  return {.rules = *game::even_odd(), .players = {{kA, kB}}, .draw_proof = "00ff"};
}

RefereedMatch won() {
  RefereedMatch match;
  match.result.outcome = game::Outcome::kPlayerBWins;
  match.result.drawn_number = 7;
  match.result.choices = {{"even", "odd"}};
  match.reason = "7 is odd";
  return match;
}

TEST(ResultCodec, TellsThePlayersWhatHappened) {
  auto told = game_over(won(), frame());
  EXPECT_EQ(told.game_type, "even_odd");
  EXPECT_EQ(told.game_result.status, envelope::GameStatus::kWin);
  EXPECT_EQ(told.game_result.winner_player_id, kB);
  EXPECT_EQ(told.game_result.drawn_number, 7);
  EXPECT_EQ(told.game_result.number_parity, "odd");
  EXPECT_EQ(told.game_result.choices.at(kA), "even");
  EXPECT_EQ(told.game_result.reason, "7 is odd");
  EXPECT_EQ(told.draw_proof, "00ff");
}

TEST(ResultCodec, ReportsScoreAttemptAndProof) {
  auto report = match_report(won(), frame(), 2, kAnchor);
  EXPECT_EQ(report.game_type, "even_odd");
  EXPECT_EQ(report.result.winner, kB);
  EXPECT_EQ(report.result.score.at(kA), 0);
  EXPECT_EQ(report.result.score.at(kB), 3);
  const auto& details = report.result.details;
  EXPECT_EQ(details.attempt, 2);
  EXPECT_EQ(details.draw_proof, "00ff");
  EXPECT_EQ(details.number_parity, "odd");
  EXPECT_EQ(details.termination, "NORMAL");
  EXPECT_TRUE(details.failures.empty());
}

TEST(ResultCodec, BothMessagesSayWhoHasBoundTheDraw) {
  auto match = won();
  match.bindings.commitments[Side::kB] = "c0";
  match.bindings.nonces[Side::kB] = "0e";
  const auto over = game_over(match, frame());
  const auto details = match_report(match, frame(), 1, kAnchor).result.details;
  EXPECT_EQ(over.draw_version, 2);
  EXPECT_EQ(over.choice_commitments, (envelope::HexByPlayer{{kB, "c0"}}));
  EXPECT_EQ(over.choice_nonces, (envelope::HexByPlayer{{kB, "0e"}}));
  EXPECT_EQ(details.draw_version, over.draw_version);
  EXPECT_EQ(details.choice_commitments, over.choice_commitments);
  EXPECT_EQ(details.choice_nonces, over.choice_nonces);
}

TEST(ResultCodec, WithoutCommitmentsTheVersionIsOneAndNothingIsListed) {
  const auto over = game_over(won(), frame());
  EXPECT_EQ(over.draw_version, 1);
  EXPECT_TRUE(over.choice_commitments.empty());
  EXPECT_TRUE(over.choice_nonces.empty());
}

TEST(ResultCodec, ATechnicalLossHasNoNumberAndNamesItsFailures) {
  RefereedMatch match;
  match.result = game::technical_result(Side::kA, "TIMEOUT_CHOICE", {{"even", std::nullopt}});
  match.lost_by[Side::kB] = Termination::kTimeoutChoice;
  match.failures = {{.side = Side::kB,
                     .player = kB,
                     .call = Call::kChooseParity,
                     .code = core::ErrorCode::kTimeout,
                     .attempt = 3,
                     .elapsed = std::chrono::milliseconds(30'000),
                     .text = "late",
                     .clock = {}}};
  auto told = game_over(match, frame()).game_result;
  EXPECT_EQ(told.status, envelope::GameStatus::kTechnicalLoss);
  EXPECT_EQ(told.drawn_number, std::nullopt);
  EXPECT_EQ(told.number_parity, std::nullopt);
  EXPECT_EQ(told.choices.at(kB), std::nullopt);
  auto report = match_report(match, frame(), 1, kAnchor).result;
  EXPECT_EQ(report.score.at(kA), 3);
  EXPECT_EQ(report.details.termination, "TIMEOUT_CHOICE");
  ASSERT_EQ(report.details.failures.size(), 1U);
  EXPECT_EQ(report.details.failures[0].call, "CHOOSE_PARITY_CALL");
  EXPECT_EQ(report.details.failures[0].elapsed_ms, 30'000);
  EXPECT_EQ(report.details.failures[0].attempt, 3);
  EXPECT_EQ(report.details.failures[0].phase, "connect");
}

TEST(ResultCodec, ATimeOutCarriesItsProofInWallTime) {
  RefereedMatch match = won();
  match.replays = 2;
  ClockProof proof{.limit = std::chrono::seconds(5),
                   .sent_at = kThen - std::chrono::microseconds(4'999'875),
                   .gave_up_at = kThen + std::chrono::microseconds(250),
                   .own = {.scheduling = std::chrono::milliseconds(251),
                           .canary = std::chrono::microseconds(900)}};
  match.failures.emplace_back();
  match.failures.back().clock = proof;
  match.failures.emplace_back();
  auto report = match_report(match, frame(), 1, kAnchor).result;
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
}  // namespace league::referee::service
