#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/agent/seats/seat_door.h"
#include "common/core/result.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/events/match_key.h"
#include "league_manager/files/ledger.h"

namespace league::league_manager::admission {

/// Who may call the players that come to us: the referee of an attempt at a match, with the match's
/// credential, or a third-party one with its own token. Invitations and calls for a choice only
/// while that attempt is open; results and errors also after it, until the next round
/// is over.
/// Immutable, so thread-safe. Source: protocol §10.
class SeatAdmission {
 public:
  /// Both references outlive it.
  SeatAdmission(const files::Ledger& ledger, const TokenIssuer& issuer)
      : ledger_(&ledger), issuer_(&issuer) {}

  /// The referee that makes this call, as `referee:REF01`. Everybody else is refused with
  /// kAuthTokenInvalid and the same text, and the right referee of an attempt that is over with
  /// kMatchNotOpen.
  [[nodiscard]] core::Result<std::string> admit(const agent::seats::SeatClaim& claim) const;
  /// The referee whose match credential for a player that comes to us is `shown` in `body`; for the
  /// rate limiter. Nothing for any other text.
  [[nodiscard]] std::optional<std::string> holder_of(std::string_view shown,
                                                     std::string_view body) const;

 private:
  /// The attempt of `match` whose credential for `player` is `shown`.
  [[nodiscard]] bool is_credential(const League& league, int player, events::MatchKey match,
                                   int attempt, std::string_view shown) const;

  const files::Ledger* ledger_;
  const TokenIssuer* issuer_;
};

}  // namespace league::league_manager::admission
