#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "league_manager/core/player_record.h"
#include "league_manager/rounds/announcer.h"

namespace league::league_manager::rounds {

/// Asks players what they were called for in a match (`get_match_record`), before the manager
/// decides a report against them. Each player is asked once per match and attempt, in parallel with
/// its opponent; whoever asks again gets the same answer. A player that does not answer within two
/// seconds, refuses the connection or answers with an error has no word. A suspended player has
/// only 100 ms once it has left two questions in a row unanswered, until it answers something:
/// rounds would otherwise wait for the dead. Thread-safe. Source: protocol §7, "Losses are heard on
/// both sides".
class PlayerInquiry {
 public:
  /// The answers, in the order of the asked players; nothing: the manager is about to end, and
  /// nobody knows what the players would have said.
  using Then = std::function<void(std::optional<std::vector<PlayerAnswer>>)>;

  /// The references of `dependencies` outlive it and its last call.
  explicit PlayerInquiry(const RoundDependencies& dependencies) : deps_(dependencies) {}

  /// `then` runs once, perhaps before this returns; never while a lock is held.
  void ask(events::MatchKey match, int attempt, const std::vector<int>& players, Then then);
  /// Asks `players` before there is a report: their answers are not kept, since they may change.
  void ask_early(events::MatchKey match, const std::vector<int>& players, Then then) {
    ask(match, kEarly, players, std::move(then));
  }

 private:
  static constexpr int kEarly = 0;  ///< in place of an attempt
  struct Key {
    events::MatchKey match;
    int attempt = kEarly;
    int player = 0;
    auto operator<=>(const Key&) const = default;
  };
  /// Null: the manager is about to end.
  using Answer = std::shared_ptr<const PlayerAnswer>;
  struct Question {
    bool is_answered = false;
    Answer answer;
    std::vector<std::function<void(Answer)>> waiting;
  };

  void ask_one(const Key& key, std::function<void(Answer)> then);
  void call(const Key& key, std::chrono::milliseconds limit);
  void on_answer(const Key& key, const core::Result<nlohmann::json>& answer);
  /// Needs `mutex_`.
  void forget_before(int round);

  const RoundDependencies& deps_;
  std::mutex mutex_;
  std::map<Key, Question> questions_;
  std::map<int, int> silent_;  // by player: questions without a word, in a row
};

}  // namespace league::league_manager::rounds
