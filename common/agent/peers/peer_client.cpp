#include "common/agent/peers/peer_client.h"

#include "common/agent/peers/peer_errors.h"
#include "common/agent/peers/reply_names.h"
#include "common/agent/peers/trace_parent.h"
#include "common/rpc/codec.h"
#include "common/rpc/dialect_search.h"
#include "common/rpc/http_headers.h"
#include "common/rpc/seat_address.h"
#include "common/schema/parse_json.h"

namespace league::agent::peers {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using envelope::Leniency;
using nlohmann::json;

/// What a gateway such as a seat says if the peer has not answered.
constexpr int kGatewayTimeout = 504;

/// Removes what cannot work at `endpoint`: other transports match answers by their ids, and a bare
/// body has none.
dialects::DialectCache::Search suited(dialects::DialectCache::Search search,
                                      const transport::link::Endpoint& endpoint) {
  if (!transport::link::is_http(endpoint)) {
    std::erase_if(search.dialects, [](const dialects::CallDialect& way) {
      return way.style == dialects::CallStyle::kBareBody;
    });
  }
  return search;
}

/// Whether the peer closed the connection on a bare body that it was only tried with: some servers
/// fail where a request has no method.
bool has_hung_up(const transport::link::CallOutcome& outcome,
                 const dialects::DialectCache::Search& search) {
  return outcome.error && outcome.error->code == ErrorCode::kConnectionError && outcome.sent_at &&
         search.at > 0 && search.way().style == dialects::CallStyle::kBareBody;
}

/// Whether the answer to `way` shows that the peer does not know this way of calling.
bool is_unknown_way(const transport::link::CallOutcome& outcome,
                    const Result<dialects::IncomingReply>& reply,
                    const dialects::DialectCache::Search& search, bool needs_message) {
  const auto& way = search.way();
  if (outcome.error) return has_hung_up(outcome, search);
  if (reply && reply->error) return says_no_such_method(*reply->error, way, !search.is_proven);
  if (way.style != dialects::CallStyle::kBareBody || search.is_proven) return false;
  // A server that expects JSON-RPC answers a bare body with an error page, or with nothing.
  if (!is_success(outcome.http_status))
    return !reply || !dialects::looks_like_answer(reply->message);
  return needs_message && !reply;
}

/// Whether the answer is not the peer's own: an error page of its web framework, which can be JSON,
/// too, or of a gateway.
bool is_page(const transport::link::CallOutcome& outcome,
             const Result<dialects::IncomingReply>& reply) {
  if (outcome.http_status == kGatewayTimeout) return true;
  return reply && !reply->error && !is_success(outcome.http_status) &&
         !dialects::looks_like_answer(reply->message);
}

/// How long a seat kept a call whose player has not answered, as it says; nothing if it does not.
std::optional<std::chrono::microseconds> seat_delay_in(
    const transport::link::CallOutcome& outcome) {
  if (outcome.http_status != kGatewayTimeout || !outcome.refusal_headers) return std::nullopt;
  const auto said = rpc::find_header(*outcome.refusal_headers, rpc::kSeatDelayHeader);
  const auto delay = said ? rpc::seat_number(*said) : std::nullopt;
  return delay ? std::optional(std::chrono::microseconds(*delay)) : std::nullopt;
}

/// What a log record says of every answer to `call`.
void note_call(rpc::MessageNotes& notes, const PeerCall& call) {
  notes.conversation_id = call.conversation_id;
  notes.match_id = call.match_id;
  notes.peer = call.peer;
}

}  // namespace

PeerCall call_with(Peer to, const envelope::Envelope& envelope, std::string message,
                   std::chrono::milliseconds time_limit) {
  PeerCall call;
  call.endpoint = std::move(to.endpoint);
  call.type = envelope.type;
  call.message = std::make_shared<const std::string>(std::move(message));
  call.conversation_id = envelope.conversation_id.str();
  if (envelope.match_id) call.match_id = envelope.match_id->str();
  call.league_id = envelope.league_id;
  call.round_id = envelope.round_id;
  call.time_limit = time_limit;
  call.reply_defaults.sender = to.name;
  call.reply_defaults.conversation_id = envelope.conversation_id;
  call.peer = std::move(to.name);
  return call;
}

