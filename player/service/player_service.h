#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "common/agent/host/agent_server.h"
#include "common/agent/host/log_head_reply.h"
#include "common/agent/identity/registration.h"
#include "common/core/timer.h"
#include "common/envelope/query_messages.h"
#include "game/receipt.h"
#include "player/core/call_log.h"
#include "player/core/game_over.h"
#include "player/core/history.h"
#include "player/core/misbehaviour.h"
#include "player/core/strategy.h"
#include "player/service/open_match_file.h"

namespace league::player::service {

struct PlayerOptions {
  std::string display_name;
  std::string strategy = "random";  ///< a strategy's or a misbehaviour's name
  envelope::Mode mode = envelope::Mode::kOpen;
  /// Serves without being registered: calls are accepted without credentials, so that a checker can
  /// test the bot.
  bool standalone = false;
  /// The program that started this one registers the player and tells it the answer
  /// (`notify_registration`), or the player finds its identity in its own data directory; until
  /// then calls wait. Other processes of the same player may play other matches.
  bool is_registered_by_caller = false;
  /// Commits to its choice when it joins a match with a draw commitment (protocol §7).
  bool commits = true;
  AnswerLimits limits = {};  ///< within which an answer counts, for disputes
  game::Games games = game::Games::standard();  ///< that it knows from the start
};

/// The dependencies of a player; all references must outlive the service.
struct PlayerDependencies {
  core::Timer& timer;
  const core::Clock& clock;
  core::RandomSource& random;  ///< of the strategy
  const envelope::MessageSchemas& schemas;
  /// Stores the player's commitments; null: they are kept in memory only.
  OpenMatchFile* open_matches = nullptr;
  /// The random source for the nonces of commitments. Null: the cryptographic source; use another
  /// one only in repeatable tests.
  core::RandomSource* nonces = nullptr;
  agent::host::LogHeadSource heads = {};  ///< of its conversation log, for its acknowledgements
  /// Asks somebody who takes time for the choice in a match, in place of the strategy, when the
  /// player is invited: `chosen` is called once with a word of the game, or dropped, and the
  /// invitation is answered then. Empty: the strategy chooses. Source: protocol §10.
  std::function<void(OpenMatch, std::function<void(std::string)> chosen)> ask = {};
};

/// A player: answers invitations and calls for a choice, checks results, and remembers what
/// happened. Thread-safe.
class PlayerService {
 public:
  /// Fails with the list of known names for an unknown strategy.
  [[nodiscard]] static core::Result<std::unique_ptr<PlayerService>> create(
      PlayerOptions options, const PlayerDependencies& dependencies);

  [[nodiscard]] transport::link::MessageHandler& handler() { return server_; }
  /// Learns the game of the league that has given `identity`; call it before `set_identity`. Fails
  /// with E028 if the player knows a game of this name with other rules, or if nobody could play
  /// it. What a manager of third parties calls `game` may be something else.
  [[nodiscard]] core::Result<void> learn_game(const agent::identity::Identity& identity);
  /// Makes the service act as `identity`, and check the tokens of incoming messages.
  void set_identity(const agent::identity::Identity& identity);
  /// Runs when the caller tells the answer to a registration that it made for the player. Set
  /// before messages arrive.
  void on_registration(std::function<void(const agent::identity::Identity&)> callback);
  /// Calls wait no longer for an identity; without one they are refused.
  void stop_waiting() { server_.release(); }
  /// Runs when the manager says that the league is over. Set before messages arrive.
  void on_league_completed(std::function<void(const envelope::LeagueCompleted&)> callback);

  /// Sets the history from earlier runs. Call it before `set_identity`.
  void remember(MatchHistory history);
  /// Sets the matches that were open when the previous process ended. Call it before
  /// `set_identity`, too. `credentials`: what the referees of announced matches show.
  void resume(std::vector<OpenMatch> matches, RefereeCredentials credentials = {});
  /// Runs for each match that has ended; must be fast. Set it before messages arrive.
  void on_match_over(std::function<void(const PlayedMatch&)> callback);
  /// Runs for each match that the player begins to dispute; otherwise like `on_match_over`.
  void on_dispute(std::function<void(const DisputedMatch&)> callback);
  /// Runs a while after a round that has left matches without GAME_OVER, at most once a round: the
  /// player wants the results of its matches, for take_results. Must be fast. Set it before
  /// messages arrive.
  void on_missing_result(std::function<void()> callback);
  /// Disputes the technical losses among the manager's `results` that the player's own record
  /// contradicts.
  void take_results(const std::vector<envelope::PlayedMatchRow>& results);
  [[nodiscard]] MatchHistory history() const;
  /// The games that it plays, for its registration: those that have its strategy.
  [[nodiscard]] std::vector<std::string> game_types() const;
  /// Whether its strategy plays any game, so that it can learn one from the answer to its
  /// registration.
  [[nodiscard]] bool plays_any_game() const;

