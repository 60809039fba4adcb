#include "common/agent/host/agent_server.h"

#include <mutex>
#include <optional>

#include "common/agent/host/rest_registration.h"
#include "common/agent/host/shown_tools.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/rpc/codec.h"
#include "common/schema/json_fields.h"

namespace league::agent::host {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using envelope::MessageType;
using nlohmann::json;

/// Copies into the notes what can be read of a message before it is validated, for the log and the
/// error reply.
void note_what_is_visible(const json& message, rpc::MessageNotes& notes) {
  constexpr std::size_t kMostOfMatchId = 64;
  // Not shortened: the log shows what arrived.
  notes.conversation_id = envelope::conversation_id_in(message);
  if (const auto& match = schema::text_at(message, "match_id"); match.size() <= kMostOfMatchId)
    notes.match_id = match;
}

void note_sender(const json& message, rpc::MessageNotes& notes) {
  if (auto sender = envelope::Sender::parse(schema::text_at(message, "sender")))
    notes.peer = sender->str();
}

Error missing_token() {
  return {ErrorCode::kAuthTokenMissing,
          "auth_token is missing; send the token from the answer to your registration",
          "/auth_token"};
}

bool is_rest_registration(const rpc::MessageContext& context) {
  const auto* http = context.transport.as_http();
  return http != nullptr && http->uri.view() == kRestRegistration;
}

mcp::ServerOptions with_logged_exceptions(mcp::ServerOptions options) {
  options.on_exception = runtime::log_exception;
  return options;
}

}  // namespace

AgentServer::AgentServer(AgentServerOptions options, const envelope::MessageSchemas& schemas,
                         const core::Clock& clock)
    : options_(std::move(options)),
      schemas_(schemas),
      clock_(clock),
      is_holding_(options_.starts_held),
      mcp_(with_logged_exceptions(std::move(options_.mcp)), *this, clock) {
  reader_.receiver = options_.role;
  reader_.is_tool = [this](std::string_view name) { return tools_.contains(std::string(name)); };
  reader_.tool_alias = options_.tool_alias;
  mcp_.registry().resolve_tools([this](std::string_view name) -> std::optional<std::string> {
    if (options_.tool_alias) {
      if (auto tool = options_.tool_alias(name); !tool.empty()) return std::string(tool);
    }
    auto meant = envelope::message_type_from_method(name, options_.role);
    if (!meant) return std::nullopt;
    return std::string(envelope::spec(meant->type).method);
  });
  bind_tool("ping", [](ToolCall call) { call.reply.acknowledge(); });
}

void AgentServer::bind_undecoded(MessageType type, const std::function<void(Call<json>)>& handler) {
  show_message(type);
  const auto deliver = [this, handler](Arrived arrived, ReadEnvelope read) {
    auto envelope = admit(arrived, std::move(read));
    if (!envelope) return arrived.reply.refuse(envelope.error());
    if (arrived.plain) arrived.request.message = arrived.plain.to_json();
    handler(Call<json>{std::move(*envelope), std::move(arrived.request.message),
                       std::move(arrived.arrival.context), std::move(arrived.reply)});
  };
  messages_[type] = [this, type, deliver](Arrived arrived) {
    auto envelope = normalised(
        arrived.request, [&](const json& message) { return schemas_.validate(type, message); });
    deliver(std::move(arrived), std::move(envelope));
  };
  exact_[type] = [this, type, deliver](PlainCall call) {
    auto envelope = envelope::decode_envelope(call.message);
    if (!envelope || !schemas_.is_exact(type, call.message)) return false;
    deliver(arrived(call), std::move(envelope));
    return true;
  };
}

void AgentServer::bind_news(MessageType type) {
  bind_undecoded(type, [](Call<json> call) { call.reply.acknowledge(); });
}

void AgentServer::bind_tool(std::string name, std::function<void(ToolCall)> handler,
                            bool is_secret) {
  auto tool = described_tool(name);
  tool.is_secret = is_secret;
  if (is_secret) {
    handler = [handler = std::move(handler)](ToolCall call) {
      call.notes->is_secret = true;
      handler(std::move(call));
    };
  }
  auto check = mcp::schema_check(tool.input_schema, tool.name);
  if (check) tool.check = std::move(*check);
  show(std::move(tool));
  tools_[std::move(name)] = std::move(handler);
}

void AgentServer::show_message(MessageType type) { show(message_tool(type)); }

void AgentServer::show(mcp::ServerTool tool) {
  tool.handler = [this](mcp::ServedToolCall call) { on_tool_call(std::move(call)); };
  tool.is_for_strangers =
      options_.strangers_tools.empty() || options_.strangers_tools.contains(tool.name);
  mcp_.registry().add(std::move(tool));
}