struct PeerClient::Pending {
  PeerCall call;
  std::string address;  ///< of the endpoint, as dialects are remembered by it
  Completion completion;
  core::Clock::Steady started;
  core::Clock::Steady deadline;
  rpc::Id id;
  dialects::DialectCache::Search search;
  bool has_searched;  ///< all ways had failed before this call
  /// The peer's answer before another dialect was tried; it is returned if no other dialect works.
  std::optional<PeerReply> first_answer = std::nullopt;
  bool has_tried_sessions = false;
  bool is_receipt = false;  ///< see PeerReply

  [[nodiscard]] dialects::CallStyle style() const { return search.way().style; }
};

PeerClient::PeerClient(transport::link::Caller& caller, const envelope::MessageSchemas& schemas,
                       const core::Clock& clock, envelope::Mode mode, PlainMcp plain_mcp)
    : caller_(caller),
      schemas_(schemas),
      clock_(clock),
      mode_(mode),
      plain_mcp_(std::move(plain_mcp)) {}

dialects::CallStyle PeerClient::style_of(const transport::link::Endpoint& endpoint) const {
  return known_.style_of(endpoint.url()).value_or(first_style(endpoint));
}

dialects::CallStyle PeerClient::first_style(const transport::link::Endpoint& endpoint) const {
  // A child process is most likely an MCP server. Such servers may ignore messages before the
  // handshake, and a call without an answer would cost the match.
  return plain_mcp_.caller != nullptr && endpoint.scheme == "stdio"
             ? dialects::CallStyle::kMcp
             : dialects::CallStyle::kToolName;
}

transport::link::Caller& PeerClient::caller_for(dialects::CallStyle style) const {
  return style == dialects::CallStyle::kMcp && plain_mcp_.caller != nullptr ? *plain_mcp_.caller
                                                                            : caller_;
}

void PeerClient::remember_style(const transport::link::Endpoint& endpoint,
                                dialects::CallStyle style) {
  // The style that is tried first anyway need not be stored.
  if (style == first_style(endpoint) && !known_.style_of(endpoint.url())) return;
  if (style == dialects::CallStyle::kMcp && plain_mcp_.caller == nullptr) return;
  known_.tell(endpoint.url(), style);
}

void PeerClient::on_registered(const transport::link::Endpoint& endpoint,
                               dialects::CallStyle style) {
  known_.forget_failures(endpoint.url());
  if (style != dialects::CallStyle::kToolName) remember_style(endpoint, style);
}

bool PeerClient::may_be_plain(const transport::link::Endpoint& endpoint) const {
  // A session on a bus always belongs to a league agent, so it is never called as a plain MCP
  // server.
  return plain_mcp_.caller != nullptr && endpoint.scheme != "nats";
}

void PeerClient::note_silence(const Pending& pending, const Error& why) {
  const auto& endpoint = pending.call.endpoint;
  if (why.code == ErrorCode::kConnectionError) return known_.forget_failures(pending.address);
  if (why.code != ErrorCode::kTimeout) return;
  known_.pass_over(pending.address, pending.call.type, pending.search);
  // An MCP server on a connection may ignore messages before the handshake, so the next attempt
  // begins with the handshake.
  if (!may_be_plain(endpoint) || transport::link::is_http(endpoint)) return;
  if (!known_.is_proven(pending.address)) remember_style(endpoint, dialects::CallStyle::kMcp);
}

void PeerClient::call(PeerCall call, Completion completion) {
  auto now = clock_.steady_now();
  std::string address = call.endpoint.url();
  auto search =
      suited(known_.search(address, call.type, first_style(call.endpoint)), call.endpoint);
  const bool has_searched = search.is_hopeless;
  auto deadline = now + call.time_limit + call.grace.value_or(std::chrono::milliseconds(0));
  send(std::make_shared<Pending>(Pending{std::move(call), std::move(address), std::move(completion),
                                         now, deadline, rpc::Id(next_id_.fetch_add(1)),
                                         std::move(search), has_searched}));
}

