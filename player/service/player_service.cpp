#include "player/service/player_service.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/agent/identity/match_credential.h"
#include "common/agent/runtime/log.h"
#include "common/core/crypto.h"
#include "common/core/text.h"
#include "common/schema/json_fields.h"
#include "game/files/game_file.h"

namespace league::player::service {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using envelope::MessageType;
using nlohmann::json;

constexpr std::size_t kHugeAnswer = 8U << 20U;

/// An invalid choice: one of the first game with a capital letter.
std::string misspelt(const game::Games& games) {
  std::string word((*games.find(games.names().front()))->choices().front());
  word.front() = static_cast<char>(std::toupper(word.front()));
  return word;
}

/// Another choice of the game to which `word` belongs.
std::string another_choice(const game::Games& games, const std::string& word) {
  for (const std::string& name : games.names()) {
    const game::Definition& rules = **games.find(name);
    if (!rules.index_of(word)) continue;
    for (std::string_view other : rules.choices()) {
      if (other != word) return std::string(other);
    }
  }
  return word;
}

}  // namespace

Result<std::unique_ptr<PlayerService>> PlayerService::create(
    PlayerOptions options, const PlayerDependencies& dependencies) {
  auto misbehaviour = parse_misbehaviour(options.strategy);
  if (!misbehaviour) return misbehaviour.error();
  Strategies strategies;
  std::optional<Error> unknown;
  for (const std::string& game : options.games.names()) {
    auto strategy = make_strategy(*misbehaviour ? "random" : options.strategy,
                                  **options.games.find(game), dependencies.random);
    if (strategy) {
      strategies.emplace(game, std::move(*strategy));
    } else if (!unknown) {
      unknown = strategy.error();
    }
  }
  if (strategies.empty()) {
    return unknown.value_or(
        Error{ErrorCode::kInvalidFieldValue, "a player needs at least one game", "/game_types"});
  }
  return std::unique_ptr<PlayerService>(
      new PlayerService(std::move(options), dependencies, std::move(strategies), *misbehaviour));
}

PlayerService::PlayerService(PlayerOptions options, const PlayerDependencies& dependencies,
                             Strategies strategies, std::optional<Misbehaviour> misbehaviour)
    : options_(std::move(options)),
      deps_(dependencies),
      strategies_(std::move(strategies)),
      misbehaviour_(misbehaviour),
      server_(
          {.role = envelope::Role::kPlayer,
           .mode = options_.mode,
           .check_token =
               [this](const envelope::Envelope& envelope) { return check_token(envelope); },
           .is_guest = [this] { return is_guest(); },
           .pardon = [this](const envelope::Envelope& envelope) { return pardon(envelope); },
           .accepts_any_token = options_.standalone,
           .starts_held = !options_.standalone,
           .league_error = {},
           .mcp =
               {.name = "league-player",
                .title = "League player",
                .instructions =
                    "Plays in a league. A referee calls handle_game_invitation, choose_parity and "
                    "notify_match_result with league.v2 messages; ping is for everybody, "
                    "get_player_state for callers with the player's token."}},
          dependencies.schemas, dependencies.clock),
      envelopes_(std::make_unique<envelope::EnvelopeBuilder>(
          envelope::Sender::player(agent::identity::temporary_id(options_.display_name)),
          std::nullopt, dependencies.clock)) {
  bind_handlers();
}

void PlayerService::set_identity(const agent::identity::Identity& identity) {
  {
    std::lock_guard lock(mutex_);
    // In another league the same ids belong to other matches.
    if (identity_.id != identity.id || !identity_.token.matches(identity.token.reveal())) {
      announced_.clear();
      if (!identity_.id.empty()) credentials_.clear();  // otherwise they were set by resume()
    }
    identity_ = identity;
    envelopes_->set_identity(envelope::Sender::player(identity.id), identity.league);
  }
  server_.release();
}

void PlayerService::on_registration(
    std::function<void(const agent::identity::Identity&)> callback) {
  on_registration_ = std::move(callback);
}

void PlayerService::on_told_registration(agent::host::Call<envelope::LeagueRegisterResponse> call) {
  auto identity = agent::identity::identity_in(call.envelope, call.message);
  if (!identity) return call.reply.refuse(identity.error());
  // The caller may start the league as soon as this is acknowledged.
  if (on_registration_) on_registration_(*identity);
  call.reply.acknowledge();
}

