#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "league_manager/events/events.h"

namespace league::league_manager {

enum class MatchStatus : std::uint8_t {
  kPending,  ///< waits for a referee
  kAssigned,  ///< with a referee
  kFinished,
};

/// The maximum number of attempts at a match, whatever the settings say. Excused attempts do not
/// count; see kMostAssignments.
inline constexpr int kMostAttempts = 15;
/// The maximum number of times that a match is assigned, including excused attempts.
inline constexpr int kMostAssignments = 50'000;
/// The board remembers the referees of this many attempts, the last ones.
inline constexpr int kKnownAttempts = 16;

/// One match of the current round.
struct MatchSlot {
  MatchStatus status = MatchStatus::kPending;
  bool is_excused = false;  ///< the last release did not count, see MatchReleased
  std::uint16_t attempts = 0;
  std::uint16_t excused = 0;  ///< how many of the attempts were excused
  /// How often a report was refused because a receipt contradicts it.
  std::uint8_t contradicted_by_receipt = 0;
  bool is_loss_contradicted = false;  ///< a loss was refused because its player contradicts it
  /// Of the players A and B: whether the player was suspended when the match was assigned.
  std::array<bool, 2> suspended{};
  /// The players that contradict the reported loss, by the last question; -1: none.
  std::array<std::int32_t, 2> contradicting{-1, -1};
  std::int16_t planned_referee = -1;
  /// Indexed by attempt modulo kKnownAttempts; the referee of the last attempt has the match while
  /// the status is kAssigned.
  std::array<std::int16_t, kKnownAttempts> referees{};
  core::UtcTimestamp since;  ///< when it got its status: waiting, or assigned to its referee
  std::optional<events::MatchKey> after;  ///< see MatchAssigned
  events::DrawSeed seed{};
  events::CompactResult result;  ///< once finished; its `incidents` count from the start

  /// The referee that has the match or had it last; -1: none.
  [[nodiscard]] int referee() const { return attempts == 0 ? -1 : referee_of(attempts); }
  /// The referee of `attempt`; -1 if there was no such attempt or the board has forgotten it.
  [[nodiscard]] int referee_of(int attempt) const {
    if (attempt < 1 || attempt > attempts || attempt <= attempts - kKnownAttempts) return -1;
    return referees[static_cast<std::size_t>(attempt % kKnownAttempts)];
  }
  /// Attempts that count towards giving the match up. Those that ended because a player contradicts
  /// its referee do not, or that player could end the match without a winner.
  [[nodiscard]] int counted_attempts() const {
    return attempts - excused - contradicted_by_receipt - (is_loss_contradicted ? 1 : 0);
  }
  /// The last attempt that `referee` had; 0 for none.
  [[nodiscard]] int last_attempt_of(int referee) const;

  bool operator==(const MatchSlot&) const = default;
};

/// The matches of one round, counted from 0. Copy-on-write, since every decision works on a copy
/// and changes only a few matches: a copy costs one pointer for each 32 matches. Not thread-safe;
/// all copies of one table need the same lock.
class MatchSlots {
 public:
  /// Replaces the content with `count` pending matches.
  void reset(std::size_t count);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const MatchSlot& operator[](std::size_t index) const {
    return (*blocks_[index / kBlock])[index % kBlock];
  }
  /// The match, to be changed; the reference is valid until the table is copied.
  [[nodiscard]] MatchSlot& change(std::size_t index);

  bool operator==(const MatchSlots& other) const;

 private:
  static constexpr std::size_t kBlock = 32;
  using Block = std::array<MatchSlot, kBlock>;

  std::vector<std::shared_ptr<Block>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace league::league_manager
