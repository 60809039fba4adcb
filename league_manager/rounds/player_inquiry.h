#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/task/latch.h"
#include "league_manager/core/player_record.h"
#include "league_manager/rounds/announcer.h"

namespace league::league_manager::rounds {

/// Asks players what they were called for in a match (`get_match_record`), before the manager
/// decides a report against them. Each player is asked once per match and attempt, in parallel with
/// its opponent; whoever asks again gets the same answer. A player that does not answer within two
/// seconds, refuses the connection or answers with an error has no word. A suspended player has
/// only 100 ms once it has left two questions in a row unanswered, until it answers something:
/// rounds would otherwise wait for the dead; a suspended person has no more at once. Source:
/// protocol §7, "Losses are heard on both sides".
class PlayerInquiry {
 public:
  /// The answers, in the order of the asked players; nothing: the manager is about to end, and
  /// nobody knows what the players would have said.
  using Answers = std::optional<std::vector<PlayerAnswer>>;
  using Then = std::function<void(Answers)>;

  /// The references of `dependencies` outlive it.
  explicit PlayerInquiry(const RoundDependencies& dependencies);

  /// On any thread. `then` runs once, on the executor, perhaps before this returns; never if the
  /// inquiry is destroyed before the calls to the players have ended.
  void ask(events::MatchKey match, int attempt, std::vector<int> players, Then then) {
    tasks_.spawn(tell(match, attempt, std::move(players), std::move(then)));
  }
  /// Asks `players` before there is a report: their answers are not kept, since they may change. On
  /// the executor only.
  [[nodiscard]] task::Task<Answers> ask_early(events::MatchKey match, std::vector<int> players) {
    return answers_of(match, kEarly, std::move(players));
  }

 private:
  static constexpr int kEarly = 0;  ///< in place of an attempt
  struct Key {
    events::MatchKey match;
    int attempt = kEarly;
    int player = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Question {
    task::Latch open{1};
    bool is_answered = false;
    std::optional<PlayerAnswer> answer = std::nullopt;  ///< nothing: the manager is about to end
  };

  task::Task<void> tell(events::MatchKey match, int attempt, std::vector<int> players, Then then);
  task::Task<Answers> answers_of(events::MatchKey match, int attempt, std::vector<int> players);
  /// The question to one player, which is asked unless it has been before.
  std::shared_ptr<Question> question_of(const Key& key);
  task::Task<void> ask_one(Key key, std::shared_ptr<Question> question,
                           std::chrono::milliseconds limit);
  /// Calls the player.
  task::Task<core::Result<nlohmann::json>> call(Key key, std::chrono::milliseconds limit);
  void forget_before(int round);

  const RoundDependencies& deps_;
  std::map<Key, std::shared_ptr<Question>> questions_;
  std::map<int, int> silent_;  // by player: questions without a word, in a row
  task::Scope tasks_;  // last: they use everything above
};

}  // namespace league::league_manager::rounds