bool AgentServer::on_plain(schema::JsonNode document, Arrival& arrival,
                           transport::link::ReplySlot& slot) {
  // Forms that only guests accept are not told from exact ones.
  if (is_holding_ || is_guest() || is_rest_registration(arrival.context)) return false;
  auto request = dialects::read_plain(document, options_.role);
  if (!request) return false;
  const auto handler = exact_.find(*request->type);
  return handler != exact_.end() &&
         handler->second({*request, document.find("params"), arrival, slot});
}

AgentServer::Arrived AgentServer::arrived(PlainCall call) {
  call.arrival.notes->message_type = std::string(envelope::wire_name(*call.request.type));
  peers::Reply reply(std::move(call.slot), {.id = call.request.id, .request = call.arrival.notes},
                     &options_.league_error);
  return {std::move(call.request), std::move(call.arrival), std::move(reply), call.message};
}

void AgentServer::on_document(json document, Arrival arrival, transport::link::ReplySlot slot) {
  if (is_rest_registration(arrival.context)) {
    const Error why = rest_refusal(options_.role);
    if (options_.on_not_admitted)
      options_.on_not_admitted(MessageType::kLeagueRegisterRequest, as_registration(document),
                               arrival.context, why);
    return refuse_rest(document, why, arrival.notes, std::move(slot));
  }
  if (dialects::is_bare_message(document))
    return on_outcome(reader_.read_bare(std::move(document)), arrival, std::move(slot));
  auto decoded = rpc::decode(std::move(document), {.refuse_null_id = true});
  auto& frame = decoded.frames.front();
  if (auto* invalid = std::get_if<rpc::InvalidRequest>(&frame)) {
    return refuse({invalid->id, rpc::StandardCode::kInvalidRequest, invalid->fault}, arrival,
                  std::move(slot));
  }
  on_outcome(reader_.read(std::move(std::get<rpc::Message>(frame))), arrival, std::move(slot));
}

void AgentServer::on_tool_call(mcp::ServedToolCall call) {
  const Arrival arrival{std::move(call.request.context), std::move(call.request.notes),
                        call.request.reply.request_context().channel()};
  dialects::IncomingRequest request;
  request.id = call.request.reply.id();
  request.method = std::move(call.name);
  request.message = std::move(call.arguments);
  request.result_tail = call.request.reply.result_tail();
  if (!call.request.is_declared) request.leniencies.add(envelope::Leniency::kMethodToolsCall);
  on_outcome(reader_.read_tool_call(std::move(request)), arrival, call.request.reply.take_slot(),
             call.request.reply.request_context().shared_from_this());
}

void AgentServer::on_outcome(std::variant<dialects::IncomingRequest, dialects::RpcRefusal> outcome,
                             const Arrival& arrival, transport::link::ReplySlot slot,
                             std::shared_ptr<mcp::RequestContext> client) {
  if (auto* refusal = std::get_if<dialects::RpcRefusal>(&outcome))
    return refuse(*refusal, arrival, std::move(slot));
  on_request(std::move(std::get<dialects::IncomingRequest>(outcome)), arrival, std::move(slot),
             std::move(client));
}

bool AgentServer::hold(dialects::IncomingRequest& request, const Arrival& arrival,
                       peers::Reply& reply) {
  constexpr std::size_t kMostHeld = 256;
  std::lock_guard lock(held_mutex_);
  if (!is_holding_ || held_.size() >= kMostHeld) return false;
  auto kept = std::make_shared<std::pair<dialects::IncomingRequest, peers::Reply>>(
      std::move(request), std::move(reply));
  held_.push_back([this, kept, arrival] {
    on_league_message(std::move(kept->first), arrival, std::move(kept->second));
  });
  return true;
}

void AgentServer::release() {
  std::vector<std::function<void()>> held;
  {
    std::lock_guard lock(held_mutex_);
    is_holding_ = false;
    held.swap(held_);
  }
  for (const auto& handle : held) handle();
}

void AgentServer::refuse(const dialects::RpcRefusal& refusal, const Arrival& arrival,
                         transport::link::ReplySlot slot) {
  peers::Reply reply(std::move(slot), {.id = refusal.id, .request = arrival.notes}, nullptr);
  bool bad_frame = refusal.code == rpc::StandardCode::kParseError ||
                   refusal.code == rpc::StandardCode::kInvalidRequest;
  reply.refuse_rpc(refusal.code, refusal.why, bad_frame ? 400 : 200);
}

