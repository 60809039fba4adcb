#include "common/mcp/client/client_session.h"

#include <vector>

#include "common/rpc/codec.h"
#include "common/schema/json_gate.h"

namespace league::mcp {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

constexpr schema::JsonLimits kPeerLimits{.max_depth = 64, .max_key_length = 1024};

int http_status_of(const transport::CallOutcome& outcome) {
  const auto* http = outcome.context.transport.as_http();
  if (outcome.http_status == 0 && http != nullptr && http->status) return *http->status;
  return outcome.http_status;
}

}  // namespace

/// A request between request() and its end.
struct ClientSession::Call {
  RequestId id = 0;
  SessionRequest request;
  Completion completion;
  std::string session;  ///< in which it was sent
  std::shared_ptr<const std::string> bytes;  ///< as it was sent last
  bool was_renewed = false;
};

std::shared_ptr<ClientSession> ClientSession::create(const SessionTools& tools,
                                                     transport::Endpoint endpoint,
                                                     SessionOptions options) {
  return std::shared_ptr<ClientSession>(
      new ClientSession(tools, std::move(endpoint), std::move(options)));
}

ClientSession::ClientSession(const SessionTools& tools, transport::Endpoint endpoint,
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

Negotiated ClientSession::negotiated() const {
  std::lock_guard lock(mutex_);
  return negotiated_;
}

transport::Endpoint ClientSession::endpoint() const {
  std::lock_guard lock(mutex_);
  return endpoint_;
}

ClientSession::RequestId ClientSession::request(SessionRequest request, Completion completion) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->completion = std::move(completion);
  State state;
  {
    std::lock_guard lock(mutex_);
    call->id = next_id_++;
    state = state_;
    calls_.emplace(call->id, call);
    if (state == State::kRenewing) waiting_.push_back(call);
  }
  if (state == State::kReady) {
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
  {
    std::lock_guard lock(mutex_);
    if (!calls_.contains(call->id)) return;  // cancelled while it waited
    client = client_;
    negotiated = negotiated_;
    call->session = negotiated.session_id;
  }
  const SessionRequest& request = call->request;
  const rpc::Id id(call->id);
  auto frame = frame_request(negotiated, options_.client, id, request.method, request.params,
                             request.on_progress != nullptr);
  SessionAnswer failed;
  if (!client)
    failed.error = Error{ErrorCode::kConnectionError, "there is no session with the server", ""};
  if (!frame) failed.error = frame.error();
  if (failed.error) return finish(call, std::move(failed));
  transport::OutboundMessage message;
  message.bytes = std::make_shared<const std::string>(std::move(frame->bytes));
  call->bytes = message.bytes;
  message.headers = with_own(std::move(frame->headers));
  message.deadline = request.deadline;
  client->request(id, std::move(message),
                  [self = shared_from_this(), call](transport::CallOutcome outcome) {
                    self->on_outcome(call, std::move(outcome));
                  });
}

void ClientSession::on_outcome(const std::shared_ptr<Call>& call, transport::CallOutcome outcome) {
  SessionAnswer answer;
  answer.http_status = http_status_of(outcome);
  if (answer.http_status == 404 && !call->session.empty() && !call->was_renewed)
    return renew(call, call->session);
  answer.context = std::move(outcome.context);
  answer.sent_at = outcome.sent_at;
  answer.wire_request = call->bytes;
  if (!outcome.bytes.empty())
    answer.wire_response = std::make_shared<const std::string>(outcome.bytes);
  if (outcome.error) {
    if (outcome.error->code == ErrorCode::kTimeout)
      tell_cancelled(call->id, "the time for the answer is over");
    answer.error = std::move(outcome.error);
    return finish(call, std::move(answer));
  }
  auto document = schema::parse_json(outcome.bytes, kPeerLimits);
  if (!document) {
    answer.error = Error{ErrorCode::kInvalidReply, "the answer: " + document.error().message, ""};
    return finish(call, std::move(answer));
  }
  auto decoded = rpc::decode_response(std::move(*document), rpc::Id(call->id));
  if (decoded) {
    answer.response = std::move(decoded->response);
  } else {
    answer.error = decoded.error();
  }
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

void ClientSession::renew(const std::shared_ptr<Call>& call, const std::string& lost_session) {
  std::optional<Negotiation::Step> step;
  bool is_renewed = false;
  {
    std::lock_guard lock(mutex_);
    if (!calls_.contains(call->id)) return;
    call->was_renewed = true;
    if (state_ == State::kReady && negotiated_.session_id == lost_session) {
      state_ = State::kRenewing;
      connect_deadline_ = call->request.deadline;
      negotiation_ = Negotiation(negotiation_options(true));
      step = negotiation_.begin();
    }
    // Another request may have noticed first, and be done by now.
    is_renewed = state_ == State::kReady;
    if (state_ == State::kRenewing) waiting_.push_back(call);
  }
  if (step) return run(std::move(*step));
  if (is_renewed) send(call);
}

void ClientSession::cancel(RequestId id, const std::string& reason) {
  Client client;
  std::shared_ptr<Call> call;
  {
    std::lock_guard lock(mutex_);
    auto found = calls_.find(id);
    if (found == calls_.end()) return;
    call = found->second;
    client = client_;
  }
  const Error why{ErrorCode::kShuttingDown, "cancelled: " + reason, ""};
  if (client && client->abandon(rpc::Id(id), why)) return tell_cancelled(id, reason);
  SessionAnswer answer;
  answer.error = why;
  finish(call, std::move(answer));
}

void ClientSession::tell_cancelled(RequestId id, const std::string& reason) {
  notify("notifications/cancelled", json{{"requestId", id}, {"reason", reason}}.dump());
}

void ClientSession::notify(const std::string& method, const std::string& params) {
  Client client;
  transport::OutboundMessage message;
  {
    std::lock_guard lock(mutex_);
    if (state_ != State::kReady) return;
    client = client_;
    message.headers = with_own(session_headers(negotiated_));
    if (negotiated_.is_modern) message.headers.emplace_back("Mcp-Method", method);
  }
  if (!client) return;
  message.bytes = std::make_shared<const std::string>(rpc::encode_notification(method, params));
  message.deadline = tools_.clock.steady_now() + std::chrono::seconds(5);
  client->send(std::move(message));
}

void ClientSession::on_other(transport::ReceivedMessage message) {
  auto document = schema::parse_json(message.bytes, kPeerLimits);
  if (!document) return;  // servers print what is no JSON, too
  for (auto& frame : rpc::decode(std::move(*document)).frames) {
    auto* decoded = std::get_if<rpc::Message>(&frame);
    if (decoded == nullptr) continue;
    if (auto* request = std::get_if<rpc::Request>(decoded)) {
      Client connection = client();
      if (!connection) return;
      transport::OutboundMessage refusal;
      refusal.bytes = std::make_shared<const std::string>(
          rpc::encode_error(request->id, rpc::StandardCode::kMethodNotFound));
      {
        std::lock_guard lock(mutex_);
        refusal.headers = with_own(session_headers(negotiated_));
      }
      connection->send(std::move(refusal));
    } else if (auto* note = std::get_if<rpc::Notification>(decoded)) {
      if (note->method == "notifications/progress") {
        on_progress(note->params);
      } else if (options_.on_notification) {
        options_.on_notification(*note, message.context);
      }
    }
  }
}

void ClientSession::on_progress(const json& params) {
  auto token = params.is_object() ? params.find("progressToken") : params.end();
  if (!params.is_object() || token == params.end() || !token->is_number_integer()) return;
  std::shared_ptr<Call> call;
  {
    std::lock_guard lock(mutex_);
    auto found = calls_.find(token->get<RequestId>());
    if (found == calls_.end()) return;
    call = found->second;
  }
  if (call->request.on_progress) call->request.on_progress(params);
}

void ClientSession::on_connection_closed(const Error& why) {
  Client closing;
  bool was_ready = false;
  {
    std::lock_guard lock(mutex_);
    // While it negotiates, the request that was under way says so.
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

}  // namespace league::mcp
