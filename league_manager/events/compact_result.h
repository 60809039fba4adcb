#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "game/result.h"

namespace league::league_manager::events {

/// The 256-bit seed of a match's draw. Source: protocol §7.
using DrawSeed = game::Seed;

/// Reasons that the manager itself gives for ending a match without a referee's report.
inline constexpr std::string_view kReasonPlayerShutDown = "PLAYER_SHUT_DOWN";
inline constexpr std::string_view kReasonNoReferee = "NO_REFEREE";
inline constexpr std::string_view kReasonRoundTimeLimit = "ROUND_TIME_LIMIT";

inline constexpr int kMostIncidents = 100;

/// A finished match in few bytes; the full result is in the journal. Reason and choices are kept as
/// fingerprints only, enough to tell a repeated report from a different one.
struct CompactResult {
  std::uint32_t reason_fingerprint = 0;  ///< 0 for a match that was played
  std::uint32_t choices_fingerprint = 0;
  std::int16_t referee = -1;  ///< who had it last; -1 for nobody
  std::uint16_t attempt = 0;  ///< the last one; 0 if never assigned
  game::PerSide<std::uint8_t> points = {};  ///< for the table
  /// The places of the choices in the game's words, counted from 1; 0 for none.
  game::PerSide<std::uint8_t> choices = {};
  std::uint8_t drawn_number = 0;  ///< 0 for none
  game::Outcome outcome = game::Outcome::kNoWinner;
  std::optional<game::Fairness> fairness = std::nullopt;  ///< see MatchReported
  bool by_manager : 1 = false;  ///< ended without a report
  bool is_voided : 1 = false;  ///< by the operator: it counts for nothing
  bool is_unplayed : 1 = false;  ///< no result: the operator ended the league before
  bool is_unproven : 1 = false;  ///< its referee did not reveal the seed, see MatchReported
  /// Conflicting and stale reports on record, at most kMostIncidents.
  std::uint8_t incidents = 0;

  [[nodiscard]] static CompactResult of(const game::MatchResult& result,
                                        const game::Definition& rules);
  /// Whether the result is the same; the reporting referee does not matter.
  [[nodiscard]] bool same_result(const CompactResult& other) const;
  [[nodiscard]] bool is_technical() const { return reason_fingerprint != 0; }

  bool operator==(const CompactResult&) const = default;
};

}  // namespace league::league_manager::events