void AgentServer::on_request(dialects::IncomingRequest request, const Arrival& arrival,
                             transport::link::ReplySlot slot,
                             std::shared_ptr<mcp::RequestContext> client) {
  note_what_is_visible(request.message, *arrival.notes);
  if (request.type) arrival.notes->message_type = std::string(envelope::wire_name(*request.type));
  peers::Reply reply(
      std::move(slot),
      {request.id, request.wants_reply, request.shape, arrival.notes, request.result_tail},
      &options_.league_error);
  if (request.type) {
    // What gives an agent its identity is not held until it has one.
    const bool is_awaited = *request.type == MessageType::kLeagueRegisterResponse;
    if (is_holding_ && !is_awaited && hold(request, arrival, reply)) return;
    return on_league_message(std::move(request), arrival, std::move(reply));
  }
  note_sender(request.message, *arrival.notes);
  auto tool = tools_.find(request.method);
  arrival.notes->message_type = request.method;
  arrival.notes->leniencies = request.leniencies.names();
  tool->second(ToolCall{std::move(request.message), arrival.context, std::move(reply),
                        arrival.channel, arrival.notes, std::move(client)});
}

void AgentServer::on_league_message(dialects::IncomingRequest request, const Arrival& arrival,
                                    peers::Reply reply) {
  auto handler = messages_.find(*request.type);
  if (handler == messages_.end()) {
    note_sender(request.message, *arrival.notes);
    note_speaker(request.message, *arrival.notes);
    return reply.refuse({ErrorCode::kUnexpectedMessage,
                         std::string(envelope::wire_name(*request.type)) + " is not sent to a " +
                             std::string(envelope::role_name(options_.role)),
                         "/message_type"});
  }
  handler->second(Arrived{std::move(request), arrival, std::move(reply)});
}

envelope::NormaliseDefaults AgentServer::defaults_for(const dialects::IncomingRequest& request) {
  const MessageType type = *request.type;
  envelope::NormaliseDefaults defaults;
  if (type == MessageType::kLeagueQuery && options_.query_defaults &&
      !request.message.contains("sender")) {
    const json& token = schema::field_at(request.message, "auth_token");
    if (token.is_string()) defaults = options_.query_defaults(token.get<std::string>());
    defaults.conversation_id = core::ConversationId("convquery");
  }
  const bool is_answer =
      type == MessageType::kGameJoinAck || type == MessageType::kChooseParityResponse;
  if (is_answer && options_.answer_defaults) {
    defaults =
        options_.answer_defaults(core::AuthToken(schema::text_at(request.message, "auth_token")),
                                 core::MatchId(schema::text_at(request.message, "match_id")));
  }
  defaults.now = clock_.utc_now();
  defaults.is_guest = is_guest();
  bool is_registration =
      type == MessageType::kRefereeRegisterRequest || type == MessageType::kLeagueRegisterRequest;
  if (is_registration) {
    auto role = type == MessageType::kRefereeRegisterRequest ? envelope::Role::kReferee
                                                             : envelope::Role::kPlayer;
    defaults.sender = envelope::Sender{role, "unregistered"}.str();
    defaults.conversation_id =
        envelope::registration_conversation(role, "unregistered", ++unnamed_conversations_);
  }
  return defaults;
}

AgentServer::ReadEnvelope AgentServer::admit(Arrived& arrived, ReadEnvelope envelope) {
  auto& notes = *arrived.arrival.notes;
  if (envelope) {
    notes.conversation_id = envelope->conversation_id.str();
    notes.peer = envelope->sender.str();
    if (envelope->match_id) notes.match_id = envelope->match_id->str();
    const auto& row = envelope::spec(*arrived.request.type);
    auto known = check_direction(row, *envelope);
    if (known) known = check_sender(row, *envelope, arrived.request.leniencies, notes);
    if (!known) envelope = known.error();
  } else {
    note_sender(arrived.request.message, notes);
  }
  if (!envelope) {
    if (arrived.plain) arrived.request.message = arrived.plain.to_json();
    note_speaker(arrived.request.message, notes);
    if (options_.on_not_admitted)
      options_.on_not_admitted(*arrived.request.type, arrived.request.message,
                               arrived.arrival.context, envelope.error());
  }
  notes.leniencies = arrived.request.leniencies.names();
  return envelope;
}

AgentServer::ReadEnvelope AgentServer::normalised(dialects::IncomingRequest& request,
                                                  const Read& read) {
  const auto& row = envelope::spec(*request.type);
  if (options_.mode == envelope::Mode::kStrict && !request.leniencies.empty()) {
    return Error{ErrorCode::kUnexpectedMessage,
                 "strict mode: call the method \"" + std::string(row.method) +
                     "\" with the message as params (" +
                     std::string(request.leniencies.names().front()) + ")",
                 "/method"};
  }
  if (auto done = envelope::normalise(request.message, row.type, options_.mode,
                                      defaults_for(request), request.leniencies);
      !done) {
    return done.error();
  }
  auto envelope = read(request.message);
  if (!envelope) {
    // A sender without a token is told only that, and no other fault of its message.
    return lacks_needed_token(row, request.message) ? missing_token() : envelope.error();
  }
  return envelope;
}

