#include "league_manager/service/manager_service.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/agent/seats/seat_caller.h"
#include "common/core/crypto.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "league_manager/rounds/league_view.h"
#include "league_manager/service/figure_fields.h"
#include "league_manager/service/query_answers.h"

namespace league::league_manager::service {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using envelope::MessageType;
using nlohmann::json;

events::AgentProfile profile_of(const envelope::RefereeMeta& meta) {
  return {.display_name = meta.display_name,
          .version = meta.version,
          .game_types = meta.game_types,
          .endpoint = meta.contact_endpoint,
          .protocol_version = meta.protocol_version,
          .contact_email = {},
          .max_concurrent_matches = meta.max_concurrent_matches,
          .assignments_in_ack = meta.assignments_in_ack,
          .log_public_key = meta.log_public_key,
          .hears_events = meta.hears_events,
          .match_credentials = meta.match_credentials};
}

events::AgentProfile profile_of(const envelope::PlayerMeta& meta) {
  return {.display_name = meta.display_name,
          .version = meta.version,
          .game_types = meta.game_types,
          .endpoint = meta.contact_endpoint,
          .protocol_version = meta.protocol_version,
          .contact_email = meta.contact_email,
          .log_public_key = meta.log_public_key,
          .hears_events = meta.hears_events,
          .receipts = meta.receipts,
          .batches = meta.batches,
          .played_by = meta.played_by.value_or("")};
}

/// Adds a game that an agent plays, because it will be told the rules.
void add(const std::string& game, events::AgentProfile& profile) {
  if (std::ranges::find(profile.game_types, game) == profile.game_types.end())
    profile.game_types.push_back(game);
}

/// The origin under which a request has reached the manager; empty if it was not over HTTP.
std::string reached_at(const rpc::MessageContext& context) {
  const auto* http = context.transport.as_http();
  if (http == nullptr || !http->headers) return {};
  const auto host = rpc::find_header(*http->headers, "Host");
  if (!host) return {};
  // A proxy that ends TLS says so, as the documents ask of it.
  const auto scheme = rpc::find_header(*http->headers, "X-Forwarded-Proto");
  return (scheme == "https" ? "https://" : "http://") + std::string(*host);
}

/// The credential for admission (key or code) in a request; empty: none.
std::string shown_by(const envelope::RefereeMeta& meta, const rpc::MessageContext& /*context*/) {
  return meta.admission_key.value_or("");
}
/// The code can also be part of the URL that the bot calls, for bots without support for codes.
std::string code_in_url(const rpc::MessageContext& context) {
  const auto* http = context.transport.as_http();
  if (http == nullptr || !http->headers) return {};
  return std::string(rpc::find_header(*http->headers, rpc::kRegistrationCodeHeader).value_or(""));
}
std::string shown_by(const envelope::PlayerMeta& meta, const rpc::MessageContext& context) {
  return meta.registration_code ? *meta.registration_code : code_in_url(context);
}

const envelope::RefereeMeta& meta_of(const envelope::RefereeRegisterRequest& request) {
  return request.referee_meta;
}
const envelope::PlayerMeta& meta_of(const envelope::LeagueRegisterRequest& request) {
  return request.player_meta;
}

/// The differences between the registrations of players and of referees.
template <typename Request>
struct RegistrationTraits;
template <>
struct RegistrationTraits<envelope::RefereeRegisterRequest> {
  static constexpr events::AgentKind kKind = events::AgentKind::kReferee;
  using Response = envelope::RefereeRegisterResponse;
  static void set_id(Response& response, std::string id) {
    response.referee_id = core::RefereeId(std::move(id));
  }
  static void set_receipt_key(Response& /*response*/, const std::string& /*key*/) {}
};
template <>
struct RegistrationTraits<envelope::LeagueRegisterRequest> {
  static constexpr events::AgentKind kKind = events::AgentKind::kPlayer;
  using Response = envelope::LeagueRegisterResponse;
  static void set_id(Response& response, std::string id) {
    response.player_id = core::PlayerId(std::move(id));
  }
  static void set_receipt_key(Response& response, std::string key) {
    response.receipt_key = std::move(key);
  }
};

std::string text_of(events::AgentRef agent) {
  return std::string(events::agent_kind_name(agent.kind)) + ":" + agent.id();
}

/// The seat that a registration proves to be from: by its token, its nonce or its code, or because
/// it has just got it. Nothing for a stranger, also for one who only knows an address and a name.
std::optional<events::AgentRef> seat_of_sender(const Roster& roster,
                                               const RegistrationRequest& request,
                                               const Result<RegistrationDecision>& outcome) {
  if (outcome && outcome->recognised_by != events::Recognition::kEndpointAndName)
    return outcome->agent;
  std::optional<events::AgentRef> seat;
  if (request.token_hash) seat = roster.find_by_token_hash(*request.token_hash);
  if (!seat && request.registration_nonce)
    seat =
        roster.find_by_registration_nonce(core::to_hex(core::sha256(*request.registration_nonce)));
  if (!seat && request.profile.code_digest)
    seat = roster.find_by_code(*request.profile.code_digest);
  return seat;
}

}  // namespace

