#include "common/mcp/client/client_session.h"

#include <vector>

#include "common/mcp/client/client_session_call.h"
#include "common/mcp/protocol.h"
#include "common/rpc/codec.h"
#include "common/schema/parse_json.h"
#include "common/transport/client/streamable_http_connection.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

int http_status_of(const transport::link::CallOutcome& outcome) {
  const auto* http = outcome.context.transport.as_http();
  if (outcome.http_status == 0 && http != nullptr && http->status) return *http->status;
  return outcome.http_status;
}

}  // namespace

std::shared_ptr<ClientSession> ClientSession::create(const SessionTools& tools,
                                                     transport::link::Endpoint endpoint,
                                                     SessionOptions options) {
  return std::shared_ptr<ClientSession>(
      new ClientSession(tools, std::move(endpoint), std::move(options)));
}

ClientSession::ClientSession(const SessionTools& tools, transport::link::Endpoint endpoint,
                             SessionOptions options)
    : tools_(tools),
      options_(std::move(options)),
      endpoint_(std::move(endpoint)),
      negotiation_(negotiation_options(options_.skips_discovery)) {}

ClientSession::~ClientSession() { close(); }

Headers ClientSession::with_own(Headers headers) const {
  headers.insert(headers.end(), options_.headers.begin(), options_.headers.end());
  return headers;
}

ClientSession::Client ClientSession::client() const {
  std::lock_guard lock(mutex_);
  return client_;
}

bool ClientSession::is_ready() const {
  std::lock_guard lock(mutex_);
  return state_ == State::kReady;
}

bool ClientSession::is_lost() const {
  std::lock_guard lock(mutex_);
  if (state_ == State::kReady) return !client_ || !client_->is_open();
  return state_ == State::kClosed;
}

Negotiated ClientSession::negotiated() const {
  std::lock_guard lock(mutex_);
  return negotiated_;
}

ClientSession::Denial ClientSession::denial() const {
  std::lock_guard lock(mutex_);
  return denial_;
}

transport::link::Endpoint ClientSession::endpoint() const {
  std::lock_guard lock(mutex_);
  return endpoint_;
}

ClientSession::RequestId ClientSession::request(SessionRequest request, Completion completion) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->completion = std::move(completion);
  State state;
  bool is_in_doubt = false;
  {
    std::lock_guard lock(mutex_);
    call->id = next_id_++;
    state = state_;
    calls_.emplace(call->id, call);
    if (state == State::kRenewing) waiting_.push_back(call);
    if (state == State::kReady) is_in_doubt = is_in_doubt_;
    call->generation = generation_;
  }
  if (is_in_doubt) {
    renew(call);
  } else if (state == State::kReady) {
    send(call);
  } else if (state != State::kRenewing) {
    SessionAnswer answer;
    answer.error = Error{ErrorCode::kConnectionError, "there is no session with the server", ""};
    finish(call, std::move(answer));
  }
  return call->id;
}

void ClientSession::send(const std::shared_ptr<Call>& call) {
  Client client;
  Negotiated negotiated;
  Headers of_arguments;
  const SessionRequest& request = call->request;
  {
    std::lock_guard lock(mutex_);
    if (!calls_.contains(call->id)) return;  // cancelled while it waited
    client = client_;
    negotiated = negotiated_;
    call->generation = generation_;
    call->had_session = !negotiated.session_id.empty();
    if (request.argument_headers) {
      of_arguments = *request.argument_headers;
    } else if (negotiated.is_modern && request.method == "tools/call") {
      of_arguments = param_headers_.of_call(request.params);
    }
  }
  const rpc::Id id(call->id);
  auto frame = frame_request(negotiated, options_.client, id, request.method, request.params,
                             request.on_progress != nullptr, request.is_relayed);
  SessionAnswer failed;
  if (!client)
    failed.error = Error{ErrorCode::kConnectionError, "there is no session with the server", ""};
  if (!frame) failed.error = frame.error();
  if (failed.error) return finish(call, std::move(failed));
  transport::link::OutboundMessage message;
  message.bytes = std::move(frame->bytes);
  call->bytes = message.bytes;
  message.headers = with_own(std::move(frame->headers));
  message.headers.insert(message.headers.end(), of_arguments.begin(), of_arguments.end());
  message.deadline = request.deadline;
  message.is_listening = request.is_listening;
  message.is_repeatable = request.is_repeatable || request.method != "tools/call";
  client->request(id, std::move(message),
                  [self = shared_from_this(), call](transport::link::CallOutcome outcome) {
                    self->on_outcome(call, std::move(outcome));
                  });
}

