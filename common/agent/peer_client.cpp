#include "common/agent/peer_client.h"

#include "common/core/text.h"
#include "common/envelope/envelope.h"
#include "common/rpc/codec.h"
#include "common/rpc/dialect_search.h"
#include "common/schema/json_gate.h"

namespace league::agent {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using envelope::Leniency;
using nlohmann::json;

constexpr std::string_view kManager = "league_manager";

bool is_success(int http_status) {
  return http_status == 0 || (http_status >= 200 && http_status < 300);
}

/// How much of an answer that is none an error text shows.
constexpr std::size_t kShownBody = 160;

std::string with_status(int http_status, const std::string& text) {
  return is_success(http_status) ? text
                                 : "HTTP status " + std::to_string(http_status) + ": " + text;
}

/// A peer's JSON-RPC error. The codes that it writes into `data` are its own words and decide
/// nothing here: a bot that claims a time-out does not get a second attempt for it. Only the
/// manager's own fault is one on our side (E090): it passes, and a report is sent again.
Error peer_error(const rpc::ErrorObject& error, int http_status, const std::string& peer) {
  const bool is_ours =
      peer == kManager && error.code == static_cast<int>(rpc::StandardCode::kInternalError);
  return {
      is_ours ? ErrorCode::kInternalError : ErrorCode::kInvalidReply,
      with_status(http_status, "the peer answered with the error " + std::to_string(error.code) +
                                   ": " + core::shown(error.message, core::kMostEchoed)),
      ""};
}

/// An answer that is no league message: a gateway's status is trouble of the connection, everything
/// else is the peer's.
Error no_message(const transport::CallOutcome& outcome, const std::string& why) {
  bool gateway = outcome.http_status >= 502 && outcome.http_status <= 504;
  std::string text = "HTTP status " + std::to_string(outcome.http_status) + ": " + why;
  if (!outcome.bytes.empty()) text += "; it begins: " + core::shown(outcome.bytes, kShownBody);
  return {gateway ? ErrorCode::kConnectionError : ErrorCode::kInvalidReply, std::move(text), ""};
}

/// The error inside a LEAGUE_ERROR that came in place of the expected answer. What a bot calls its
/// fault decides nothing either.
Error league_error(const json& message, const std::string& peer) {
  auto text = [&message](const char* key) {
    auto it = message.find(key);
    return core::shown(
        it != message.end() && it->is_string() ? it->get<std::string>() : std::string(),
        core::kMostEchoed);
  };
  const std::string said =
      text("error_code") + " " + text("error_name") + ": " + text("error_description");
  if (peer != kManager)
    return {ErrorCode::kInvalidReply, "the peer answered with LEAGUE_ERROR " + said, ""};
  return {core::parse_error_code(text("error_code")).value_or(ErrorCode::kInvalidReply), said, ""};
}

bool says_type(const json& message, envelope::MessageType type) {
  auto it = message.find("message_type");
  return it != message.end() && it->is_string() &&
         it->get_ref<const std::string&>() == envelope::wire_name(type);
}

/// What a tool answered, or why it did not.
Result<json> tool_result(const transport::CallOutcome& outcome, const rpc::Id& id,
                         const std::string& peer) {
  if (outcome.error) return *outcome.error;
  auto document = schema::parse_json(outcome.bytes);
  if (!document) return no_message(outcome, document.error().message);
  auto decoded = rpc::decode_response(std::move(*document), id);
  if (!decoded) return decoded.error();
  auto& response = decoded->response;
  if (response.error) return peer_error(*response.error, outcome.http_status, peer);
  if (says_type(response.result, envelope::MessageType::kLeagueError))
    return league_error(response.result, peer);
  return std::move(response.result);
}

}  // namespace

struct PeerClient::Pending {
  PeerCall call;
  Completion completion;
  core::Clock::Steady started;
  core::Clock::Steady deadline;
  rpc::Id id;
  CallStyle style;
  /// What the peer answered before it was tried as a plain MCP server: that stands if it is none.
  std::optional<PeerReply> first_answer = std::nullopt;
};

PeerClient::PeerClient(transport::Caller& caller, const envelope::MessageSchemas& schemas,
                       const core::Clock& clock, envelope::Mode mode, PlainMcp plain_mcp)
    : caller_(caller),
      schemas_(schemas),
      clock_(clock),
      mode_(mode),
      plain_mcp_(std::move(plain_mcp)) {}