ManagerService::ManagerService(ManagerOptions options, const ManagerDependencies& dependencies)
    : options_(std::move(options)),
      deps_(dependencies),
      server_(
          {.role = envelope::Role::kLeagueManager,
           .mode = options_.mode,
           .check_token =
               [this](const envelope::Envelope& envelope) { return check_token(envelope); },
           .query_defaults =
               [this](const std::string& token) { return referees_.query_defaults(token); },
           .league_error =
               [this](const Error& error, const rpc::MessageNotes& request,
                      const core::ConversationId& conversation) {
                 note_refused_report(error, request);
                 return league_error(error, request.message_type, conversation);
               },
           .on_not_admitted =
               [this](MessageType type, const json& message, const rpc::MessageContext& context,
                      const Error& error) { note_not_admitted(type, message, context, error); },
           .strangers_tools = {"await_turn", "get_league_status", "get_standings", "join_league",
                               "my_results", "ping", "play"},
           .mcp = {.name = "league-manager",
                   .title = "League manager",
                   .instructions = "Runs a league of a two-player game. To play, call join_league "
                                   "once, then alternate await_turn and play. To follow the "
                                   "league, call get_standings and get_league_status, "
                                   "or read league://standings and league://schedule; a "
                                   "subscription to league://standings says "
                                   "when the table changes.",
                   .timer = &dependencies.timer}},
          dependencies.schemas, dependencies.clock),
      resources_(server_.mcp(), dependencies.ledger, dependencies.timer, dependencies.news),
      agents_(server_, dependencies.ledger, dependencies.league_runner, options_.operator_key,
              dependencies.records, dependencies.seats),
      referees_(server_, dependencies.ledger, dependencies.league_runner, options_.league_id),
      events_(server_, dependencies.events, options_.league_id.str()) {
  bind_handlers();
  if (deps_.seats != nullptr) bind_seats();
}

void ManagerService::bind_seats() {
  const auto token_of = [this](const std::string& id) {
    return deps_.ledger.read([&](const League& league) -> std::optional<core::AuthToken> {
      const auto player = league.roster().find(id);
      if (!player || player->kind != events::AgentKind::kPlayer) return std::nullopt;
      const events::Agent& agent = league.roster().agent(*player);
      const bool may_sit = agent.profile.endpoint == rpc::seat_address(id) &&
                           agent.lifecycle.state() != events::AgentState::kShutdown;
      if (!may_sit) return std::nullopt;
      return deps_.token_issuer.token(id, agent.credential.nonce);
    });
  };
  seat_tools_.emplace(*deps_.seats, deps_.clock,
                      agent::host::SeatTools::Rules{
                          .token_of = token_of,
                          .on_seated =
                              [this](const std::string& player, agent::seats::Line line) {
                                if (deps_.log != nullptr)
                                  deps_.log->seated(player, agent::seats::line_name(line));
                              },
                          .on_refused =
                              [this](const std::string& player, const Error& why) {
                                if (deps_.log != nullptr) deps_.log->seat_refused(player, why);
                              }});
  seat_tools_->bind(server_);
}