 private:
  /// How to play each game, by `game_type`.
  using Strategies = std::map<std::string, Strategy, std::less<>>;
  struct HeldMatch {
    OpenMatch match{};
    core::AuthToken credential{};  ///< of the invitation, already verified: saves the HMAC in later
                                   ///< calls
    int proven_attempt = 0;  ///< that `credential` is for; 0: it is not a match credential
    std::optional<std::string> call_commitment =
        std::nullopt;  ///< the draw commitment in the call for the choice
  };
  /// The content of the answer to CHOOSE_PARITY_CALL.
  struct Reveal {
    std::string choice;
    std::optional<OpenMatch> match;  ///< nothing: there was no invitation
    std::optional<std::string> objection;  ///< to the opponent's commitment
    std::optional<core::Error> refusal;  ///< the choice is not revealed
  };
  /// A referee's call while it is being answered.
  struct AnsweredCall {
    core::MatchId match;
    int proven_attempt = 0;  ///< that the call's credential is for; 0: it showed none
    envelope::RecordedCall record;
    core::Clock::Steady arrived;
  };

  PlayerService(PlayerOptions options, const PlayerDependencies& dependencies,
                Strategies strategies, std::optional<Misbehaviour> misbehaviour);
  void bind_handlers();
  [[nodiscard]] core::Result<void> check_token(const envelope::Envelope& envelope) const;
  /// Why a call that check_token refuses is admitted; see agent::host::AgentServerOptions.
  [[nodiscard]] std::optional<envelope::Leniency> pardon(const envelope::Envelope& envelope) const;
  /// Whether the player is registered and not at home (protocol §8).
  [[nodiscard]] bool is_guest() const;
  /// Whether `shown` is what the referee of this open match showed in its invitation.
  [[nodiscard]] bool is_known_credential(const core::MatchId& match, std::string_view shown) const;
  /// Whether this player plays the game that a message names.
  [[nodiscard]] core::Result<void> check_game(const std::string& game_type) const;

  void on_announcement(agent::host::Call<envelope::RoundAnnouncement> call);
  void on_invitation(agent::host::Call<envelope::GameInvitation> call);
  void accept(agent::host::Call<envelope::GameInvitation> call, AnsweredCall answered);
  void on_choose(agent::host::Call<envelope::ChooseParityCall> call);
  void reveal_choice(agent::host::Call<envelope::ChooseParityCall> call, AnsweredCall answered);
  /// Calls `then` with both when the choice in `match` is made.
  template <typename Message>
  void when_chosen(OpenMatch match, agent::host::Call<Message> call, AnsweredCall answered,
                   void (PlayerService::*then)(agent::host::Call<Message>, AnsweredCall));
  void on_game_over(agent::host::Call<envelope::GameOver> call);
  void on_round_completed(agent::host::Call<envelope::RoundCompleted> call);
  void on_told_registration(agent::host::Call<envelope::LeagueRegisterResponse> call);
  void on_get_player_state(agent::host::ToolCall call);
  void on_get_match_record(agent::host::ToolCall call);
  /// Writes what the manager says about this player, such as its new state, to the operations log.
  void on_league_error(agent::host::Call<envelope::LeagueError> call);

