#pragma once

#include <compare>
#include <optional>
#include <string_view>

#include "common/core/ids.h"

namespace league::league_manager::events {

/// A match by its place in the schedule; both numbers start at 1. Source: protocol §1
/// (`R{round}M{n}`).
struct MatchKey {
  int round = 0;
  int number = 0;

  /// Accepts exactly what `id` writes; nothing for any other text. Does not check that the match
  /// exists.
  [[nodiscard]] static std::optional<MatchKey> parse(std::string_view match_id);
  /// `R1M1`.
  [[nodiscard]] core::MatchId id() const;

  auto operator<=>(const MatchKey&) const = default;
};

/// `convr1m1001` for the first attempt at R1M1, `convr1m1002` for the second. Source: protocol §2.
[[nodiscard]] core::ConversationId match_conversation(MatchKey match, int attempt);

}  // namespace league::league_manager::events