void ManagerService::bind_handlers() {
  server_.bind<envelope::RefereeRegisterRequest>(
      [this](auto call) { on_register(std::move(call)); });
  server_.bind<envelope::LeagueRegisterRequest>(
      [this](auto call) { on_register(std::move(call)); });
  server_.bind<envelope::MatchResultReport>([this](auto call) { on_report(std::move(call)); });
  server_.bind<envelope::LeagueQuery>([this](auto call) { on_query(std::move(call)); });
  server_.bind_tool("get_standings",
                    [this](agent::host::ToolCall call) { on_get_standings(std::move(call)); });
  server_.bind_tool("get_league_status",
                    [this](agent::host::ToolCall call) { on_get_league_status(std::move(call)); });
  server_.bind_tool("start_league",
                    [this](agent::host::ToolCall call) { on_start_league(std::move(call)); });
  server_.bind_tool("operate_league",
                    [this](agent::host::ToolCall call) { on_operate_league(std::move(call)); });
  server_.bind_tool("new_agent_token",
                    [this](agent::host::ToolCall call) { on_new_token(std::move(call)); });
}

Result<void> ManagerService::check_token(const envelope::Envelope& envelope) const {
  if (envelope.league_id && *envelope.league_id != options_.league_id) {
    return Error{ErrorCode::kLeagueIdMismatch,
                 "league_id is not " + options_.league_id.str() + ", the league of this manager",
                 "/league_id"};
  }
  std::string hash = envelope.auth_token->hash();
  bool is_player = envelope.sender.role == envelope::Role::kPlayer;
  return deps_.ledger.read([&](const League& league) -> Result<void> {
    auto ref = league.roster().find(envelope.sender.id);
    if (!ref || (ref->kind == events::AgentKind::kPlayer) != is_player) {
      return Error{is_player ? ErrorCode::kPlayerNotRegistered : ErrorCode::kRefereeNotRegistered,
                   "\"" + envelope.sender.str() +
                       "\" is not registered here; use the id from the answer to the registration",
                   "/sender"};
    }
    if (!core::constant_time_equal(league.roster().agent(*ref).credential.token_hash, hash)) {
      return Error{ErrorCode::kAuthTokenInvalid,
                   "auth_token " + envelope.auth_token->masked() + " is not the token that " +
                       envelope.sender.str() + " was given",
                   "/auth_token"};
    }
    return {};
  });
}

void ManagerService::note_not_admitted(MessageType type, const json& message,
                                       const rpc::MessageContext& context,
                                       const Error& error) const {
  const bool is_player = type == MessageType::kLeagueRegisterRequest;
  if (!is_player && type != MessageType::kRefereeRegisterRequest) return;
  // The message is refused before its fields are read, so any of them can be missing.
  const json& meta = schema::field_at(message, is_player ? "player_meta" : "referee_meta");
  std::string code = is_player ? schema::text_at(meta, "registration_code") : std::string();
  if (is_player && code.empty()) code = code_in_url(context);
  note_refused(is_player ? events::AgentKind::kPlayer : events::AgentKind::kReferee,
               schema::text_at(meta, "display_name"), schema::text_at(meta, "contact_endpoint"),
               code, error);
}

json ManagerService::league_error(const Error& error, const std::string& original_type,
                                  const core::ConversationId& conversation) const {
  auto envelope = deps_.envelopes.make(
      MessageType::kLeagueError,
      {.conversation_id = conversation.empty() ? core::ConversationId("converror") : conversation});
  return envelope::encode(envelope, envelope::make_league_error(error, original_type));
}

template <typename Request>
void ManagerService::reject(const std::shared_ptr<agent::host::Call<Request>>& call,
                            const Error& error) {
  const auto& meta = meta_of(call->message);
  note_refused(RegistrationTraits<Request>::kKind, meta.display_name, meta.contact_endpoint,
               shown_by(meta, call->context), error);
  typename RegistrationTraits<Request>::Response response;
  response.status = envelope::RegistrationStatus::kRejected;
  response.reason = error.message;
  response.error_code = error.code;
  auto envelope =
      deps_.envelopes.make(response.kType, {.conversation_id = call->envelope.conversation_id});
  call->reply.send(envelope::encode(envelope, response));
}

