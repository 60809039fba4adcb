#include "league_manager/core/report_receipts.h"

#include <gtest/gtest.h>

#include "game/receipt.h"
#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using events::ReceiptState;

const std::string kReceiptKey(64, 'a');
const std::string kOldKey(64, 'b');

/// A played match of P01 and P02, with what P01 answered in it and its true receipts.
class ReportReceipts : public ::testing::Test {
 protected:
  ReportReceipts() {
    report_.match = {1, 1};
    report_.claim = testing::claim_for(seed_, {{"P01", "P02"}}, "R1M1", 1);
    commitment_ = *report_.claim.commitments[0].second;
    opponents_ = *report_.claim.commitments[1].second;
    nonce_ = *report_.claim.nonces[0].second;
    send_true_receipts();
  }

  [[nodiscard]] game::ReceiptScope scope() const {
    return {.league_key = "key",
            .match_id = "R1M1",
            .attempt = 2,
            .play = report_.replays,
            .draw_commitment = draw_commitment_};
  }
  [[nodiscard]] std::string join(bool accept, const std::string& commitment,
                                 const std::string& key = kReceiptKey) const {
    return game::receipt_of(key, game::join_receipt_text(scope(), accept, commitment));
  }
  [[nodiscard]] std::string choice(const std::string& word, const std::string& nonce,
                                   const std::string& handed,
                                   const std::string& key = kReceiptKey) const {
    return game::receipt_of(
        key, game::choice_receipt_text(
                 scope(), {.choice = word, .nonce = nonce, .opponent_commitment = handed}));
  }
  void send_true_receipts() {
    sent().join = join(true, commitment_);
    sent().choice = choice("even", nonce_, opponents_);
  }
  [[nodiscard]] ReportedReceipts& sent() { return report_.receipts["P01"]; }

  [[nodiscard]] CheckedReceipts check() const {
    return check_receipts(report_, {.rules = *game::even_odd(),
                                    .league_key = "key",
                                    .draw_commitment = draw_commitment_,
                                    .attempt = 2,
                                    .player_id = "P01",
                                    .opponent_id = "P02",
                                    .keys = {kReceiptKey, kOldKey},
                                    .record = record_ ? &*record_ : nullptr});
  }
  void expect(ReceiptState state, bool is_contradicted) const {
    const auto checked = check();
    EXPECT_EQ(events::receipt_state_name(checked.receipts.state),
              events::receipt_state_name(state));
    EXPECT_EQ(checked.contradiction.has_value(), is_contradicted)
        << checked.contradiction.value_or("");
  }

  const events::DrawSeed seed_{7};
  const std::string draw_commitment_ = game::draw_commitment(seed_, "R1M1");
  MatchReport report_;
  std::string commitment_;
  std::string opponents_;
  std::string nonce_;
  std::optional<PlayerRecord> record_;
};

TEST_F(ReportReceipts, TrueOnesAreValidUnderEveryKeyOfTheSeat) {
  expect(ReceiptState::kValid, false);
  EXPECT_EQ(check().receipts.join, sent().join);
  sent().join = join(true, commitment_, kOldKey);
  expect(ReceiptState::kValid, false);
  sent().join = join(true, commitment_, std::string(64, 'c'));
  expect(ReceiptState::kInvalid, false);
}

TEST_F(ReportReceipts, MissingOnesAreAbsentAndFalseOnesInvalid) {
  report_.receipts.clear();
  expect(ReceiptState::kAbsent, false);
  sent().join = std::string(64, '0');
  expect(ReceiptState::kInvalid, false);
  send_true_receipts();
  sent().choice = std::string(100000, '0');
  expect(ReceiptState::kInvalid, false);
  EXPECT_LE(check().receipts.choice->size(), 64u);
}

TEST_F(ReportReceipts, TheReceiptOfAnotherAttemptOrPlayFitsNothing) {
  report_.replays = 1;
  expect(ReceiptState::kInvalid, false);
  send_true_receipts();
  expect(ReceiptState::kValid, false);
}

