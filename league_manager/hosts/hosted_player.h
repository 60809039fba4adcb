#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/agent/identity/registration.h"
#include "common/agent/seats/seats.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/task/executor.h"
#include "common/task/latch.h"
#include "game/games.h"
#include "player/service/player_service.h"

namespace league::league_manager::hosts {

/// A match in which the player has to choose, or has chosen and waits for the result.
struct Turn {
  core::MatchId match{};
  core::PlayerId opponent{};
  core::UtcTimestamp until{};  ///< later than this a choice is too late
  std::string choice{};  ///< empty: not made yet
  bool is_shown = false;  ///< await_turn has told it
};

/// A player that this manager runs for a client that has nothing but tools: our player's own
/// service, at a seat inside the manager, whose choices the client makes. It is used on one
/// executor only. Source: protocol §10.
class HostedPlayer {
 public:
  struct Context {
    core::Timer& timer;
    const core::Clock& clock;
    core::RandomSource& random;
    const envelope::MessageSchemas& schemas;
    agent::seats::Seats& seats;
    player::service::OpenMatchFile* open_matches;  ///< may be null
    task::Executor executor;  ///< on which it is used
    std::chrono::milliseconds limit;  ///< for a choice
    game::SharedDefinition game;  ///< that the league plays
    /// It disputes the result of a match.
    std::function<void(const agent::identity::Identity&, const player::DisputedMatch&)> dispute;
  };
  /// How a choice was taken, or why it was not.
  struct Taken {
    std::optional<Turn> turn = std::nullopt;  ///< in which it was
    std::optional<core::Error> refusal = std::nullopt;
  };

  /// The references of `context` outlive it.
  HostedPlayer(Context context, std::string display_name, agent::identity::Identity identity);
  ~HostedPlayer();
  HostedPlayer(const HostedPlayer&) = delete;
  HostedPlayer& operator=(const HostedPlayer&) = delete;

  [[nodiscard]] const agent::identity::Identity& identity() const { return identity_; }
  [[nodiscard]] player::MatchHistory history() const;
  /// Whether it has ever got a call. Then messages and timers of its service may be on their way,
  /// and it must be kept; before that it is small, and nothing refers to it.
  [[nodiscard]] bool has_played() const { return service_ != nullptr; }
  /// Takes the seat, unless it sits there: calls arrive from now on.
  void sit();
  [[nodiscard]] bool is_seated() const;
  /// Leaves it for good; nothing arrives any more.
  void close();

  /// The match that waits for a choice, or whose result is awaited; null: there is none.
  [[nodiscard]] Turn* turn();
  /// Whether there is something that await_turn has not told yet.
  [[nodiscard]] bool has_news();
  void note_told();
  /// Makes the choice, a word of the game in any case, for the match that was shown.
  [[nodiscard]] Taken choose(const std::string& word);

  /// The waiting client is told, or gives up its place for a newer one.
  void wake();
  /// Waits for news, no longer than `limit`; `this` outlives the task. False: a newer call of the
  /// client waits instead.
  [[nodiscard]] task::Task<bool> wait(std::chrono::nanoseconds limit);

 private:
  class Line;
  struct Asked {
    Turn turn;
    std::function<void(std::string)> chosen;
    std::unique_ptr<task::ScheduledCall> at_end;  ///< of the time for the choice
    bool is_missed = false;
  };

  /// Our player's service, made when its first call arrives; null, and said in the operator's log,
  /// if that is not possible.
  [[nodiscard]] player::service::PlayerService* service();
  [[nodiscard]] core::Result<std::unique_ptr<player::service::PlayerService>> make_service();
  void deliver(const std::shared_ptr<Line>& line, std::shared_ptr<const std::string> bytes);
  void ask(player::OpenMatch match, std::function<void(std::string)> chosen);
  void end(const core::MatchId& match);
  /// Notices that the time for a choice is over.
  void expire();

  const Context context_;
  const std::string display_name_;
  const agent::identity::Identity identity_;
  std::shared_ptr<Line> line_;
  std::deque<Asked> asked_;  ///< usually none or one
  std::optional<Turn> missed_;  ///< the last match in which no choice was made in time
  bool has_news_ = true;  ///< the first call tells where the player is
  std::shared_ptr<task::Latch> waiting_;
  std::unique_ptr<player::service::PlayerService> service_;  // last: it calls the rest
};

}  // namespace league::league_manager::hosts