CallStyle PeerClient::style_of(const transport::Endpoint& endpoint) const {
  std::lock_guard lock(mutex_);
  auto found = styles_.find(endpoint.url());
  return found == styles_.end() ? first_style(endpoint) : found->second.style;
}

CallStyle PeerClient::first_style(const transport::Endpoint& endpoint) const {
  // A child or a legacy stream is most likely somebody's MCP server, and such servers may say
  // nothing at all before the handshake: silence would cost the match.
  bool is_mcp_first = endpoint.scheme == "stdio" || endpoint.scheme.starts_with("sse+");
  return plain_mcp_.caller != nullptr && is_mcp_first ? CallStyle::kMcp : CallStyle::kToolName;
}

transport::Caller& PeerClient::caller_for(CallStyle style) const {
  return style == CallStyle::kMcp && plain_mcp_.caller != nullptr ? *plain_mcp_.caller : caller_;
}

void PeerClient::remember_style(const transport::Endpoint& endpoint, CallStyle style) {
  std::lock_guard lock(mutex_);
  // What is tried first anyway needs no memory.
  if (style == first_style(endpoint) && !styles_.contains(endpoint.url())) return;
  if (style == CallStyle::kMcp && plain_mcp_.caller == nullptr) return;
  auto& known = styles_[endpoint.url()];
  if (known.style != style) known = {style, false};
}

void PeerClient::prove_style(const transport::Endpoint& endpoint, CallStyle style) {
  std::lock_guard lock(mutex_);
  styles_[endpoint.url()] = {style, true};
}

bool PeerClient::is_proven(const transport::Endpoint& endpoint) const {
  std::lock_guard lock(mutex_);
  auto found = styles_.find(endpoint.url());
  return found != styles_.end() && found->second.is_proven;
}

bool PeerClient::may_be_plain(const transport::Endpoint& endpoint) const {
  // A session on a bus is a league agent's: there is no other way to call it.
  return plain_mcp_.caller != nullptr && endpoint.scheme != "nats";
}

void PeerClient::note_silence(const Pending& pending, const Error& why) {
  // An MCP server on a connection may pass over what comes before the handshake: the next attempt
  // begins with it.
  const auto& endpoint = pending.call.endpoint;
  if (!may_be_plain(endpoint) || why.code != ErrorCode::kTimeout) return;
  if (transport::is_http(endpoint) || is_proven(endpoint)) return;
  remember_style(endpoint, CallStyle::kMcp);
}

void PeerClient::call(PeerCall call, Completion completion) {
  auto now = clock_.steady_now();
  auto style = style_of(call.endpoint);
  auto deadline = now + call.time_limit;
  send(std::make_shared<Pending>(Pending{std::move(call), std::move(completion), now, deadline,
                                         rpc::Id(next_id_.fetch_add(1)), style}));
}

void PeerClient::send(const std::shared_ptr<Pending>& pending) {
  const PeerCall& call = pending->call;
  transport::OutboundCall out;
  out.endpoint = call.endpoint;
  out.bytes = std::make_shared<const std::string>(
      frame_call(pending->style, call.type, pending->id, *call.message));
  out.deadline = pending->deadline;
  out.budget = call.budget;
  out.id = pending->id;
  out.notes->message_type = std::string(envelope::wire_name(call.type));
  out.notes->conversation_id = call.conversation_id;
  out.notes->match_id = call.match_id;
  out.notes->peer = call.peer;
  auto& caller = caller_for(pending->style);
  caller.call(std::move(out), [this, pending](transport::CallOutcome outcome) {
    on_outcome(pending, std::move(outcome));
  });
}

void PeerClient::on_outcome(const std::shared_ptr<Pending>& pending,
                            transport::CallOutcome outcome) {
  auto reply = understand(*pending, outcome);
  if (!reply) {
    pending->id = rpc::Id(next_id_.fetch_add(1));
    return send(pending);
  }
  reply->elapsed = clock_.steady_now() - pending->started;
  reply->sent_at = outcome.sent_at;
  reply->notes = outcome.notes;
  if (reply->error) {
    outcome.notes->verdict = reply->error->code;
    outcome.notes->fault = reply->error->message;
  }
  pending->completion(std::move(*reply));
}

