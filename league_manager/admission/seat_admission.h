#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/agent/seats/seat_door.h"
#include "common/core/result.h"
#include "league_manager/admission/seat_calls.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/events/match_key.h"
#include "league_manager/files/ledger.h"

namespace league::league_manager::admission {

/// Who may call the players that come to us: the referee of an attempt at a match, with the match's
/// credential, or a third-party one with its own token. Invitations and calls for a choice only
/// while that attempt is open; results and errors also after it, until the next round
/// is over.
/// Thread-safe. Source: protocol §10.
class SeatAdmission {
 public:
  /// What a referee shows the players of its matches: `match`, `token:HASH` or `none` (protocol
  /// §8).
  using Announced = std::function<std::optional<std::string>(const League&, int referee)>;

  /// All references outlive it.
  SeatAdmission(const files::Ledger& ledger, const TokenIssuer& issuer, Announced announced,
                SeatCalls& calls)
      : ledger_(&ledger), issuer_(&issuer), announced_(std::move(announced)), calls_(&calls) {}

  /// The referee that makes this call; notes when it asks for an answer. Everybody else is refused
  /// with kAuthTokenInvalid and the same text, and the right referee of an attempt that is over
  /// with kMatchNotOpen.
  [[nodiscard]] core::Result<agent::seats::SeatVisitor> admit(
      const agent::seats::SeatClaim& claim) const;
  /// The player that comes to us whose match credential is `shown` in `body`; for the rate limiter,
  /// since that player can make it, too. Nothing for any other text.
  [[nodiscard]] std::optional<std::string> holder_of(std::string_view shown,
                                                     std::string_view body) const;

 private:
  /// Whether `shown` is the credential of this attempt at `match` for `player`.
  [[nodiscard]] bool is_credential(const League& league, int player, events::MatchKey match,
                                   int attempt, std::string_view shown) const;

  const files::Ledger* ledger_;
  const TokenIssuer* issuer_;
  Announced announced_;
  SeatCalls* calls_;
};

}  // namespace league::league_manager::admission
