#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "common/agent/agent_server.h"
#include "common/agent/registration.h"
#include "common/core/timer.h"
#include "player/history.h"
#include "player/misbehaviour.h"
#include "player/strategy.h"

namespace league::player {

struct PlayerOptions {
  std::string display_name;
  std::string strategy = "random";  ///< a strategy's or a misbehaviour's name
  envelope::Mode mode = envelope::Mode::kOpen;
  /// Serves without being registered: whoever calls is believed, so that a checker can try the bot.
  bool standalone = false;
};

/// What a player needs from its program; all references outlive the service.
struct PlayerDependencies {
  core::Timer& timer;
  const core::Clock& clock;
  core::RandomSource& random;  ///< of the strategy
  const envelope::MessageSchemas& schemas;
};

/// A player: answers invitations and choices, remembers what happened. Thread-safe.
class PlayerService {
 public:
  /// Fails with the list of known names for an unknown strategy.
  [[nodiscard]] static core::Result<std::unique_ptr<PlayerService>> create(
      PlayerOptions options, const PlayerDependencies& dependencies);

  [[nodiscard]] transport::MessageHandler& handler() { return server_; }
  /// From now on the service is `identity`, and checks the tokens that it is shown.
  void set_identity(const agent::Identity& identity);
  /// Runs when the manager says that the league is over. Set before messages arrive.
  void on_league_completed(std::function<void(const envelope::LeagueCompleted&)> callback);

  /// Gives the player what it remembers from before. To be called before `set_identity`.
  void remember(MatchHistory history);
  /// Told of each match whose end the player has learned of; must be short. Set before messages
  /// arrive.
  void on_match_over(std::function<void(const PlayedMatch&)> callback);
  [[nodiscard]] MatchHistory history() const;
  /// Empty before registration.
  [[nodiscard]] core::PlayerId player_id() const;

 private:
  /// A match that this player was invited to and that is not over.
  struct OpenMatch {
    core::PlayerId opponent;
    int round_id = 0;
    std::optional<Parity> choice;
    core::AuthToken credential;  ///< of the invitation, found right: spares the HMAC of later calls
  };

  PlayerService(PlayerOptions options, const PlayerDependencies& dependencies,
                std::unique_ptr<Strategy> strategy, std::optional<Misbehaviour> misbehaviour);
  void bind_handlers();
  [[nodiscard]] core::Result<void> check_token(const envelope::Envelope& envelope) const;
  /// Whether `shown` is what the referee of this open match showed in its invitation.
  [[nodiscard]] bool is_known_credential(const core::MatchId& match, std::string_view shown) const;
  void on_invitation(agent::Call<envelope::GameInvitation> call);
  void on_choose(agent::Call<envelope::ChooseParityCall> call);
  void on_game_over(agent::Call<envelope::GameOver> call);
  void on_get_player_state(agent::ToolCall call);
  [[nodiscard]] Parity choose(const envelope::Envelope& envelope,
                              const envelope::ChooseParityCall& call);
  /// From player `id`.
  [[nodiscard]] envelope::Envelope reply_envelope(envelope::MessageType type,
                                                  const envelope::Envelope& request,
                                                  const core::PlayerId& id) const;
  [[nodiscard]] core::PlayerId own_id(const core::PlayerId& fallback) const;
  /// Sends a game answer, late, spoilt or not at all where this player misbehaves.
  void answer(agent::Reply reply, nlohmann::json message);
  void misbehave(agent::Reply reply, nlohmann::json message);

  const PlayerOptions options_;
  const PlayerDependencies deps_;
  const std::unique_ptr<Strategy> strategy_;
  const std::optional<Misbehaviour> misbehaviour_;
  agent::AgentServer server_;
  std::function<void(const envelope::LeagueCompleted&)> on_completed_;
  std::function<void(const PlayedMatch&)> on_match_over_;

  mutable std::mutex mutex_;
  std::unique_ptr<envelope::EnvelopeBuilder> envelopes_;
  agent::Identity identity_;
  MatchHistory history_;
  std::map<core::MatchId, OpenMatch> open_matches_;
  std::vector<std::shared_ptr<agent::Reply>> never_answered_;  // of `silent`
};

}  // namespace league::player
