#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "league_manager/events.h"

namespace league::league_manager {

enum class MatchStatus : std::uint8_t {
  kPending,  ///< waits for a referee
  kAssigned,  ///< with a referee
  kFinished,
};

/// No match is ever tried more often than this, whatever the settings say; excused attempts do not
/// count ...
inline constexpr int kMostAttempts = 15;
/// ... but with them no match is assigned more often than this.
inline constexpr int kMostAssignments = 50'000;
/// Of so many attempts the board knows the referee.
inline constexpr int kKnownAttempts = 16;

/// One match of the current round. Trivial to copy, because every decision copies the board.
struct MatchSlot {
  MatchStatus status = MatchStatus::kPending;
  bool is_excused = false;  ///< the last release did not count, see MatchReleased
  std::uint16_t attempts = 0;
  std::uint16_t excused = 0;  ///< of the attempts
  std::int16_t planned_referee = -1;
  /// By attempt, modulo their number; the last one has the match while it is assigned.
  std::array<std::int16_t, kKnownAttempts> referees{};
  core::UtcTimestamp since;  ///< it waits, or is with its referee
  std::optional<MatchKey> after;  ///< see MatchAssigned
  DrawSeed seed{};
  CompactResult result;  ///< once finished; its `incidents` count from the start

  /// Who has or had it last; -1 for nobody.
  [[nodiscard]] int referee() const { return attempts == 0 ? -1 : referee_of(attempts); }
  /// Who had `attempt`; -1 if there was no such attempt or it is too long ago.
  [[nodiscard]] int referee_of(int attempt) const {
    if (attempt < 1 || attempt > attempts || attempt <= attempts - kKnownAttempts) return -1;
    return referees[static_cast<std::size_t>(attempt % kKnownAttempts)];
  }
  /// Attempts that count towards giving the match up.
  [[nodiscard]] int counted_attempts() const { return attempts - excused; }
  /// The last attempt that `referee` had; 0 for none.
  [[nodiscard]] int last_attempt_of(int referee) const;

  bool operator==(const MatchSlot&) const = default;
};

/// The matches of the round that is played, and how much every referee has in hand. A value: a
/// decision is tried on a copy. Changed by events only. Not thread-safe.
class RoundBoard {
 public:
  RoundBoard() = default;
  explicit RoundBoard(int referees);

  /// The current round; 0 before the first.
  [[nodiscard]] int round() const { return round_; }
  [[nodiscard]] core::UtcTimestamp started_at() const { return started_at_; }
  [[nodiscard]] int matches() const { return static_cast<int>(slots_.size()); }
  [[nodiscard]] int unfinished() const { return unfinished_; }
  [[nodiscard]] bool contains(MatchKey match) const {
    return match.round == round_ && match.number >= 1 && match.number <= matches();
  }
  /// `match` must be contained.
  [[nodiscard]] const MatchSlot& slot(MatchKey match) const {
    return slots_[static_cast<std::size_t>(match.number - 1)];
  }
  /// Matches of the round by status, in order.
  [[nodiscard]] std::vector<MatchKey> with_status(MatchStatus status) const;
  /// Matches that `referee` has in hand, in order.
  [[nodiscard]] std::vector<MatchKey> open_matches(int referee) const;
  [[nodiscard]] int open_count(int referee) const {
    return load_[static_cast<std::size_t>(referee)].open;
  }
  /// Matches assigned to `referee` in the whole league.
  [[nodiscard]] int assigned_total(int referee) const {
    return load_[static_cast<std::size_t>(referee)].total;
  }
  [[nodiscard]] int referees() const { return static_cast<int>(load_.size()); }
  [[nodiscard]] std::vector<CompactResult> results() const;

  /// Does what `event` says to the board; events about other things do nothing. The event must fit
  /// (League checks).
  void apply(const Event& event);

  bool operator==(const RoundBoard&) const = default;

 private:
  struct Load {
    int open = 0;
    int total = 0;
    bool operator==(const Load&) const = default;
  };

  void start(const RoundStarted& event, core::UtcTimestamp at);
  void continue_at(core::UtcTimestamp at);
  void assign(const MatchAssigned& event, core::UtcTimestamp at);
  void take_back(MatchSlot& slot);
  void release(const MatchReleased& event, core::UtcTimestamp at);
  void finish(MatchKey match, const MatchResult& result, bool by_manager);
  void note_incident(MatchKey match);
  MatchSlot& at(MatchKey match) { return slots_[static_cast<std::size_t>(match.number - 1)]; }

  int round_ = 0;
  core::UtcTimestamp started_at_;
  int unfinished_ = 0;
  std::vector<MatchSlot> slots_;
  std::vector<Load> load_;
};

}  // namespace league::league_manager