bool AgentServer::lacks_needed_token(const envelope::MessageSpec& row, const json& message) const {
  if (!row.token_required || !options_.check_token || is_guest() ||
      options_.role == envelope::Role::kLeagueManager || message.contains("auth_token"))
    return false;
  if (options_.mode == envelope::Mode::kStrict || !options_.pardon) return true;
  const auto sender = envelope::Sender::parse(schema::text_at(message, "sender"));
  if (!sender) return true;
  envelope::Envelope claim;
  claim.type = row.type;
  claim.sender = *sender;
  if (const auto& match = schema::text_at(message, "match_id"); !match.empty())
    claim.match_id = core::MatchId(match);
  return !options_.pardon(claim);
}

bool AgentServer::is_guest() const {
  return options_.mode == envelope::Mode::kOpen && options_.is_guest && options_.is_guest();
}

Result<void> AgentServer::check_sender(const envelope::MessageSpec& row,
                                       const envelope::Envelope& envelope,
                                       envelope::Leniencies& taken,
                                       rpc::MessageNotes& notes) const {
  if (!options_.check_token) return {};
  const bool shows_token = envelope.auth_token && !envelope.auth_token->empty();
  // LEAGUE_ERROR needs no token if it is an answer. As a call without a token it is acknowledged
  // and has no effect (protocol §4).
  const bool is_called_error =
      row.type == MessageType::kLeagueError && options_.role != envelope::Role::kLeagueManager;
  if (is_called_error && !shows_token) taken.add(envelope::Leniency::kMissingCallToken);
  if (!row.token_required && !(is_called_error && shows_token)) return {};
  Result<void> known = shows_token ? options_.check_token(envelope) : missing_token();
  if (known && options_.accepts_any_token) taken.add(envelope::Leniency::kForeignCallToken);
  if (known && proves_sender(row.type)) notes.said_by = notes.peer;
  if (known || options_.mode == envelope::Mode::kStrict || !options_.pardon) return known;
  auto pardon = options_.pardon(envelope);
  if (!pardon) return known;
  taken.add(*pardon);
  // The manager has announced that this match is played with exactly this token.
  if (*pardon == envelope::Leniency::kForeignRefereeToken) notes.said_by = notes.peer;
  return {};
}

bool AgentServer::proves_sender(MessageType type) const {
  // The match finds out which of its players an answer is from.
  const bool is_for_match =
      options_.role == envelope::Role::kReferee &&
      (type == MessageType::kGameJoinAck || type == MessageType::kChooseParityResponse);
  return options_.check_token && !options_.accepts_any_token && !is_for_match;
}

void AgentServer::note_speaker(const json& message, rpc::MessageNotes& notes) const {
  const auto type = envelope::message_type_from_wire(notes.message_type);
  if (!notes.said_by.empty() || !type || !proves_sender(*type)) return;
  const auto sender = envelope::Sender::parse(schema::text_at(message, "sender"));
  const std::string& token = schema::text_at(message, "auth_token");
  if (!sender || token.empty()) return;
  envelope::Envelope claim;
  claim.type = *type;
  claim.sender = *sender;
  claim.auth_token = core::AuthToken(token);
  if (!notes.match_id.empty()) claim.match_id = core::MatchId(notes.match_id);
  if (options_.check_token(claim)) notes.said_by = sender->str();
}

Result<void> AgentServer::check_direction(const envelope::MessageSpec& row,
                                          const envelope::Envelope& envelope) const {
  if (envelope.type != row.type) {
    return Error{ErrorCode::kUnexpectedMessage,
                 "the method carries " + std::string(row.wire_name) + ", but message_type says " +
                     std::string(envelope::wire_name(envelope.type)),
                 "/message_type"};
  }
  if (!row.senders.contains(envelope.sender.role)) {
    return Error{ErrorCode::kSenderMismatch,
                 std::string(row.wire_name) + " is not sent by a " +
                     std::string(envelope::role_name(envelope.sender.role)),
                 "/sender"};
  }
  if (!row.receivers.contains(options_.role)) {
    return Error{ErrorCode::kUnexpectedMessage,
                 std::string(row.wire_name) + " is not sent to a " +
                     std::string(envelope::role_name(options_.role)),
                 "/message_type"};
  }
  return {};
}

}  // namespace league::agent::host
