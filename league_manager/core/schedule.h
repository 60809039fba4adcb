#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "league_manager/events/match_key.h"

namespace league::league_manager {

/// Who plays whom, in which role; players by their index in the order of registration.
struct Pairing {
  int player_a = 0;
  int player_b = 0;

  bool operator==(const Pairing&) const = default;
};

/// The name of the rule below, written to the journal so that a later rule cannot silently change a
/// running league.
inline constexpr const char* kScheduleRule = "circle-1";

/// Round robin by the circle method: each pair once, each player at most once a round, byes rotate
/// with an odd count, and every player is A as often as B (difference at most 1). Source: protocol
/// §7.
///
/// Nothing is stored: every answer is computed from the number of players, so a league of 1,000
/// costs no more memory than one of 2. Immutable, so safe from any thread.
class Schedule {
 public:
  Schedule() = default;
  /// `players` is 0 (an empty schedule) or at least 2.
  explicit Schedule(int players);

  [[nodiscard]] int players() const { return players_; }
  [[nodiscard]] int rounds() const { return circle_; }
  /// The same in every round.
  [[nodiscard]] int matches_per_round() const { return players_ / 2; }
  [[nodiscard]] std::size_t total_matches() const;

  [[nodiscard]] bool contains(MatchKey match) const;
  /// Who plays `match`, which must be in the schedule.
  [[nodiscard]] Pairing pairing(MatchKey match) const;
  /// All matches of `round` (1 ... rounds()), by number.
  [[nodiscard]] std::vector<Pairing> round(int round) const;
  /// The match of `player` in `round`; nothing if it has a bye.
  [[nodiscard]] std::optional<MatchKey> match_of(int player, int round) const;

  bool operator==(const Schedule&) const = default;

 private:
  [[nodiscard]] Pairing with_roles(int x, int y) const;

  int players_ = 0;
  int circle_ = 0;  // players on the circle: one fewer than an even count, all of an odd count
};

}  // namespace league::league_manager