void PeerClient::trace(transport::link::OutboundCall& out, std::string_view message,
                       std::string_view conversation_id) {
  if (!transport::link::is_http(out.endpoint) || conversation_id.empty()) return;
  out.headers.emplace_back("traceparent",
                           trace_parent(message, conversation_id, next_span_.fetch_add(1)));
}

void PeerClient::send(const std::shared_ptr<Pending>& pending) {
  PeerCall& call = pending->call;
  transport::link::OutboundCall out;
  out.endpoint = call.endpoint;
  out.bytes = dialects::frame_call(pending->search.way(), pending->id, *call.message);
  out.deadline = pending->deadline;
  out.budget = call.budget;
  if (pending->style() != dialects::CallStyle::kBareBody) out.id = pending->id;
  out.is_repeatable = true;  // a message of the league may be repeated (protocol §6)
  out.batch = std::exchange(call.batch, nullptr);  // a second attempt goes alone
  out.notes->message_type = std::string(envelope::wire_name(call.type));
  out.notes->conversation_id = call.conversation_id;
  out.notes->match_id = call.match_id;
  out.notes->peer = call.peer;
  trace(out, *call.message, call.conversation_id);
  if (call.grace) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(pending->deadline - *call.grace -
                                                                   clock_.steady_now());
    out.headers.emplace_back(rpc::kSeatLimitHeader, std::to_string(left.count()));
  }
  auto& caller = caller_for(pending->style());
  caller.call(std::move(out), [this, pending](transport::link::CallOutcome outcome) {
    on_outcome(pending, std::move(outcome));
  });
}

void PeerClient::on_outcome(const std::shared_ptr<Pending>& pending,
                            transport::link::CallOutcome outcome) {
  auto reply = understand(*pending, outcome);
  if (!reply) {
    outcome.write_record();  // the reason for the next call
    pending->id = rpc::Id(next_id_.fetch_add(1));
    return send(pending);
  }
  reply->elapsed = clock_.steady_now() - pending->started;
  reply->sent_at = outcome.sent_at;
  reply->http_status = outcome.http_status;
  if (pending->call.grace) reply->seat_delay = seat_delay_in(outcome);
  reply->notes = outcome.notes;
  if (reply->error && !reply->is_receipt) {
    outcome.notes->verdict = reply->error->code;
    outcome.notes->fault = reply->error->message;
  }
  reply->record = std::move(outcome.record);
  pending->completion(std::move(*reply));
}

PeerReply PeerClient::judge(PeerCall call, const rpc::Id& id,
                            transport::link::CallOutcome outcome) const {
  // A client of its own knows nothing of the peer and may forget what it learns.
  PeerClient judge(caller_, schemas_, clock_, mode_);
  const auto ways = dialects::call_dialects(call.type, dialects::CallStyle::kToolName);
  std::string address = call.endpoint.url();
  Pending pending{std::move(call), std::move(address), {}, {}, {}, id, {}, /*has_searched=*/true};
  pending.search = {.dialects = {ways.front()}, .is_proven = true, .is_hopeless = true};
  auto reply = judge.understand(pending, outcome);
  if (!reply) reply = std::move(pending.first_answer);
  reply->notes = outcome.notes;
  return std::move(*reply);
}

