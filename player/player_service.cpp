#include "player/player_service.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/agent/match_credential.h"
#include "player/game_over.h"
#include "player/player_tools.h"

namespace league::player {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using envelope::MessageType;
using nlohmann::json;

constexpr std::size_t kMostOpenMatches = 1024;
constexpr std::size_t kHugeAnswer = 8U << 20U;

}  // namespace

Result<std::unique_ptr<PlayerService>> PlayerService::create(
    PlayerOptions options, const PlayerDependencies& dependencies) {
  auto misbehaviour = parse_misbehaviour(options.strategy);
  if (!misbehaviour) return misbehaviour.error();
  auto strategy = make_strategy(*misbehaviour ? "random" : options.strategy, dependencies.random);
  if (!strategy) return strategy.error();
  return std::unique_ptr<PlayerService>(
      new PlayerService(std::move(options), dependencies, std::move(*strategy), *misbehaviour));
}

PlayerService::PlayerService(PlayerOptions options, const PlayerDependencies& dependencies,
                             std::unique_ptr<Strategy> strategy,
                             std::optional<Misbehaviour> misbehaviour)
    : options_(std::move(options)),
      deps_(dependencies),
      strategy_(std::move(strategy)),
      misbehaviour_(misbehaviour),
      server_({.role = envelope::Role::kPlayer,
               .mode = options_.mode,
               .check_token =
                   [this](const envelope::Envelope& envelope) { return check_token(envelope); },
               .starts_held = !options_.standalone,
               .league_error = {},
               .mcp = player_presentation()},
              dependencies.schemas, dependencies.clock),
      envelopes_(std::make_unique<envelope::EnvelopeBuilder>(
          envelope::Sender::player(agent::temporary_id(options_.display_name)), std::nullopt,
          dependencies.clock)) {
  bind_handlers();
}

void PlayerService::set_identity(const agent::Identity& identity) {
  {
    std::lock_guard lock(mutex_);
    identity_ = identity;
    envelopes_->set_identity(envelope::Sender::player(identity.id), identity.league);
  }
  server_.release();
}

void PlayerService::on_league_completed(
    std::function<void(const envelope::LeagueCompleted&)> callback) {
  on_completed_ = std::move(callback);
}

void PlayerService::remember(MatchHistory history) {
  std::lock_guard lock(mutex_);
  history_ = std::move(history);
}

void PlayerService::on_match_over(std::function<void(const PlayedMatch&)> callback) {
  on_match_over_ = std::move(callback);
}

MatchHistory PlayerService::history() const {
  std::lock_guard lock(mutex_);
  return history_;
}

core::PlayerId PlayerService::player_id() const {
  std::lock_guard lock(mutex_);
  return core::PlayerId(identity_.id);
}

void PlayerService::bind_handlers() {
  server_.bind<envelope::GameInvitation>([this](auto call) { on_invitation(std::move(call)); });
  server_.bind<envelope::ChooseParityCall>([this](auto call) { on_choose(std::move(call)); });
  server_.bind<envelope::GameOver>([this](auto call) { on_game_over(std::move(call)); });
  server_.bind<envelope::LeagueCompleted>([this](auto call) {
    call.reply.acknowledge();
    if (on_completed_) on_completed_(call.message);
  });
  for (auto news :
       {MessageType::kRoundAnnouncement, MessageType::kLeagueStandingsUpdate,
        MessageType::kRoundCompleted, MessageType::kGameError, MessageType::kLeagueError}) {
    server_.bind_news(news);
  }
  server_.bind_tool(get_player_state_tool(),
                    [this](agent::ToolCall call) { on_get_player_state(std::move(call)); });
}