void ClientSession::on_outcome(const std::shared_ptr<Call>& call,
                               transport::link::CallOutcome outcome) {
  SessionAnswer answer;
  answer.http_status = http_status_of(outcome);
  if (is_session_lost(call, answer.http_status)) return renew(call);
  answer.refusal_headers = headers_of_refusal(outcome);
  answer.context = std::move(outcome.context);
  answer.sent_at = outcome.sent_at;
  answer.wire_request = call->bytes;
  answer.wire_response = outcome.bytes;
  if (outcome.error) {
    if (outcome.error->code == ErrorCode::kTimeout)
      tell_cancelled(call->id, "the time for the answer is over");
    if (outcome.error->code == ErrorCode::kConnectionError && answer.http_status == 0)
      note_lost_server(*call);
    answer.error = std::move(outcome.error);
    return finish(call, std::move(answer));
  }
  auto document = schema::parse_json(outcome.bytes, schema::kMcpLimits);
  if (!document) {
    answer.error = Error{ErrorCode::kInvalidReply, "the answer: " + document.error().message, ""};
    return finish(call, std::move(answer));
  }
  auto decoded = rpc::decode_response(std::move(*document), rpc::Id(call->id));
  if (!decoded) {
    answer.error = decoded.error();
    return finish(call, std::move(answer));
  }
  answer.response = std::move(decoded->response);
  bool misses_headers = answer.response.error && answer.response.error->code == kHeaderMismatch;
  if (misses_headers && call->request.method == "tools/call" && !call->has_listed &&
      !call->request.argument_headers)
    return list_and_repeat(call, std::move(answer));
  if (!call->request.is_relayed) judge_result(*call, answer);
  finish(call, std::move(answer));
}

void ClientSession::finish(const std::shared_ptr<Call>& call, SessionAnswer answer) {
  Completion completion;
  {
    std::lock_guard lock(mutex_);
    if (calls_.erase(call->id) == 0) return;
    completion = std::move(call->completion);
  }
  if (completion) completion(std::move(answer));
}

void ClientSession::cancel(RequestId id, const std::string& reason) {
  Client client;
  std::shared_ptr<Call> call;
  bool is_modern = false;
  {
    std::lock_guard lock(mutex_);
    auto found = calls_.find(id);
    if (found == calls_.end()) return;
    call = found->second;
    client = client_;
    is_modern = negotiated_.is_modern;
  }
  const Error why{ErrorCode::kShuttingDown, "cancelled: " + reason, ""};
  if (client && client->abandon(rpc::Id(id), why)) {
    auto* http = dynamic_cast<transport::client::StreamableHttpConnection*>(&client->connection());
    if (is_modern && http != nullptr) return http->abandon(rpc::Id(id));  // which cancels it
    return tell_cancelled(id, reason);
  }
  SessionAnswer answer;
  answer.error = why;
  finish(call, std::move(answer));
}

void ClientSession::tell_cancelled(RequestId id, const std::string& reason) {
  notify("notifications/cancelled", json{{"requestId", id}, {"reason", reason}}.dump());
}

void ClientSession::notify(const std::string& method, const std::string& params) {
  Client client;
  transport::link::OutboundMessage message;
  {
    std::lock_guard lock(mutex_);
    if (state_ != State::kReady) return;
    client = client_;
    message.headers = with_own(session_headers(negotiated_));
    if (negotiated_.is_modern) message.headers.emplace_back("Mcp-Method", method);
  }
  if (!client) return;
  message.bytes = rpc::encode_notification(method, params);
  message.is_repeatable = true;
  message.deadline = tools_.clock.steady_now() + std::chrono::seconds(5);
  client->send(std::move(message));
}

void ClientSession::on_connection_closed(const Error& why) {
  Client closing;
  bool was_ready = false;
  {
    std::lock_guard lock(mutex_);
    // During negotiation the failure is reported by the negotiation's pending request.
    was_ready = state_ == State::kReady;
    closing = std::move(closing_);
    closing_ = nullptr;
  }
  if (closing && options_.on_disconnected) options_.on_disconnected();
  if (!was_ready) return;
  end(why);
  if (options_.on_closed) options_.on_closed(why);
}

void ClientSession::end(const Error& why) {
  Client client;
  std::vector<std::shared_ptr<Call>> calls;
  Negotiated negotiated;
  {
    std::lock_guard lock(mutex_);
    state_ = State::kClosed;
    negotiated = negotiated_;
    client = std::move(client_);
    client_ = nullptr;
    if (client && client->is_open()) closing_ = client;
    waiting_.clear();
    for (const auto& [id, call] : calls_) calls.push_back(call);
  }
  if (client) end_session(client, negotiated);
  for (const auto& call : calls) {
    SessionAnswer answer;
    answer.error = why;
    finish(call, std::move(answer));
  }
}

void ClientSession::close() {
  Connected connected;
  const Error why{ErrorCode::kShuttingDown, "the session was closed", ""};
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kClosed) return;
    connected = std::move(connected_);
    connected_ = nullptr;
  }
  end(why);
  if (connected) connected(why);
}

}  // namespace league::mcp::client
