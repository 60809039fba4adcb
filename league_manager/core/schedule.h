#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "game/side.h"
#include "league_manager/events/match_key.h"

namespace league::league_manager {

/// Who plays whom, in which role; players by their index in the order of registration.
struct Pairing {
  int player_a = 0;
  int player_b = 0;

  [[nodiscard]] int player(game::Side side) const {
    return side == game::Side::kA ? player_a : player_b;
  }
  [[nodiscard]] bool has(int player) const { return player == player_a || player == player_b; }

  bool operator==(const Pairing&) const = default;
};

/// The name of the rule below, written to the journal so that a later rule cannot silently change a
/// running league.
inline constexpr const char* kScheduleRule = "circle-1";

/// Round robin by the circle method: each pair once, each player at most once a round, byes rotate
/// with an odd count, and every player is A as often as B (difference at most 1). With several
/// meetings the same rounds follow each other that often, with the roles changed each time. Source:
/// protocol §7.
///
/// These rounds are not stored but computed from the number of players, so a league of 1,000 needs
/// no more memory than one of 2. They are followed by the rounds of replays of void matches, which
/// are stored. Not thread-safe while replays are added.
class Schedule {
 public:
  Schedule() = default;
  /// `players` is 0 (an empty schedule) or at least 2. They have the lowest indices that are not in
  /// `absent`, which is in order.
  explicit Schedule(int players, std::vector<int> absent = {}, int meetings = 1);

  [[nodiscard]] int players() const { return players_; }
  /// How often each pair meets.
  [[nodiscard]] int meetings() const { return meetings_; }
  [[nodiscard]] int rounds() const { return regular_rounds() + static_cast<int>(replays_.size()); }
  /// In `round`, which must be one of 1 ... rounds().
  [[nodiscard]] int matches_in(int round) const;
  [[nodiscard]] std::size_t total_matches() const;
  /// The `index`-th match (from 0, below total_matches()) by round and number; index_of is the
  /// inverse.
  [[nodiscard]] events::MatchKey match_at(std::size_t index) const;
  [[nodiscard]] std::size_t index_of(events::MatchKey match) const;

  /// The key of a replay of `match`, which must be in the schedule: in the first round of replays
  /// after `round` in which neither of its players has a match yet. Source: protocol §12.
  [[nodiscard]] events::MatchKey next_replay(events::MatchKey match, int round) const;
  /// Adds the replay that next_replay returns.
  void add_replay(events::MatchKey match, int round);
  /// The match that `match` repeats; nothing for one of the round robin.
  [[nodiscard]] std::optional<events::MatchKey> replay_of(events::MatchKey match) const;
  /// Which meeting of its pair `match` is (1 ... meetings()); a replay is the one that it repeats.
  [[nodiscard]] int meeting_of(events::MatchKey match) const;
  /// The matches of the same pair in earlier rounds, in order, void ones and replays included.
  [[nodiscard]] std::vector<events::MatchKey> earlier_matches(events::MatchKey match) const;

  [[nodiscard]] bool contains(events::MatchKey match) const;
  /// Who plays `match`, which must be in the schedule.
  [[nodiscard]] Pairing pairing(events::MatchKey match) const;
  /// All matches of `round` (1 ... rounds()), by number.
  [[nodiscard]] std::vector<Pairing> round(int round) const;
  /// The match of `player` in `round`; nothing if it has none.
  [[nodiscard]] std::optional<events::MatchKey> match_of(int player, int round) const;

  bool operator==(const Schedule&) const = default;

 private:
  /// The index of the player at this place among those that play, and the inverse.
  [[nodiscard]] int player_at(int place) const;
  [[nodiscard]] int place_of(int player) const;
  [[nodiscard]] Pairing with_roles(int x, int y) const;
  [[nodiscard]] int regular_rounds() const { return circle_ * meetings_; }
  [[nodiscard]] std::size_t regular_matches() const {
    return static_cast<std::size_t>(regular_rounds()) * static_cast<std::size_t>(players_ / 2);
  }
  [[nodiscard]] std::size_t replay_round(int round) const {
    return static_cast<std::size_t>(round - regular_rounds() - 1);
  }

  int players_ = 0;
  int circle_ = 0;  // players on the circle: one fewer than an even count, all of an odd count
  int meetings_ = 1;
  std::vector<int> absent_;
  std::vector<std::vector<events::MatchKey>> replays_;  // the repeated matches, by round of replays
};

}  // namespace league::league_manager