void PlayerService::on_league_completed(
    std::function<void(const envelope::LeagueCompleted&)> callback) {
  on_completed_ = std::move(callback);
}

void PlayerService::remember(MatchHistory history) {
  std::lock_guard lock(mutex_);
  history_ = std::move(history);
}

void PlayerService::resume(std::vector<OpenMatch> matches, RefereeCredentials credentials) {
  std::lock_guard lock(mutex_);
  is_resumed_ = true;
  credentials_ = std::move(credentials);
  for (OpenMatch& match : matches) {
    const core::MatchId id = match.match_id;
    open_matches_[id] = {.match = std::move(match)};
  }
}

void PlayerService::on_dispute(std::function<void(const DisputedMatch&)> callback) {
  on_dispute_ = std::move(callback);
}

void PlayerService::on_missing_result(std::function<void()> callback) {
  on_missing_result_ = std::move(callback);
}

void PlayerService::on_match_over(std::function<void(const PlayedMatch&)> callback) {
  on_match_over_ = std::move(callback);
}

MatchHistory PlayerService::history() const {
  std::lock_guard lock(mutex_);
  return history_;
}

std::vector<std::string> PlayerService::game_types() const {
  std::vector<std::string> types;
  for (const auto& [type, strategy] : strategies_) types.push_back(type);
  return types;
}

bool PlayerService::plays_any_game() const {
  return strategies_.size() == options_.games.names().size();
}

Result<void> PlayerService::learn_game(const agent::identity::Identity& identity) {
  std::lock_guard lock(mutex_);
  if (auto learnt = game::files::learn_game(options_.games, identity.game); !learnt) {
    if (identity.is_at_home()) return learnt;
    agent::runtime::log::warn("{}", learnt.error().message);
  }
  for (const std::string& name : options_.games.names()) {
    if (strategies_.contains(name)) continue;
    auto strategy = make_strategy(misbehaviour_ ? "random" : options_.strategy,
                                  **options_.games.find(name), deps_.random);
    if (strategy) strategies_.emplace(name, std::move(*strategy));
  }
  return {};
}

void PlayerService::bind_handlers() {
  server_.bind<envelope::GameInvitation>([this](auto call) { on_invitation(std::move(call)); });
  server_.bind<envelope::ChooseParityCall>([this](auto call) { on_choose(std::move(call)); });
  server_.bind<envelope::GameOver>([this](auto call) { on_game_over(std::move(call)); });
  server_.bind<envelope::LeagueCompleted>([this](auto call) {
    if (on_completed_) on_completed_(call.message);
    agent::host::acknowledge_when_sealed(std::move(call.reply), deps_.heads, deps_.timer);
  });
  server_.bind<envelope::RoundAnnouncement>(
      [this](auto call) { on_announcement(std::move(call)); });
  server_.bind<envelope::RoundCompleted>(
      [this](auto call) { on_round_completed(std::move(call)); });
  if (options_.is_registered_by_caller) {
    server_.bind<envelope::LeagueRegisterResponse>(
        [this](auto call) { on_told_registration(std::move(call)); });
  }
  server_.bind_news(MessageType::kLeagueStandingsUpdate);
  server_.bind_news(MessageType::kGameError);
  server_.bind<envelope::LeagueError>([this](auto call) { on_league_error(std::move(call)); });
  server_.bind_tool("get_player_state",
                    [this](agent::host::ToolCall call) { on_get_player_state(std::move(call)); });
  server_.bind_tool("get_match_record",
                    [this](agent::host::ToolCall call) { on_get_match_record(std::move(call)); });
}

void PlayerService::on_league_error(agent::host::Call<envelope::LeagueError> call) {
  // Without our own token the sender is unknown: then the message is only in the conversation log.
  const auto& token = call.envelope.auth_token;
  const bool is_true =
      token && !token->empty() && !options_.standalone && check_token(call.envelope);
  if (is_true)
    agent::runtime::log::warn(
        "the league manager says: {}",
        core::shown(call.message.error_code + " " + call.message.error_description, 600));
  call.reply.acknowledge();
}

