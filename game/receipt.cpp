#include "game/receipt.h"

#include <initializer_list>

#include "common/core/crypto.h"

namespace league::game {
namespace {

std::string text_of(std::string_view kind, const ReceiptScope& scope,
                    std::initializer_list<std::string_view> parts) {
  std::string text(kind);
  const auto add = [&text](std::string_view part) { text.append("|").append(part); };
  add(scope.league_key);
  add(scope.match_id);
  add(std::to_string(scope.attempt));
  add(std::to_string(scope.play));
  add(scope.draw_commitment);
  for (std::string_view part : parts) add(part);
  return text;
}

}  // namespace

std::string join_receipt_text(const ReceiptScope& scope, bool accept,
                              std::string_view choice_commitment) {
  return text_of("JOIN", scope, {accept ? "true" : "false", choice_commitment});
}

std::string choice_receipt_text(const ReceiptScope& scope, const RevealedChoice& revealed) {
  return text_of("CHOICE", scope, {revealed.choice, revealed.nonce, revealed.opponent_commitment});
}

std::string receipt_of(std::string_view key, std::string_view text) {
  return core::to_hex(core::hmac_sha256(core::as_bytes(key), core::as_bytes(text)));
}

bool is_receipt_of(std::string_view key, std::string_view text, std::string_view receipt) {
  return core::constant_time_equal(receipt_of(key, text), receipt);
}

}  // namespace league::game