Result<void> PlayerService::check_token(const envelope::Envelope& envelope) const {
  if (options_.standalone) return {};
  core::AuthToken own;
  {
    std::lock_guard lock(mutex_);
    own = identity_.token;
  }
  if (own.empty())
    return Error{ErrorCode::kAuthTokenInvalid, "this player is not registered yet", "/auth_token"};
  const auto& shown = envelope.auth_token->reveal();
  if (envelope.sender.role == envelope::Role::kLeagueManager) {
    if (own.matches(shown)) return {};
    return Error{ErrorCode::kAuthTokenInvalid,
                 "auth_token must be this player's own, which only its league manager has",
                 "/auth_token"};
  }
  auto match = envelope.match_id.value_or(core::MatchId{});
  if (is_known_credential(match, shown) || agent::credential_attempt(own, match, shown)) return {};
  return Error{ErrorCode::kAuthTokenInvalid,
               "auth_token is not the credential of this match (docs/protocol.md, credentials)",
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
  return fallback.empty() ? core::PlayerId(agent::temporary_id(options_.display_name)) : fallback;
}

envelope::Envelope PlayerService::reply_envelope(MessageType type,
                                                 const envelope::Envelope& request,
                                                 const core::PlayerId& id) const {
  std::lock_guard lock(mutex_);
  std::optional<core::AuthToken> token;
  if (!identity_.token.empty()) token = identity_.token;
  auto envelope = envelopes_->make(type, {.conversation_id = request.conversation_id,
                                          .auth_token = std::move(token),
                                          .round_id = request.round_id,
                                          .match_id = request.match_id});
  envelope.sender = envelope::Sender::player(id.str());
  if (!envelope.league_id) envelope.league_id = request.league_id;
  return envelope;
}

void PlayerService::on_invitation(agent::Call<envelope::GameInvitation> call) {
  if (call.envelope.match_id) {
    std::lock_guard lock(mutex_);
    if (open_matches_.size() >= kMostOpenMatches) open_matches_.erase(open_matches_.begin());
    open_matches_[*call.envelope.match_id] = {
        .opponent = call.message.opponent_id,
        .round_id = call.envelope.round_id.value_or(0),
        .choice = std::nullopt,
        // A standalone player checks nobody, so it has nothing to remember either.
        .credential = options_.standalone ? core::AuthToken{}
                                          : call.envelope.auth_token.value_or(core::AuthToken{})};
  }
  envelope::GameJoinAck ack{.player_id = own_id(call.message.player_id.value_or(core::PlayerId{})),
                            .arrival_timestamp = deps_.clock.utc_now(),
                            .accept = true};
  auto envelope = reply_envelope(MessageType::kGameJoinAck, call.envelope, ack.player_id);
  answer(std::move(call.reply), envelope::encode(envelope, ack));
}

Parity PlayerService::choose(const envelope::Envelope& envelope,
                             const envelope::ChooseParityCall& call) {
  std::lock_guard lock(mutex_);
  auto match_id = envelope.match_id.value_or(core::MatchId{});
  auto open = open_matches_.find(match_id);
  // A repeated call gets the same answer: the first may have been lost on its way.
  if (open != open_matches_.end() && open->second.choice) return *open->second.choice;
  ChoiceContext context{.league_id = envelope.league_id.value_or(identity_.league),
                        .match_id = match_id,
                        .round_id = envelope.round_id.value_or(0),
                        .opponent_id = {},
                        .history = history_};
  if (open != open_matches_.end()) context.opponent_id = open->second.opponent;
  if (call.context) {
    if (call.context->opponent_id) context.opponent_id = *call.context->opponent_id;
    if (call.context->your_standings) {
      const auto& own = *call.context->your_standings;
      context.standings = Tally{.wins = own.wins, .losses = own.losses, .draws = own.draws};
    }
  }
  Parity choice = strategy_->choose(context);
  if (open != open_matches_.end()) open->second.choice = choice;
  return choice;
}

void PlayerService::on_choose(agent::Call<envelope::ChooseParityCall> call) {
  envelope::ChooseParityResponse response{.player_id = own_id(call.message.player_id),
                                          .parity_choice = choose(call.envelope, call.message)};
  auto envelope =
      reply_envelope(MessageType::kChooseParityResponse, call.envelope, response.player_id);
  answer(std::move(call.reply), envelope::encode(envelope, response));
}

void PlayerService::on_game_over(agent::Call<envelope::GameOver> call) {
  call.reply.acknowledge();
  auto self = own_id({});
  PlayedMatch match;
  {
    std::lock_guard lock(mutex_);
    match = played_match(call.envelope, call.message, self, identity_.league);
    open_matches_.erase(match.match_id);
    if (!history_.add(match)) return;
  }
  if (on_match_over_) on_match_over_(match);
}

void PlayerService::on_get_player_state(agent::ToolCall call) {
  auto shown = call.arguments.find("auth_token");
  std::string token =
      shown != call.arguments.end() && shown->is_string() ? shown->get<std::string>() : "";
  std::unique_lock lock(mutex_);
  if (!options_.standalone && (identity_.token.empty() || !identity_.token.matches(token))) {
    lock.unlock();
    return call.reply.refuse(
        {token.empty() ? ErrorCode::kAuthTokenMissing : ErrorCode::kNotAuthorized,
         "get_player_state shows a player's memory: auth_token must be the player's own",
         "/auth_token"});
  }
  json state = history_to_json(history_, core::PlayerId(identity_.id));
  state["display_name"] = options_.display_name;
  state["open_matches"] = open_matches_.size();
  lock.unlock();
  call.reply.send(state);
}

void PlayerService::answer(agent::Reply reply, json message) {
  if (!misbehaviour_) return reply.send(message);
  misbehave(std::move(reply), std::move(message));
}

void PlayerService::misbehave(agent::Reply reply, json message) {
  bool is_choice = message.contains("parity_choice");
  switch (misbehaviour_->kind) {
    case MisbehaviourKind::kSlow: {
      auto late = std::make_shared<agent::Reply>(std::move(reply));
      deps_.timer.schedule(misbehaviour_->delay,
                           [late, message = std::move(message)] { late->send(message); });
      return;
    }
    case MisbehaviourKind::kSilent: {
      std::lock_guard lock(mutex_);
      never_answered_.push_back(std::make_shared<agent::Reply>(std::move(reply)));
      return;
    }
    case MisbehaviourKind::kCrash:
      if (is_choice) std::_Exit(3);
      break;
    case MisbehaviourKind::kGarbage:
      return reply.send_raw("]]{\"jsonrpc\" this is no JSON \xff\xfe");
    case MisbehaviourKind::kInvalid:
      if (is_choice) message["parity_choice"] = "Even";
      break;
    case MisbehaviourKind::kWrongMatch:
      message["match_id"] = "R999M999";
      break;
    case MisbehaviourKind::kNoToken:
      message.erase("auth_token");
      break;
    case MisbehaviourKind::kHuge:
      message["padding"] = std::string(kHugeAnswer, 'x');
      break;
  }
  reply.send(message);
}

}  // namespace league::player