template <typename Request>
void ManagerService::accept(const std::shared_ptr<agent::host::Call<Request>>& call,
                            const RegistrationDecision& decision,
                            const transport::link::Endpoint& endpoint) {
  typename RegistrationTraits<Request>::Response response;
  response.status = envelope::RegistrationStatus::kAccepted;
  std::string id = decision.agent.id();
  auto envelope = deps_.envelopes.make(
      response.kType, {.conversation_id = call->envelope.conversation_id,
                       .auth_token = deps_.token_issuer.token(id, decision.token_nonce)});
  if (decision.gives_receipt_key) {
    RegistrationTraits<Request>::set_receipt_key(
        response, deps_.token_issuer.receipt_key(id, decision.token_nonce));
  }
  for (const auto& ignored : decision.ignored)
    if (deps_.log != nullptr) deps_.log->ignored(decision.agent, ignored);
  RegistrationTraits<Request>::set_id(response, std::move(id));
  if (options_.publishes_events) response.broadcast_key = options_.league_key;
  if (!options_.league_key.empty()) response.league_key = options_.league_key;
  response.match_credentials = true;
  response.game = envelope::RawJson{options_.game->to_json().dump()};
  json message = envelope::encode(envelope, response);
  const std::string text = rpc::to_json_text(message);
  auto answer = [this, call, message = std::move(message), events = decision.events] {
    call->reply.send(message, [this, events] {
      note_answered();
      deps_.league_runner.on_events(events);
      deps_.league_runner.advance();
    });
  };
  // A command was registered by somebody else. It is told first: the league may start with this
  // answer, and then its referees' processes have to find the identity that this one stores.
  if (RegistrationTraits<Request>::kKind != events::AgentKind::kPlayer ||
      endpoint.scheme != "stdio")
    return answer();
  deps_.league_runner.tell_registration({endpoint, decision.agent.sender()}, envelope, text,
                                        std::move(answer));
}

template <typename Request>
void ManagerService::on_register(agent::host::Call<Request> call) {
  auto shared = std::make_shared<agent::host::Call<Request>>(std::move(call));
  const std::string& contact = meta_of(shared->message).contact_endpoint;
  if (RegistrationTraits<Request>::kKind == events::AgentKind::kPlayer &&
      contact == agent::seats::kOutward)
    return register_at(shared, transport::link::Endpoint{.scheme = contact});
  if (auto foreign = admission::foreign_session(contact, shared->context))
    return reject(shared, *foreign);
  deps_.endpoints.admit(contact, [this, shared](const Result<transport::link::Endpoint>& endpoint) {
    register_at(shared, endpoint);
  });
}

template <typename Request>
void ManagerService::register_at(std::shared_ptr<agent::host::Call<Request>> call,
                                 const Result<transport::link::Endpoint>& endpoint) {
  if (!endpoint) return reject(call, endpoint.error());
  RegistrationRequest request;
  request.kind = RegistrationTraits<Request>::kKind;
  request.profile = profile_of(meta_of(call->message));
  if (meta_of(call->message).game_definitions) add(options_.game->game_type(), request.profile);
  const bool is_outward = endpoint->scheme == agent::seats::kOutward;
  request.profile.endpoint = is_outward ? endpoint->scheme : endpoint->url();
  if (request.kind == events::AgentKind::kReferee)
    request.profile.manager_url = reached_at(call->context);
  request.profile.is_from_loopback = admission::is_from_loopback(call->context.transport);
  admit(request, shown_by(meta_of(call->message), call->context));
  request.registration_nonce = call->message.registration_nonce;
  if (call->envelope.auth_token && !call->envelope.auth_token->empty()) {
    request.token_hash = call->envelope.auth_token->hash();
  }
  auto outcome = std::make_shared<Result<RegistrationDecision>>(RegistrationDecision{});
  std::string nonce = core::to_hex(deps_.random.bytes<16>());
  deps_.ledger.commit(
      [&](const League& league, core::UtcTimestamp now) {
        RegistrationFacts facts{now, nonce,
                                [this](const std::string& id, const std::string& token_nonce) {
                                  return deps_.token_issuer.token(id, token_nonce).hash();
                                }};
        *outcome = league.decide_register(request, facts);
        if (const auto seat = seat_of_sender(league.roster(), request, *outcome))
          call->notes->said_by = text_of(*seat);
        return *outcome ? (*outcome)->events : events::Events{};
      },
      [this, outcome, call, at = *endpoint](const Result<events::Events>& stored) {
        if (!stored) return call->reply.refuse(not_stored());
        if (!*outcome) return reject(call, outcome->error());
        auto to = at;
        if (at.scheme == agent::seats::kOutward)
          to = {.scheme = std::string(agent::seats::kSeatScheme), .path = (*outcome)->agent.id()};
        deps_.league_runner.on_registered(to, call->style);
        accept(call, **outcome, to);
      });
}

