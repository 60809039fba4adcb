#include "common/mcp/client/client_session.h"

#include <vector>

#include "common/mcp/client/client_calls.h"
#include "common/mcp/client/client_session_parts.h"
#include "common/mcp/protocol.h"
#include "common/rpc/codec.h"
#include "common/schema/parse_json.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using transport::link::CallOutcome;

/// If a request gets status 400 again in the renewed session, the session was not the cause. After
/// that, no status 400 renews the session for this long, so that faulty requests do not cause
/// repeated handshakes.
constexpr std::chrono::seconds kPauseAfterFutileRenewal{10};

SessionAnswer failed(Error why) {
  SessionAnswer answer;
  answer.error = std::move(why);
  return answer;
}

Error no_session() {
  return {ErrorCode::kConnectionError, "there is no session with the server", ""};
}

/// The `resultType` of a result; empty if it has none.
std::string result_type_of(const json& result) {
  auto type = result.is_object() ? result.find("resultType") : result.end();
  if (!result.is_object() || type == result.end()) return {};
  return type->is_string() ? type->get<std::string>() : "none";
}

}  // namespace

std::shared_ptr<ClientSession> ClientSession::create(const SessionTools& tools, task::Scope& scope,
                                                     transport::link::Endpoint endpoint,
                                                     SessionOptions options) {
  return std::shared_ptr<ClientSession>(
      new ClientSession(tools, scope, std::move(endpoint), std::move(options)));
}

ClientSession::ClientSession(const SessionTools& tools, task::Scope& scope,
                             transport::link::Endpoint endpoint, SessionOptions options)
    : tools_(tools), scope_(scope), options_(std::move(options)), endpoint_(std::move(endpoint)) {}

ClientSession::~ClientSession() { close(); }

Headers ClientSession::with_own(Headers headers) const {
  headers.insert(headers.end(), options_.headers.begin(), options_.headers.end());
  return headers;
}

bool ClientSession::is_lost() const {
  if (state_ == State::kReady) return !client_ || !client_->is_open();
  return state_ == State::kClosed;
}

task::Task<SessionAnswer> ClientSession::ask(SessionRequest request) {
  Call call(*this, std::move(request));
  try {
    co_return co_await converse(&call);
  } catch (const std::exception& fault) {
    co_return failed(
        task::is_cancellation(fault)
            ? Error{ErrorCode::kShuttingDown, "cancelled: " + call.request.cancel_reason, ""}
            : Error{ErrorCode::kInternalError, fault.what(), ""});
  }
}

task::Task<SessionAnswer> ClientSession::converse(Call* call) {
  Failure failure;
  call->generation = generation_;
  if (state_ == State::kReady && is_in_doubt_) {
    failure = co_await renew(call);
  } else if (state_ == State::kRenewing) {
    failure = co_await established_.wait();
  }
  for (;;) {
    if (failure) co_return failed(*failure);
    auto message = frame(*call);
    if (!message) co_return failed(message.error());
    auto outcome = co_await exchange(call, std::move(*message));
    if (is_session_lost(*call, http_status_of(outcome))) {
      failure = co_await renew(call);
      continue;
    }
    auto answer = read_answer(*call, std::move(outcome));
    const auto& error = answer.response.error;
    const bool misses_headers = !answer.error && error && error->code == kHeaderMismatch &&
                                call->request.method == "tools/call" && !call->has_listed &&
                                !call->request.argument_headers;
    if (!misses_headers) {
      if (!answer.error && !call->request.is_relayed) judge_result(*call, answer);
      co_return answer;
    }
    call->has_listed = true;
    const auto tools = co_await list_tools(this, call->request.deadline);
    if (!tools) co_return answer;
  }
}

core::Result<transport::link::OutboundMessage> ClientSession::frame(Call& call) const {
  const bool is_there = state_ == State::kReady || state_ == State::kRenewing;
  if (!is_there || !client_) return no_session();
  const SessionRequest& request = call.request;
  call.generation = generation_;
  call.had_session = !negotiated_.session_id.empty();
  auto frame = frame_request(negotiated_, options_.client, rpc::Id(call.id), request.method,
                             request.params, request.on_progress != nullptr, request.is_relayed);
  if (!frame) return frame.error();
  Headers of_arguments;
  if (request.argument_headers) {
    of_arguments = *request.argument_headers;
  } else if (negotiated_.is_modern && request.method == "tools/call") {
    of_arguments = param_headers_.of_call(request.params);
  }
  transport::link::OutboundMessage message;
  message.bytes = std::move(frame->bytes);
  call.bytes = message.bytes;
  message.headers = with_own(std::move(frame->headers));
  message.headers.insert(message.headers.end(), of_arguments.begin(), of_arguments.end());
  message.deadline = request.deadline;
  message.is_listening = request.is_listening;
  message.is_repeatable = request.is_repeatable || request.method != "tools/call";
  return message;
}

task::Task<CallOutcome> ClientSession::exchange(const Call* call,
                                                transport::link::OutboundMessage message) {
  try {
    co_return co_await client_->request(rpc::Id(call->id), std::move(message));
  } catch (...) {
    cancel(*call);
    throw;
  }
}