std::optional<PeerReply> PeerClient::understand(Pending& pending, transport::CallOutcome& outcome) {
  const PeerCall& call = pending.call;
  auto& notes = *outcome.notes;
  notes.conversation_id = call.conversation_id;
  notes.match_id = call.match_id;
  notes.peer = call.peer;
  if (outcome.error) {
    if (tries_another_way(pending, outcome, nullptr)) return std::nullopt;
    if (pending.first_answer) return std::move(pending.first_answer);
    return PeerReply{.error = std::move(outcome.error)};
  }

  const auto& row = envelope::spec(call.type);
  envelope::Leniencies taken;
  auto document = schema::parse_json(outcome.bytes);
  auto reply = document ? read_reply(std::move(*document), pending.id)
                        : Result<IncomingReply>(document.error());
  bool not_found = reply && reply->error &&
                   reply->error->code == static_cast<int>(rpc::StandardCode::kMethodNotFound);
  // The log says what came: an answer may name another conversation than its call.
  if (reply) {
    if (auto said = envelope::conversation_id_in(reply->message); !said.empty())
      notes.conversation_id = std::move(said);
  }
  if (tries_another_way(pending, outcome, &reply)) return std::nullopt;
  if (!row.reply) return acknowledged(pending, outcome, reply, not_found);
  if (!reply)
    return PeerReply{
        .error = no_message(outcome, "the answer is no JSON-RPC: " + reply.error().message)};
  if (!is_success(outcome.http_status)) taken.add(Leniency::kReplyWithErrorStatus);
  reply->leniencies.add(taken);
  auto message = admit_reply(pending, std::move(*reply), outcome.http_status, notes);
  if (!message) return PeerReply{.error = message.error()};
  prove_style(call.endpoint, pending.style);
  return PeerReply{.message = std::move(*message)};
}

bool PeerClient::tries_another_way(Pending& pending, transport::CallOutcome& outcome,
                                   const Result<IncomingReply>* reply) {
  auto& notes = *outcome.notes;
  const auto& endpoint = pending.call.endpoint;
  bool is_refused = plain_mcp_.is_refused && plain_mcp_.is_refused(endpoint);
  auto go_on = [&](CallStyle style, std::string_view why) {
    pending.style = style;
    notes.verdict = ErrorCode::kUnexpectedMessage;
    notes.fault = why;
    return true;
  };
  if (pending.style == CallStyle::kMcp) {
    // Negotiation went first and there is nobody to negotiate with: a league agent after all.
    if (outcome.error && is_refused && !pending.first_answer)
      return go_on(CallStyle::kToolName, rpc::kTriesLeagueAgent);
    return false;
  }
  if (outcome.error) {
    note_silence(pending, *outcome.error);
    return false;
  }
  const rpc::ErrorObject* error =
      reply != nullptr && *reply && (*reply)->error ? &*(*reply)->error : nullptr;
  bool not_found =
      error != nullptr && error->code == static_cast<int>(rpc::StandardCode::kMethodNotFound);
  if (not_found) {
    if (auto next = next_call_style(pending.style)) return go_on(*next, rpc::kTriesAnotherName);
    if (!envelope::spec(pending.call.type).reply) return false;  // that acknowledges news
  }
  bool has_no_message = error != nullptr || reply == nullptr || !*reply;
  bool may_be_mcp = may_be_plain(endpoint) && !is_refused && has_no_message &&
                    !is_proven(endpoint) && looks_like_plain_mcp(outcome.http_status, error);
  if (!may_be_mcp) return false;
  pending.first_answer = PeerReply{};
  pending.first_answer->error = error != nullptr
                                    ? peer_error(*error, outcome.http_status, pending.call.peer)
                                    : no_message(outcome, "the answer is no JSON-RPC");
  return go_on(CallStyle::kMcp, rpc::kTriesPlainMcp);
}

PeerReply PeerClient::acknowledged(Pending& pending, transport::CallOutcome& outcome,
                                   Result<IncomingReply>& reply, bool not_found) {
  // Any 2xx body, an empty 204 and -32601 all acknowledge (protocol §9).
  envelope::Leniencies taken;
  if (not_found) taken.add(Leniency::kAckMethodNotFound);
  if (!reply && is_success(outcome.http_status)) taken.add(Leniency::kAckWithoutJson);
  if (reply) taken.add(reply->leniencies);
  outcome.notes->leniencies = taken.names();
  // A plain MCP server has no tools for news and says so as MCP wants it (-32602).
  bool has_no_tool = pending.style == CallStyle::kMcp && reply && reply->error &&
                     reply->error->code == static_cast<int>(rpc::StandardCode::kInvalidParams);
  if (reply && reply->error && !not_found && !has_no_tool)
    return PeerReply{.error = peer_error(*reply->error, outcome.http_status, pending.call.peer)};
  if (!reply && !is_success(outcome.http_status)) {
    return PeerReply{.error = no_message(outcome, "not an acknowledgement")};
  }
  if (!not_found) prove_style(pending.call.endpoint, pending.style);
  PeerReply done;
  if (reply && reply->message.is_object()) {
    done.message = std::move(reply->message);
    if (says_type(done.message, envelope::MessageType::kLeagueError))
      done.error = league_error(done.message, pending.call.peer);
  }
  return done;
}