/// Each lie of a referee about an answer whose receipt it passes on.
TEST_F(ReportReceipts, AReceiptOfAnotherAnswerContradictsTheReport) {
  sent().choice = choice("odd", nonce_, opponents_);
  expect(ReceiptState::kInvalid, true);
  sent().choice = choice("even", nonce_, "");  // the opponent's commitment was not handed over
  expect(ReceiptState::kInvalid, true);
  send_true_receipts();
  sent().join = join(false, "");
  expect(ReceiptState::kInvalid, true);
  sent().join = join(true, "");  // it had not committed
  expect(ReceiptState::kInvalid, true);
}

TEST_F(ReportReceipts, ADroppedCommitmentIsFoundByTheRevealedNonceOrThePlayersRecord) {
  report_.claim.commitments[0].second.reset();
  expect(ReceiptState::kInvalid, true);
  sent().join = join(true, std::string(64, 'd'));  // of a choice that is not revealed
  expect(ReceiptState::kInvalid, false);
  record_.emplace().calls.push_back({.message_type = "GAME_INVITATION",
                                     .attempt = 2,
                                     .is_answered = true,
                                     .accept = true,
                                     .choice_commitment = std::string(64, 'd')});
  expect(ReceiptState::kInvalid, true);
}

TEST_F(ReportReceipts, ValidOnesFromThePlayerAreTaken) {
  const auto join_receipt = sent().join;
  report_.receipts.clear();
  record_.emplace().calls = {{.message_type = "GAME_INVITATION",
                              .attempt = 2,
                              .is_answered = true,
                              .accept = true,
                              .choice_commitment = commitment_,
                              .receipt = join_receipt},
                             {.message_type = "CHOOSE_PARITY_CALL",
                              .attempt = 2,
                              .is_answered = true,
                              .choice = "even",
                              .nonce = nonce_,
                              .opponent_commitment = opponents_,
                              .receipt = choice("even", nonce_, opponents_)}};
  expect(ReceiptState::kValid, false);
  EXPECT_EQ(check().receipts.join, join_receipt);
  record_->calls[1].receipt = choice("odd", nonce_, opponents_);
  expect(ReceiptState::kAbsent, false);  // a player can make any receipt: no fault of the referee
}

TEST_F(ReportReceipts, ALossNeedsOnlyWhatTheReportLists) {
  report_.claim.technical_reason = "TIMEOUT_CHOICE";
  report_.claim.choices = {{"P01", std::nullopt}, {"P02", std::nullopt}};
  sent().choice.reset();
  expect(ReceiptState::kValid, false);
  report_.claim.commitments.clear();
  report_.receipts.clear();
  expect(ReceiptState::kValid, false);
}

TEST_F(ReportReceipts, ADeclineIsProvedByItsReceipt) {
  report_.claim.technical_reason = "DECLINED";
  report_.claim.choices.clear();
  report_.claim.commitments.clear();
  report_.claim.nonces.clear();
  report_.failures = {{.player_id = "P01", .call = "GAME_INVITATION", .error_code = "E037"}};
  report_.receipts.clear();
  EXPECT_FALSE(check().proves_decline);
  sent().join = join(false, "");
  EXPECT_TRUE(check().proves_decline);
  expect(ReceiptState::kValid, false);
  sent().join = join(true, "");
  EXPECT_FALSE(check().proves_decline);
  expect(ReceiptState::kValid, true);
}

TEST(ReceiptFairness, IsAtMostClaimedWithoutValidReceipts) {
  game::PerSide<events::PlayerReceipts> receipts;
  EXPECT_EQ(fairness_with(game::Fairness::kBoth, receipts), game::Fairness::kBoth);
  receipts[game::Side::kA].state = ReceiptState::kValid;
  EXPECT_EQ(fairness_with(game::Fairness::kOne, receipts), game::Fairness::kOne);
  for (auto state : {ReceiptState::kAbsent, ReceiptState::kInvalid}) {
    receipts[game::Side::kB].state = state;
    EXPECT_EQ(fairness_with(game::Fairness::kBoth, receipts), game::Fairness::kClaimed);
    EXPECT_EQ(fairness_with(game::Fairness::kNone, receipts), game::Fairness::kNone);
  }
}

}  // namespace
}  // namespace league::league_manager
