#pragma once

#include <array>
#include <chrono>
#include <vector>

#include "league_manager/core/match_set.h"
#include "league_manager/core/match_slots.h"
#include "league_manager/events/events.h"

namespace league::league_manager {

/// The matches of the current round, and how many of them each referee has. A value that is cheap
/// to copy: decisions are tried on a copy. Changed by events only. Not thread-safe; all copies of
/// one board need the same lock.
class RoundBoard {
 public:
  RoundBoard() = default;
  RoundBoard(int referees, game::SharedDefinition rules);

  /// The current round; 0 before the first.
  [[nodiscard]] int round() const { return round_; }
  [[nodiscard]] core::UtcTimestamp started_at() const { return started_at_; }
  /// The time by which the operator has extended the round.
  [[nodiscard]] std::chrono::seconds extension() const { return extension_; }
  [[nodiscard]] int matches() const { return static_cast<int>(slots_.size()); }
  [[nodiscard]] int unfinished() const { return unfinished_; }
  [[nodiscard]] bool contains(events::MatchKey match) const {
    return match.round == round_ && match.number >= 1 && match.number <= matches();
  }
  /// `match` must be contained.
  [[nodiscard]] const MatchSlot& slot(events::MatchKey match) const {
    return slots_[static_cast<std::size_t>(match.number - 1)];
  }
  /// Matches of the round by status, in order.
  [[nodiscard]] std::vector<events::MatchKey> with_status(MatchStatus status) const;
  /// The pending matches that were assigned to a referee before, in order. All other pending
  /// matches have been waiting since started_at().
  [[nodiscard]] std::vector<events::MatchKey> pending_again() const { return keys_of(taken_back_); }
  /// Open matches of `referee`, in order.
  [[nodiscard]] std::vector<events::MatchKey> open_matches(int referee) const;
  /// 0 before the league has started, too.
  [[nodiscard]] int open_count(int referee) const { return load_of(referee).open; }
  /// Matches assigned to `referee` in the whole league.
  [[nodiscard]] int assigned_total(int referee) const { return load_of(referee).total; }
  [[nodiscard]] int referees() const { return static_cast<int>(load_.size()); }
  /// The results by match number; `is_unplayed` is set for a match without a result.
  [[nodiscard]] std::vector<events::CompactResult> results() const;

  /// Whether the players were suspended when `match` was assigned, which the board cannot know by
  /// itself.
  void note_suspended(events::MatchKey match, std::array<bool, 2> suspended) {
    at(match).suspended = suspended;
  }
  /// Applies `event`, which must fit the board's state (League checks it); ignores events about
  /// other things.
  void apply(const events::Event& event);
  /// The limits of the round and of waiting matches begin again.
  void continue_at(core::UtcTimestamp at);

  bool operator==(const RoundBoard&) const = default;

 private:
  struct Load {
    int open = 0;
    int total = 0;
    bool operator==(const Load&) const = default;
  };

  [[nodiscard]] Load load_of(int referee) const {
    const auto index = static_cast<std::size_t>(referee);
    return index < load_.size() ? load_[index] : Load{};
  }
  void start(const events::RoundStarted& event, core::UtcTimestamp at);
  void act(const events::OperatorActed& event, core::UtcTimestamp at);
  void assign(const events::MatchAssigned& event, core::UtcTimestamp at);
  void take_back(events::MatchKey match, MatchSlot& slot);
  void release(const events::MatchReleased& event, core::UtcTimestamp at);
  void finish(const events::MatchReported& event);
  void finish(const events::MatchForfeited& event);
  void finish(events::MatchKey match, events::CompactResult result);
  void note_incident(events::MatchKey match);
  void note_words(const events::PlayersAsked& event);
  [[nodiscard]] std::vector<events::MatchKey> keys_of(const MatchSet& matches) const;
  MatchSlot& at(events::MatchKey match) {
    return slots_.change(static_cast<std::size_t>(match.number - 1));
  }

  game::SharedDefinition rules_;
  int round_ = 0;
  core::UtcTimestamp started_at_;
  std::chrono::seconds extension_{0};
  int unfinished_ = 0;
  MatchSlots slots_;
  MatchSet pending_;
  MatchSet taken_back_;  ///< pending matches that were assigned before
  std::vector<Load> load_;
};

}  // namespace league::league_manager