bool PlayerService::is_guest() const {
  std::lock_guard lock(mutex_);
  return !identity_.id.empty() && !identity_.is_at_home();
}

std::optional<envelope::Leniency> PlayerService::pardon(const envelope::Envelope& envelope) const {
  using envelope::Leniency;
  const bool shows_token = envelope.auth_token && !envelope.auth_token->empty();
  if (is_guest()) return shows_token ? Leniency::kForeignCallToken : Leniency::kMissingCallToken;
  if (envelope.sender.role != envelope::Role::kReferee || !envelope.match_id) return std::nullopt;
  std::lock_guard lock(mutex_);
  // The announcement carried this player's own token, so it was from the manager.
  const auto announced = credentials_.find(*envelope.match_id);
  if (announced == credentials_.end()) return std::nullopt;
  const std::string& credential = announced->second;
  if (!shows_token)
    return credential == "none" ? std::optional(Leniency::kMissingCallToken) : std::nullopt;
  const bool is_named =
      core::constant_time_equal(credential, "token:" + envelope.auth_token->hash());
  return is_named ? std::optional(Leniency::kForeignRefereeToken) : std::nullopt;
}

Result<void> PlayerService::check_token(const envelope::Envelope& envelope) const {
  if (options_.standalone) return {};
  core::AuthToken own;
  {
    std::lock_guard lock(mutex_);
    own = identity_.token;
  }
  if (own.empty())
    return Error{ErrorCode::kAuthTokenInvalid,
                 "this player has no token yet, so it cannot check yours; call it again when it "
                 "has registered",
                 "/auth_token"};
  const auto& shown = envelope.auth_token->reveal();
  if (envelope.sender.role == envelope::Role::kLeagueManager) {
    if (own.matches(shown)) return {};
    return Error{ErrorCode::kAuthTokenInvalid,
                 "auth_token must be this player's own, which only its league manager has",
                 "/auth_token"};
  }
  auto match = envelope.match_id.value_or(core::MatchId{});
  if (is_known_credential(match, shown) || agent::identity::credential_attempt(own, match, shown))
    return {};
  return Error{ErrorCode::kAuthTokenInvalid,
               "auth_token is not the credential of this match (docs/protocol.md, clause 8.4)",
               "/auth_token"};
}

bool PlayerService::is_known_credential(const core::MatchId& match, std::string_view shown) const {
  std::lock_guard lock(mutex_);
  auto open = open_matches_.find(match);
  return open != open_matches_.end() && !open->second.credential.empty() &&
         open->second.credential.matches(shown);
}

core::PlayerId PlayerService::own_id(const core::PlayerId& fallback) const {
  std::lock_guard lock(mutex_);
  if (!identity_.id.empty()) return core::PlayerId(identity_.id);
  return fallback.empty() ? core::PlayerId(agent::identity::temporary_id(options_.display_name))
                          : fallback;
}

envelope::Envelope PlayerService::reply_envelope(MessageType type,
                                                 const envelope::Envelope& request,
                                                 const core::PlayerId& id,
                                                 int proven_attempt) const {
  std::lock_guard lock(mutex_);
  std::optional<core::AuthToken> token;
  if (!identity_.token.empty()) token = identity_.token;
  // A referee must not learn the token, with which it could register in the player's name. It knows
  // the other credential from the manager, but that a player without receipts sends it is not
  // published, so only one that its referee starts does.
  const bool hides_token =
      gives_receipts() || (options_.is_registered_by_caller && identity_.is_at_home());
  if (token && hides_token) {
    token = agent::identity::answer_credential(*token, request.match_id.value_or(core::MatchId{}),
                                               std::max(proven_attempt, 1));
  }
  auto envelope = envelopes_->make(type, {.conversation_id = request.conversation_id,
                                          .auth_token = std::move(token),
                                          .round_id = request.round_id,
                                          .match_id = request.match_id});
  envelope.sender = envelope::Sender::player(id.str());
  if (!envelope.league_id || envelope.league_id->empty()) envelope.league_id = request.league_id;
  return envelope;
}