  /// Whether answers carry receipts and answer credentials (protocol §7, §8). Needs `mutex_`.
  [[nodiscard]] bool gives_receipts() const;
  /// The attempt for which the call's credential is that of its match; 0: it showed another one.
  [[nodiscard]] int proven_attempt(const envelope::Envelope& envelope) const;
  [[nodiscard]] AnsweredCall begin_call(const envelope::Envelope& envelope,
                                        const envelope::PlayContext& context) const;
  /// Why a call is refused before it changes anything: it names another attempt than its credential
  /// proves, another draw commitment than was promised, or a play that is over. Needs `mutex_`.
  [[nodiscard]] std::optional<core::Error> objection_to(
      const AnsweredCall& call, const envelope::PlayContext& context,
      const std::optional<std::string>& draw_commitment) const;
  /// Why there is no choice to reveal to this call. Needs `mutex_`.
  [[nodiscard]] std::optional<core::Error> objection_to_reveal(
      const AnsweredCall& call, const envelope::ChoiceContext& told) const;
  /// `is_callers_fault`: the call itself is wrong, and not what this player can do.
  void refuse(AnsweredCall call, agent::peers::Reply reply, const core::Error& error,
              bool is_callers_fault);
  /// The receipt of a text about `match`; nothing if the player gives none, or if the referee does
  /// not say which play of the match it is.
  [[nodiscard]] std::optional<std::string> receipt_of(
      const OpenMatch& match,
      const std::function<std::string(const game::ReceiptScope&)>& text_of) const;
  /// The receipts of the answers to an invitation and to a call for the choice; nothing if the
  /// player gives none, or if the referee does not say which play of the match it is.
  [[nodiscard]] std::optional<std::string> join_receipt(const OpenMatch& match) const;
  [[nodiscard]] std::optional<std::string> choice_receipt(
      const OpenMatch& match, const std::optional<std::string>& shown_commitment) const;
  /// Disputes a technical loss of this player that its own record contradicts.
  void dispute_loss(const core::MatchId& match);

  /// Creates or updates the notes of the match of an invitation. Needs `mutex_`.
  OpenMatch& join(const envelope::Envelope& envelope, const envelope::GameInvitation& invitation,
                  const core::PlayerId& self, int proven_attempt);
  /// The notes of a match that the player joins, with its commitment if it commits to a choice.
  [[nodiscard]] OpenMatch joined(const envelope::Envelope& envelope,
                                 const envelope::GameInvitation& invitation,
                                 const core::PlayerId& self, int proven_attempt);
  [[nodiscard]] Reveal reveal(const envelope::Envelope& envelope,
                              const envelope::ChooseParityCall& call, const AnsweredCall& answered);
  /// The player's choice in `match`. Needs `mutex_`.
  [[nodiscard]] std::string choose(const OpenMatch& match,
                                   const envelope::ChoiceContext& told) const;
  /// What is known of a match, to compare GAME_OVER with it; nothing if the match is unknown. Needs
  /// `mutex_`.
  [[nodiscard]] std::optional<KnownMatch> known_match(const core::MatchId& match) const;
  /// What is wrong with GAME_OVER; nothing if all is correct.
  [[nodiscard]] std::optional<core::Error> check_result(const envelope::Envelope& envelope,
                                                        const envelope::GameOver& message);
  void end_match(PlayedMatch match);
  void dispute(const OpenMatch& match, std::string reason);

  /// The envelope of a reply from player `id`.
  [[nodiscard]] envelope::Envelope reply_envelope(envelope::MessageType type,
                                                  const envelope::Envelope& request,
                                                  const core::PlayerId& id,
                                                  int proven_attempt) const;
  [[nodiscard]] core::PlayerId own_id(const core::PlayerId& fallback) const;
  /// Sends an answer to a game call; if this player misbehaves, late, falsified or not at all.
  void answer(AnsweredCall call, agent::peers::Reply reply, nlohmann::json message);
  void misbehave(AnsweredCall call, agent::peers::Reply reply, nlohmann::json message);
  /// Puts the call into the record of its match, as answered now.
  void note_answered(AnsweredCall call);

  PlayerOptions options_;
  const PlayerDependencies deps_;
  Strategies strategies_;
  const std::optional<Misbehaviour> misbehaviour_;
  core::CryptoRandom crypto_random_;
  agent::host::AgentServer server_;
  std::function<void(const agent::identity::Identity&)> on_registration_;
  std::function<void(const envelope::LeagueCompleted&)> on_completed_;
  std::function<void(const PlayedMatch&)> on_match_over_;
  std::function<void(const DisputedMatch&)> on_dispute_;
  std::function<void()> on_missing_result_;

  mutable std::mutex mutex_;
  std::unique_ptr<envelope::EnvelopeBuilder> envelopes_;
  agent::identity::Identity identity_;
  MatchHistory history_;
  std::map<core::MatchId, envelope::AnnouncedMatch> announced_;  // our own matches
  RefereeCredentials credentials_;  ///< from announcements, also from those to an earlier process
  std::map<core::MatchId, HeldMatch> open_matches_;
  std::map<core::MatchId, std::string> asked_choices_;  ///< what was answered to `ask`
  CallLog calls_;
  bool is_resumed_ = false;  ///< an earlier process may have got calls of running matches
  std::vector<std::shared_ptr<agent::peers::Reply>> never_answered_;  // of `silent`
};

}  // namespace league::player::service