void ManagerService::admit(RegistrationRequest& request, const std::string& shown) const {
  if (deps_.admission == nullptr) return;
  if (request.kind == events::AgentKind::kReferee) {
    request.not_admitted =
        deps_.admission->refusal_of_referee(request.profile.is_from_loopback, shown);
    return;
  }
  auto admitted = deps_.admission->admit_player(shown, request.profile.display_name);
  if (admitted) {
    request.profile.display_name = std::move(admitted->name);
    request.profile.code_digest = std::move(admitted->code_digest);
  } else {
    request.not_admitted = admitted.error();
  }
}

void ManagerService::note_refused(events::AgentKind kind, std::string_view name,
                                  std::string_view endpoint, const std::string& shown,
                                  const Error& error) const {
  std::string owner;
  if (deps_.admission != nullptr) {
    if (kind == events::AgentKind::kPlayer) owner = deps_.admission->owner_of(shown);
    // A code that was sent in the field of the name must not be published.
    if (deps_.admission->is_code(name)) name = "(a registration code)";
  }
  if (name.empty()) name = owner.empty() ? "?" : std::string_view(owner);
  if (endpoint.empty()) endpoint = "?";
  if (deps_.log != nullptr) deps_.log->refused(kind, name, endpoint, error, owner);
  if (deps_.registrations != nullptr)
    deps_.registrations->on_refused(kind, name, shown, error, deps_.clock.utc_now());
}

void ManagerService::on_query(agent::host::Call<envelope::LeagueQuery> call) {
  if (call.message.query_type == envelope::QueryType::kDisputeMatch)
    return on_dispute(std::move(call));
  const bool asks_for_registrations =
      call.message.query_type == envelope::QueryType::kGetRegistrations;
  auto players =
      asks_for_registrations ? referees_.registrations_for(call.envelope.sender.id) : std::nullopt;
  if (asks_for_registrations && !players) {
    return call.reply.refuse(
        {ErrorCode::kNotAuthorized, "GET_REGISTRATIONS is for referees", "/query_type"});
  }
  auto envelope = deps_.envelopes.make(MessageType::kLeagueQueryResponse,
                                       {.conversation_id = call.envelope.conversation_id});
  auto response = deps_.ledger.read([&](const League& league) {
    return answer_query(league, call.envelope.sender.id, call.message);
  });
  json answer = envelope::encode(envelope, response);
  if (response.data.standings) add_figures(answer["data"], figures().get());
  if (players) answer["players"] = std::move(*players);
  answer_when_durable(deps_.ledger, std::move(call.reply), std::move(answer));
}

void ManagerService::on_get_standings(agent::host::ToolCall call) {
  const std::size_t offset = number_argument(call.arguments, "offset", 0);
  const std::size_t limit =
      std::min<std::size_t>(number_argument(call.arguments, "limit", kQueryPage), kQueryPage);
  json answer;
  deps_.ledger.read([&](const League& league) {
    auto rows = rounds::standings_page(league, offset, limit);
    answer = {{"league_id", options_.league_id.str()},
              {"standings", envelope::encode_standings(rows)},
              {"total_players", league.roster().taken(events::AgentKind::kPlayer)}};
  });
  add_figures(answer, figures().get());
  answer_when_durable(deps_.ledger, std::move(call.reply), std::move(answer));
}

}  // namespace league::league_manager::service
