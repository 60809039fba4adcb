#include "league_manager/core/report_receipts.h"

#include <algorithm>
#include <iterator>

#include "game/commitment.h"
#include "game/receipt.h"

namespace league::league_manager {
namespace {

using events::ReceiptState;
using Text = std::optional<std::string>;

/// A longer receipt is none, and is not journalled.
constexpr std::size_t kLongestReceipt = 64;

Text value_of(const game::ByPlayer& values, const std::string& player) {
  const auto found =
      std::ranges::find_if(values, [&player](const auto& one) { return one.first == player; });
  return found != values.end() ? found->second : std::nullopt;
}

/// What the report says of the player, and what its receipts would be for.
class Check {
 public:
  Check(const MatchReport& report, const ReceiptFacts& facts)
      : facts_(facts),
        match_id_(report.match.id().str()),
        scope_{.league_key = facts.league_key,
               .match_id = match_id_,
               .attempt = facts.attempt,
               .play = report.replays,
               .draw_commitment = facts.draw_commitment},
        commitment_(value_of(report.claim.commitments, facts.player_id)),
        choice_(value_of(report.claim.choices, facts.player_id)),
        nonce_(value_of(report.claim.nonces, facts.player_id)),
        handed_(value_of(report.claim.commitments, facts.opponent_id)),
        is_decline_(report.claim.technical_reason.size() > 0 &&
                    loss_of(report, facts.player_id).is_decline),
        needs_join_(commitment_ || choice_ || report.claim.technical_reason.empty()) {
    const auto sent = report.receipts.find(facts.player_id);
    if (sent != report.receipts.end()) sent_ = sent->second;
  }

  [[nodiscard]] CheckedReceipts run() const {
    CheckedReceipts out;
    out.receipts.state = ReceiptState::kValid;
    if (is_decline_) {
      check_decline(out);
    } else if (needs_join_) {
      take(out, sent_.join, join_text(true, commitment_.value_or("")), &Check::other_joins,
           "GAME_INVITATION", out.receipts.join);
    }
    if (choice_) {
      take(out, sent_.choice, choice_text(*choice_, nonce_, handed_), &Check::other_choices,
           "CHOOSE_PARITY_CALL", out.receipts.choice);
    }
    return out;
  }

 private:
  using Texts = std::vector<std::string>;

  [[nodiscard]] std::string join_text(bool accept, std::string_view commitment) const {
    return game::join_receipt_text(scope_, accept, commitment);
  }
  [[nodiscard]] std::string choice_text(std::string_view choice, const Text& nonce,
                                        const Text& handed) const {
    return game::choice_receipt_text(scope_, {.choice = choice,
                                              .nonce = nonce.value_or(""),
                                              .opponent_commitment = handed.value_or("")});
  }

  [[nodiscard]] bool fits(const std::string& receipt, const std::string& text) const {
    return std::ranges::any_of(facts_.keys, [&](const std::string& key) {
      return game::is_receipt_of(key, text, receipt);
    });
  }

  /// The calls of this attempt and play that the player's record has of one type.
  [[nodiscard]] std::vector<PlayerCall> recorded(std::string_view type) const {
    std::vector<PlayerCall> found;
    if (facts_.record == nullptr) return found;
    for (const auto& call : facts_.record->calls) {
      if (call.message_type == type && call.attempt == scope_.attempt && call.play == scope_.play)
        found.push_back(call);
    }
    return found;
  }

  /// What the player may have answered to its invitation.
  [[nodiscard]] Texts joins(bool accept) const {
    std::vector<std::string> commitments = {commitment_.value_or(""), ""};
    for (std::string_view word : facts_.rules.choices()) {
      if (!nonce_) break;
      commitments.push_back(game::choice_commitment(
          {scope_.draw_commitment, scope_.match_id, facts_.player_id, word, *nonce_}));
    }
    for (const auto& call : recorded("GAME_INVITATION"))
      if (call.choice_commitment) commitments.push_back(*call.choice_commitment);
    Texts texts;
    for (const auto& commitment : commitments) texts.push_back(join_text(accept, commitment));
    return texts;
  }
  [[nodiscard]] Texts other_joins() const {
    Texts texts = joins(true);
    std::ranges::move(joins(false), std::back_inserter(texts));
    return texts;
  }

  [[nodiscard]] Texts other_choices() const {
    Texts texts;
    for (std::string_view word : facts_.rules.choices()) {
      for (const Text& nonce : {nonce_, Text()}) {
        for (const Text& handed : {handed_, Text()})
          texts.push_back(choice_text(word, nonce, handed));
      }
    }
    for (const auto& call : recorded("CHOOSE_PARITY_CALL")) {
      if (call.choice)
        texts.push_back(choice_text(*call.choice, call.nonce, call.opponent_commitment));
      texts.push_back(choice_text(choice_.value_or(""), nonce_, call.opponent_commitment));
    }
    return texts;
  }

  /// Checks one receipt that the report needs, and lowers the state of `out` where it is not valid.
  void take(CheckedReceipts& out, const Text& sent, const std::string& text,
            Texts (Check::*others)() const, std::string_view call, Text& taken) const {
    if (sent && fits(*sent, text)) {
      taken = sent;
      return;
    }
    if (sent && !out.contradiction) {
      const Texts other = (this->*others)();
      const bool contradicts = std::ranges::any_of(
          other, [&](const auto& one) { return one != text && fits(*sent, one); });
      if (contradicts) {
        out.contradiction = "the receipt of " + facts_.player_id + "'s answer to " +
                            std::string(call) + " is for another answer than the report states";
      }
    }
    for (const auto& recorded_call : recorded(call)) {
      if (!recorded_call.receipt || !fits(*recorded_call.receipt, text)) continue;
      taken = recorded_call.receipt;
      return;
    }
    if (sent) {
      taken = sent->substr(0, kLongestReceipt);
      out.receipts.state = ReceiptState::kInvalid;
    } else if (out.receipts.state == ReceiptState::kValid) {
      out.receipts.state = ReceiptState::kAbsent;
    }
  }

  void check_decline(CheckedReceipts& out) const {
    if (!sent_.join) return;
    const auto is_one_of = [this](const Texts& texts) {
      return std::ranges::any_of(texts,
                                 [this](const auto& text) { return fits(*sent_.join, text); });
    };
    out.proves_decline = is_one_of(joins(false));
    if (out.proves_decline) {
      out.receipts.join = sent_.join;
    } else if (is_one_of(joins(true)))
      out.contradiction = "the receipt of " + facts_.player_id +
                          "'s answer to GAME_INVITATION says that it accepted";
  }

  const ReceiptFacts& facts_;
  const std::string match_id_;
  const game::ReceiptScope scope_;
  const Text commitment_;
  const Text choice_;
  const Text nonce_;
  const Text handed_;  ///< the opponent's commitment, as the report says that it was shown
  const bool is_decline_;
  const bool needs_join_;
  ReportedReceipts sent_;
};

}  // namespace

CheckedReceipts check_receipts(const MatchReport& report, const ReceiptFacts& facts) {
  return Check(report, facts).run();
}

game::Fairness fairness_with(game::Fairness fairness,
                             const game::PerSide<events::PlayerReceipts>& receipts) {
  const bool is_claimed = std::ranges::any_of(receipts.both, [](const auto& one) {
    return one.state == ReceiptState::kAbsent || one.state == ReceiptState::kInvalid;
  });
  return is_claimed ? std::min(fairness, game::Fairness::kClaimed) : fairness;
}

}  // namespace league::league_manager