std::optional<PeerReply> PeerClient::understand(Pending& pending,
                                                transport::link::CallOutcome& outcome) {
  const PeerCall& call = pending.call;
  auto& notes = *outcome.notes;
  note_call(notes, call);
  if (outcome.error && !has_hung_up(outcome, pending.search)) {
    if (tries_another_way(pending, outcome, nullptr, false)) return std::nullopt;
    if (pending.has_tried_sessions) return std::move(pending.first_answer);
    return PeerReply{.error = std::move(outcome.error)};
  }
  const auto& row = envelope::spec(call.type);
  envelope::Leniencies taken;
  const auto tree = schema::JsonTree::parse(outcome.bytes);
  if (tree && row.reply) {
    if (auto exact = exact_answer(pending, outcome, tree->root())) return exact;
  }
  auto document = tree ? tree->root().to_json() : schema::parse_json(outcome.bytes);
  auto reply = document ? dialects::read_reply(std::move(*document), pending.id, pending.style())
                        : Result<dialects::IncomingReply>(document.error());
  // The log shows the id that was received, even if it differs from the call's.
  if (reply) {
    if (auto said = envelope::conversation_id_in(reply->message); !said.empty())
      notes.conversation_id = std::move(said);
  }
  const bool has_no_method = is_unknown_way(outcome, reply, pending.search, row.reply.has_value());
  const auto way = pending.search.way();
  if (tries_another_way(pending, outcome, &reply, has_no_method)) return std::nullopt;
  if (has_no_method && row.reply && pending.first_answer) return std::move(pending.first_answer);
  if (is_page(outcome, reply) && !has_no_method) return PeerReply{.error = no_message(outcome, "")};
  if (reply && !has_no_method) known_.find(pending.address, call.type, way);
  if (!row.reply) return acknowledged(pending, outcome, reply, has_no_method);
  if (!reply)
    return PeerReply{
        .error = no_message(outcome, "the answer is not JSON-RPC: " + reply.error().message)};
  if (!is_success(outcome.http_status)) taken.add(Leniency::kReplyWithErrorStatus);
  reply->leniencies.add(taken);
  auto admitted = admit_reply(pending, std::move(*reply), outcome);
  if (!admitted)
    return PeerReply{.error = admitted.error(),
                     .is_receipt = pending.is_receipt,
                     .has_no_method = has_no_method};
  known_.prove(pending.address, call.type, way);
  return std::move(*admitted);
}

std::optional<PeerReply> PeerClient::exact_answer(const Pending& pending,
                                                  const transport::link::CallOutcome& outcome,
                                                  schema::JsonNode document) {
  const PeerCall& call = pending.call;
  if (!is_success(outcome.http_status)) return std::nullopt;
  const auto expected = *envelope::spec(call.type).reply;
  auto answer = envelope::read_exact_answer(schemas_, expected,
                                            dialects::read_plain_result(document, pending.id));
  envelope::Leniencies taken;
  if (!answer || !compare_names(call, answer->envelope, mode_, taken) || !taken.empty() ||
      names_other_player(answer->message, call.reply_defaults.player_id))
    return std::nullopt;
  auto& notes = *outcome.notes;
  notes.message_type = std::string(envelope::wire_name(expected));
  notes.conversation_id = answer->envelope.conversation_id.str();
  known_.prove(pending.address, call.type, pending.search.way());
  return PeerReply{.answer = std::move(*answer)};
}

bool PeerClient::tries_another_way(Pending& pending, transport::link::CallOutcome& outcome,
                                   const Result<dialects::IncomingReply>* reply,
                                   bool has_no_method) {
  auto& notes = *outcome.notes;
  const auto& endpoint = pending.call.endpoint;
  const auto type = pending.call.type;
  const auto is_refused = [&] { return plain_mcp_.is_refused && plain_mcp_.is_refused(endpoint); };
  auto go_on = [&notes](std::string_view why) {
    notes.verdict = ErrorCode::kUnexpectedMessage;
    notes.fault = why;
    return true;
  };
  if (outcome.error && !has_no_method) {
    // Negotiation was tried first and failed, so the peer is probably a league agent after all.
    if (pending.style() == dialects::CallStyle::kMcp && !pending.has_tried_sessions &&
        is_refused()) {
      pending.search = suited(
          {.dialects = dialects::call_dialects(type, dialects::CallStyle::kToolName)}, endpoint);
      return go_on(rpc::kTriesLeagueAgent);
    }
    if (pending.style() != dialects::CallStyle::kMcp) note_silence(pending, *outcome.error);
    return false;
  }
  const rpc::ErrorObject* error =
      reply != nullptr && *reply && (*reply)->error ? &*(*reply)->error : nullptr;
  auto keep_answer = [&] {
    if (pending.first_answer) return;
    pending.first_answer = PeerReply{};
    pending.first_answer->error = error != nullptr
                                      ? peer_error(*error, outcome.http_status, pending.call.peer)
                                      : no_message(outcome, "the answer is not JSON-RPC");
    pending.first_answer->has_no_method = true;
  };
  if (has_no_method) {
    keep_answer();
    const bool lacks_wrapper =
        error != nullptr && dialects::says_no_such_wrapper(*error, pending.search.way());
    if (known_.next(pending.address, type, pending.search, lacks_wrapper))
      return go_on(rpc::kTriesAnotherName);
    if (!envelope::spec(type).reply) return false;  // the refusal counts as an acknowledgement
  }
  bool has_no_message = error != nullptr || reply == nullptr || !*reply;
  // Sessions are tried once, as the last part of a search.
  bool may_be_mcp = !pending.has_searched && !pending.has_tried_sessions &&
                    pending.style() != dialects::CallStyle::kMcp && may_be_plain(endpoint) &&
                    has_no_message && !is_refused() && !known_.is_proven(pending.address) &&
                    dialects::looks_like_plain_mcp(outcome.http_status, error);
  if (!may_be_mcp) return false;
  keep_answer();
  pending.has_tried_sessions = true;
  pending.search = {.dialects = dialects::call_dialects(type, dialects::CallStyle::kMcp)};
  return go_on(rpc::kTriesPlainMcp);
}