bool ClientSession::is_session_lost(Call& call, int http_status) {
  if (http_status == 404) return call.had_session && !call.was_renewed;
  if (http_status != 400 || !call.had_session) return false;
  const auto now = tools_.clock.steady_now();
  if (call.was_renewed) {
    if (call.was_renewed_at_400) next_renewal_at_400_ = now + kPauseAfterFutileRenewal;
    return false;
  }
  // If the session was already replaced in the meantime, the request is sent again.
  if (call.generation == generation_ && now < next_renewal_at_400_) return false;
  call.was_renewed_at_400 = true;
  return true;
}

void ClientSession::note_lost_server(const Call& call) {
  // Requests of 2026-07-28 need no session, and other connections end together with their server.
  const bool may_forget = !negotiated_.is_modern && transport::link::is_http(endpoint_);
  if (may_forget && call.generation == generation_) is_in_doubt_ = true;
}

SessionAnswer ClientSession::read_answer(const Call& call, CallOutcome outcome) {
  SessionAnswer answer;
  answer.http_status = http_status_of(outcome);
  answer.refusal_headers = headers_of_refusal(outcome);
  answer.context = std::move(outcome.context);
  answer.sent_at = outcome.sent_at;
  answer.wire_request = call.bytes;
  answer.wire_response = outcome.bytes;
  if (outcome.error) {
    if (outcome.error->code == ErrorCode::kTimeout)
      tell_cancelled(call.id, "the time for the answer is over");
    if (outcome.error->code == ErrorCode::kConnectionError && answer.http_status == 0)
      note_lost_server(call);
    answer.error = std::move(outcome.error);
    return answer;
  }
  auto document = schema::parse_json(outcome.bytes, schema::kMcpLimits);
  if (!document) {
    answer.error = Error{ErrorCode::kInvalidReply, "the answer: " + document.error().message, ""};
    return answer;
  }
  auto decoded = rpc::decode_response(std::move(*document), rpc::Id(call.id));
  if (decoded) {
    answer.response = std::move(decoded->response);
  } else {
    answer.error = decoded.error();
  }
  return answer;
}

void ClientSession::judge_result(const Call& call, SessionAnswer& answer) {
  if (answer.response.error) return;
  // Only HTTP has header fields; on other transports the marks have no meaning.
  const bool has_fields = negotiated_.is_modern && transport::link::is_http(endpoint_);
  if (has_fields && call.request.method == "tools/list")
    param_headers_.learn(answer.response.result);
  const std::string type = result_type_of(answer.response.result);
  if (type == "input_required") {
    answer.error = Error{ErrorCode::kInvalidReply,
                         "the server wants more input for " + call.request.method +
                             " (resultType input_required), and this client has none to give",
                         "/result/resultType"};
  } else if (negotiated_.is_modern && !type.empty() && type != "complete") {
    answer.error = Error{ErrorCode::kInvalidReply,
                         "the result is of a type that this client does not know: resultType \"" +
                             type.substr(0, 40) + "\"",
                         "/result/resultType"};
  }
  answer.is_unfinished = answer.error.has_value();
}

void ClientSession::cancel(const Call& call) {
  if (!client_ || !client_->abandon(rpc::Id(call.id), session_closed())) return;
  if (auto* http = streamable_http(*client_); http != nullptr && negotiated_.is_modern)
    return http->abandon(rpc::Id(call.id));  // which cancels it
  tell_cancelled(call.id, call.request.cancel_reason);
}

void ClientSession::tell_cancelled(RequestId id, const std::string& reason) {
  notify("notifications/cancelled", json{{"requestId", id}, {"reason", reason}}.dump());
}

void ClientSession::notify(const std::string& method, const std::string& params) {
  if (state_ != State::kReady || !client_) return;
  transport::link::OutboundMessage message;
  message.headers = with_own(session_headers(negotiated_));
  if (negotiated_.is_modern) message.headers.emplace_back("Mcp-Method", method);
  message.bytes = rpc::encode_notification(method, params);
  message.is_repeatable = true;
  message.deadline = tools_.clock.steady_now() + std::chrono::seconds(5);
  client_->send(std::move(message));
}

void ClientSession::on_connection_closed(const Error& why) {
  // During negotiation the failure is reported by the negotiation's pending request.
  const bool was_ready = state_ == State::kReady;
  if (std::exchange(closing_, nullptr) && options_.on_disconnected) options_.on_disconnected();
  if (!was_ready) return;
  end(why);
  if (options_.on_closed) options_.on_closed(why);
}

void ClientSession::end(const Error& why) {
  if (std::exchange(state_, State::kClosed) == State::kClosed) return;
  establishing_.cancel();
  if (const auto client = std::exchange(client_, nullptr)) {
    if (client->is_open()) closing_ = client;
    end_session(client);
    for (const auto& [id, call] : calls_) client->abandon(rpc::Id(id), why);
  }
  established_.open(why);
}

void ClientSession::close() { end(session_closed()); }

}  // namespace league::mcp::client
