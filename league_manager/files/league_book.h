#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "league_manager/core/league.h"

namespace league::league_manager::files {

/// The content of a journal, for code that only reads it. Not thread-safe.
class LeagueBook {
 public:
  /// The latest event that changed a part of the league, see table_change and rounds_change.
  struct LastChange {
    std::uint64_t entry = 0;  ///< its number in the journal; 0: none yet
    core::UtcTimestamp at;
  };
  struct RoundNote {
    core::UtcTimestamp started_at;
    std::optional<core::UtcTimestamp> completed_at;
  };
  struct MatchNote {
    core::UtcTimestamp finished_at;
    std::string technical_reason;  ///< empty for a match that was played
    events::DrawSeed seed{};  ///< of its draw; a secret until the match is finished
  };

  struct StateNote {
    core::UtcTimestamp at;
    events::AgentStateChanged change;
  };
  struct ActNote {
    core::UtcTimestamp at;
    events::OperatorActed act;
  };
  /// Makes the next event of the journal part of the book. Fails if it does not fit, or if the
  /// league's game is unknown.
  [[nodiscard]] core::Result<void> apply(const events::Event& event);

  /// Whether there is a league: true after the first event.
  [[nodiscard]] bool is_open() const { return league_.has_value(); }
  /// The league; only when the book is open.
  [[nodiscard]] const League& league() const { return *league_; }
  /// Events so far.
  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  [[nodiscard]] const LastChange& table_change() const { return table_change_; }
  [[nodiscard]] const LastChange& rounds_change() const { return rounds_change_; }
  /// Rounds that have been started, from the first.
  [[nodiscard]] const std::vector<RoundNote>& rounds() const { return rounds_; }
  /// The note of a match, whose round must have been started.
  [[nodiscard]] const MatchNote& note(events::MatchKey match) const {
    return notes_[static_cast<std::size_t>(match.round - 1)]
                 [static_cast<std::size_t>(match.number - 1)];
  }
  /// What was chosen in a finished match, in the game's words; empty for no choice.
  [[nodiscard]] game::PerSide<std::string_view> choices(events::MatchKey match) const;
  /// Why the player on `side` lost a match technically, as its referee said; null where no cause is
  /// known, as in old journals.
  [[nodiscard]] const events::FailureCause* cause(events::MatchKey match, game::Side side) const;
  /// The changes of states of all agents, in the order in which they happened.
  [[nodiscard]] const std::vector<StateNote>& state_changes() const { return state_changes_; }
  /// What the operator did to the league, in order.
  [[nodiscard]] const std::vector<ActNote>& acts() const { return acts_; }
  /// See League::table.
  [[nodiscard]] std::vector<RankedPlayer> table() const { return league_->table(); }

 private:
  void take_notes(const events::Event& event);
  void finish(events::MatchKey match, const game::MatchResult& result, core::UtcTimestamp at);

  std::optional<League> league_;
  std::uint64_t entries_ = 0;
  LastChange table_change_;
  LastChange rounds_change_;
  std::vector<RoundNote> rounds_;
  std::vector<std::vector<MatchNote>> notes_;  // by round and number
  std::map<events::MatchKey, game::PerSide<std::optional<events::FailureCause>>> causes_;
  std::vector<StateNote> state_changes_;
  std::vector<ActNote> acts_;
};

/// Whether `event` changes the table, or its head.
[[nodiscard]] bool changes_table(const events::EventBody& event);
/// Whether `event` changes what is known of rounds and matches.
[[nodiscard]] bool changes_rounds(const events::EventBody& event);

}  // namespace league::league_manager::files