PeerReply PeerClient::acknowledged(Pending& pending, transport::link::CallOutcome& outcome,
                                   Result<dialects::IncomingReply>& reply, bool has_no_method) {
  // Any 2xx body, an empty 204 and -32601 all count as acknowledgements (protocol §9).
  envelope::Leniencies taken;
  if (has_no_method) taken.add(Leniency::kAckMethodNotFound);
  if (!reply && is_success(outcome.http_status) && !has_no_method)
    taken.add(Leniency::kAckWithoutJson);
  if (reply) taken.add(reply->leniencies);
  outcome.notes->leniencies = taken.names();
  // A plain MCP server has no tools for notifications and answers with -32602, as MCP requires.
  bool has_no_tool = pending.style() == dialects::CallStyle::kMcp && reply && reply->error &&
                     reply->error->code == static_cast<int>(rpc::StandardCode::kInvalidParams);
  if (reply && reply->error && !has_no_method && !has_no_tool)
    return PeerReply{.error = peer_error(*reply->error, outcome.http_status, pending.call.peer)};
  if (!reply && !is_success(outcome.http_status) && !has_no_method)
    return PeerReply{.error = no_message(outcome, "not an acknowledgement")};
  PeerReply done;
  done.has_no_method = has_no_method || has_no_tool;
  if (!done.has_no_method) known_.prove(pending.address, pending.call.type, pending.search.way());
  if (reply && reply->message.is_object()) {
    done.acknowledgement = std::move(reply->message);
    if (says_type(done.acknowledgement, envelope::MessageType::kLeagueError))
      done.error = league_error(done.acknowledgement, pending.call.peer);
  }
  return done;
}

Result<PeerReply> PeerClient::admit_reply(Pending& pending, dialects::IncomingReply reply,
                                          const transport::link::CallOutcome& outcome) {
  rpc::MessageNotes& notes = *outcome.notes;
  auto expected = *envelope::spec(pending.call.type).reply;
  notes.message_type = std::string(envelope::wire_name(expected));
  if (reply.error) return peer_error(*reply.error, outcome.http_status, pending.call.peer);
  if (!reply.message.is_object()) {
    return dialects::with_received(
        {ErrorCode::kInvalidReply, "the result is not the object " + notes.message_type, "/result"},
        reply.message);
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
  if (mode_ == envelope::Mode::kOpen) note_foreign_player(reply, defaults.player_id);
  const json arrived = reply.message;
  const bool is_receipt = mode_ == envelope::Mode::kOpen && dialects::says_received(reply.message);
  auto normal = envelope::normalise(reply.message, expected, mode_, defaults, reply.leniencies);
  notes.leniencies = reply.leniencies.names();
  if (!normal) return normal.error();
  auto answer = envelope::read_answer(schemas_, expected, reply.message);
  if (!answer) {
    pending.is_receipt = is_receipt;
    if (is_receipt) notes.message_type.clear();
    return dialects::with_received(answer.error(), arrived);
  }
  auto names = compare_names(pending.call, answer->envelope, mode_, reply.leniencies);
  if (!names) return names.error();
  notes.leniencies = reply.leniencies.names();
  return PeerReply{.answer = std::move(*answer)};
}

}  // namespace league::agent::peers