Result<json> PeerClient::admit_reply(Pending& pending, IncomingReply reply, int http_status,
                                     rpc::MessageNotes& notes) {
  auto expected = *envelope::spec(pending.call.type).reply;
  notes.message_type = std::string(envelope::wire_name(expected));
  if (reply.error) return peer_error(*reply.error, http_status, pending.call.peer);
  if (!reply.message.is_object()) {
    return Error{ErrorCode::kInvalidReply, "the result is not the object " + notes.message_type,
                 "/result"};
  }
  if (says_type(reply.message, envelope::MessageType::kLeagueError)) {
    notes.message_type = std::string(envelope::wire_name(envelope::MessageType::kLeagueError));
    return league_error(reply.message, pending.call.peer);
  }
  if (mode_ == envelope::Mode::kStrict && !reply.leniencies.empty()) {
    notes.leniencies = reply.leniencies.names();
    return Error{ErrorCode::kInvalidReply,
                 "strict mode: answer with the message as the JSON-RPC result (" +
                     std::string(reply.leniencies.names().front()) + ")",
                 "/result"};
  }
  auto defaults = pending.call.reply_defaults;
  defaults.now = clock_.utc_now();
  auto normal = envelope::normalise(reply.message, expected, mode_, defaults, reply.leniencies);
  notes.leniencies = reply.leniencies.names();
  if (!normal) return normal.error();
  if (auto valid = schemas_.validate(expected, reply.message); !valid) return valid.error();
  if (defaults.sender && reply.message["sender"] != *defaults.sender) {
    if (mode_ == envelope::Mode::kStrict) {
      return Error{ErrorCode::kSenderMismatch,
                   "strict mode: sender must be " + *defaults.sender + ", whom this call was for",
                   "/sender"};
    }
    reply.leniencies.add(Leniency::kForeignReplySender);
    notes.leniencies = reply.leniencies.names();
  }
  return std::move(reply.message);
}

void PeerClient::ping(transport::Endpoint endpoint, const std::string& peer,
                      std::chrono::milliseconds time_limit,
                      std::function<void(bool alive)> completion) {
  transport::OutboundCall out;
  out.endpoint = std::move(endpoint);
  out.id = rpc::Id(next_id_.fetch_add(1));
  out.bytes = std::make_shared<const std::string>(rpc::encode_request(out.id, "ping", "{}"));
  out.deadline = clock_.steady_now() + time_limit;
  out.notes->message_type = "ping";
  out.notes->peer = peer;
  auto& caller = caller_for(style_of(out.endpoint));
  caller.call(std::move(out),
              [peer, completion = std::move(completion)](transport::CallOutcome outcome) {
                outcome.notes->message_type = "ping";
                outcome.notes->peer = peer;
                if (outcome.error) {
                  outcome.notes->verdict = outcome.error->code;
                  outcome.notes->fault = outcome.error->message;
                }
                completion(!outcome.error);
              });
}

void PeerClient::call_tool(PeerToolCall call, std::function<void(Result<json>)> completion) {
  transport::OutboundCall out;
  out.endpoint = std::move(call.endpoint);
  out.id = rpc::Id(next_id_.fetch_add(1));
  out.bytes =
      std::make_shared<const std::string>(rpc::encode_request(out.id, call.tool, call.arguments));
  out.deadline = clock_.steady_now() + call.time_limit;
  out.budget = call.budget;
  out.notes->message_type = call.tool;
  out.notes->peer = call.peer;
  const rpc::Id id = out.id;
  caller_.call(std::move(out), [call = std::move(call), id, completion = std::move(completion)](
                                   const transport::CallOutcome& outcome) {
    outcome.notes->message_type = call.tool;
    outcome.notes->peer = call.peer;
    auto result = tool_result(outcome, id, call.peer);
    if (!result) {
      outcome.notes->verdict = result.error().code;
      outcome.notes->fault = result.error().message;
    }
    completion(std::move(result));
  });
}

}  // namespace league::agent