void PlayerService::on_get_player_state(agent::host::ToolCall call) {
  const std::string& token = schema::text_at(call.arguments, "auth_token");
  std::unique_lock lock(mutex_);
  if (!options_.standalone && (identity_.token.empty() || !identity_.token.matches(token))) {
    lock.unlock();
    return call.reply.refuse(
        {token.empty() ? ErrorCode::kAuthTokenMissing : ErrorCode::kAuthTokenInvalid,
         "get_player_state shows a player's memory: auth_token must be the player's own",
         "/auth_token"});
  }
  json state = history_to_json(history_, core::PlayerId(identity_.id));
  state["display_name"] = options_.display_name;
  state["open_matches"] = open_matches_.size();
  lock.unlock();
  call.reply.send(state);
}

void PlayerService::on_get_match_record(agent::host::ToolCall call) {
  const std::string& token = schema::text_at(call.arguments, "auth_token");
  const core::MatchId match(schema::text_at(call.arguments, "match_id"));
  std::optional<envelope::MatchRecord> record;
  {
    std::lock_guard lock(mutex_);
    if (identity_.token.empty() || !identity_.token.matches(token)) {
      return call.reply.refuse(
          {token.empty() ? ErrorCode::kAuthTokenMissing : ErrorCode::kAuthTokenInvalid,
           "get_match_record is for the league manager: auth_token must be the player's own",
           "/auth_token"});
    }
    record = calls_.record_of(match, core::PlayerId(identity_.id));
  }
  if (!record) {
    return call.reply.refuse({ErrorCode::kMatchNotFound,
                              "this player has no complete record of that match", "/match_id"});
  }
  call.reply.send(envelope::encode_match_record(*record));
}

void PlayerService::answer(AnsweredCall call, agent::peers::Reply reply, json message) {
  if (misbehaviour_) return misbehave(std::move(call), std::move(reply), std::move(message));
  note_answered(std::move(call));
  reply.send(message);
}

void PlayerService::note_answered(AnsweredCall call) {
  const auto took = deps_.clock.steady_now() - call.arrived;
  call.record.answered_at = deps_.clock.utc_now().to_log();
  call.record.answer_ms =
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  std::lock_guard lock(mutex_);
  calls_.add(call.match, std::move(call.record));
}

void PlayerService::misbehave(AnsweredCall call, agent::peers::Reply reply, json message) {
  const bool is_choice = message.contains("parity_choice");
  const bool is_join = message.contains("arrival_timestamp");
  switch (misbehaviour_->kind) {
    case MisbehaviourKind::kSlow: {
      auto late = std::make_shared<agent::peers::Reply>(std::move(reply));
      deps_.timer.schedule(misbehaviour_->delay,
                           [this, late, call = std::move(call), message = std::move(message)] {
                             note_answered(call);
                             late->send(message);
                           });
      return;
    }
    case MisbehaviourKind::kSilent: {
      std::lock_guard lock(mutex_);
      calls_.add(call.match, std::move(call.record));
      never_answered_.push_back(std::make_shared<agent::peers::Reply>(std::move(reply)));
      return;
    }
    case MisbehaviourKind::kCrash:
      if (is_choice) std::_Exit(3);
      break;
    case MisbehaviourKind::kGarbage:
      return reply.send_raw("]]{\"jsonrpc\" this is no JSON \xff\xfe");
    case MisbehaviourKind::kInvalid:
      if (is_choice) message["parity_choice"] = misspelt(options_.games);
      break;
    case MisbehaviourKind::kWrongMatch:
      message["match_id"] = "R999M999";
      break;
    case MisbehaviourKind::kNoToken:
      message.erase("auth_token");
      break;
    case MisbehaviourKind::kBadCommitment:
      if (is_join) message["choice_commitment"] = "none of your business";
      break;
    case MisbehaviourKind::kBadNonce:
      if (is_choice) message["choice_nonce"] = std::string(64, '0');
      break;
    case MisbehaviourKind::kNoNonce:
      message.erase("choice_nonce");
      break;
    case MisbehaviourKind::kOtherChoice:
      if (is_choice)
        message["parity_choice"] = another_choice(options_.games, message["parity_choice"]);
      break;
    case MisbehaviourKind::kHuge:
      message["padding"] = std::string(kHugeAnswer, 'x');
      break;
  }
  note_answered(std::move(call));
  reply.send(message);
}

}  // namespace league::player::service
