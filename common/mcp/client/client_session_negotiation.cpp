#include <algorithm>

#include "common/mcp/client/client_session.h"
#include "common/mcp/client/client_session_parts.h"
#include "common/rpc/codec.h"
#include "common/schema/parse_json.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using Steady = core::Clock::Steady;

NegotiationOptions::Family family_of(const std::string& scheme) {
  if (scheme == "http" || scheme == "https") return NegotiationOptions::Family::kHttp;
  if (scheme.starts_with("sse+")) return NegotiationOptions::Family::kLegacySse;
  return NegotiationOptions::Family::kConnection;
}

/// Some servers send no response head for the stream before they have something to send.
constexpr std::chrono::milliseconds kStreamPatience{500};

/// The response in an outcome, together with its HTTP status and session id.
NegotiationReply negotiation_reply(const transport::link::CallOutcome& outcome, const rpc::Id& id) {
  NegotiationReply reply;
  reply.error = outcome.error;
  reply.http_status = http_status_of(outcome);
  if (const auto* http = outcome.context.transport.as_http()) {
    auto session =
        http->headers ? rpc::find_header(*http->headers, rpc::kSessionHeader) : std::nullopt;
    if (session) reply.session_id = std::string(*session);
  }
  // An answer that arrived as an event has no headers; its context contains the session id of the
  // head.
  if (reply.session_id.empty() && outcome.context.session)
    reply.session_id = std::string(outcome.context.session->view());
  if (outcome.bytes.empty()) return reply;
  auto document = schema::parse_json(outcome.bytes, schema::kMcpLimits);
  if (!document) {
    if (!reply.error) reply.error = document.error();
    return reply;
  }
  auto decoded = rpc::decode_response(std::move(*document), id);
  if (decoded) {
    reply.response = std::move(decoded->response);
    reply.error.reset();
  } else if (!reply.error) {
    reply.error = decoded.error();
  }
  return reply;
}

}  // namespace

NegotiationOptions ClientSession::negotiation_options(bool is_renewal) const {
  return {.family = family_of(endpoint_.scheme),
          .skips_discovery = options_.skips_discovery || is_renewal,
          .may_fall_back_to_sse = options_.may_fall_back_to_sse,
          .client_name = options_.client.name,
          .client_version = options_.client.version,
          .client_capabilities = options_.client.capabilities};
}

task::Task<core::Result<Negotiated>> ClientSession::connect(Steady deadline) {
  if (state_ != State::kNew)
    co_return Error{ErrorCode::kShuttingDown, "the session was closed or begun before", ""};
  state_ = State::kConnecting;
  establishing_ = scope_.spawn(establish(shared_from_this(), deadline));
  const Failure failure = co_await established_.wait();
  if (failure) co_return *failure;
  co_return negotiated_;
}

task::Task<ClientSession::Failure> ClientSession::renew(Call* call) {
  call->was_renewed = true;
  // Another request may have noticed the loss first, and the renewal may already be complete.
  if (state_ == State::kReady && call->generation == generation_) {
    state_ = State::kRenewing;
    establishing_ = scope_.spawn(establish(shared_from_this(), call->request.deadline));
  }
  if (state_ == State::kRenewing) co_return co_await established_.wait();
  co_return std::nullopt;
}

task::Task<void> ClientSession::establish(std::shared_ptr<ClientSession> self, Steady deadline) {
  ClientSession& its = *self;
  const bool is_renewal = its.state_ == State::kRenewing;
  its.deadline_ = deadline;
  core::Result<void> opened;
  if (!its.client_) opened = co_await its.open();
  core::Result<Negotiated> agreed = Error{};
  if (opened) agreed = co_await negotiate(&its, its.negotiation_options(is_renewal));
  if (its.state_ == State::kClosed) co_return;  // on the way here
  if (!opened || !agreed) {
    const Error why = opened ? agreed.error() : opened.error();
    its.end(why);
    if (is_renewal && its.options_.on_closed) its.options_.on_closed(why);
    co_return;
  }
  its.negotiated_ = std::move(*agreed);
  its.negotiated_.transport = its.client_->connection().transport_type();
  its.state_ = State::kReady;
  ++its.generation_;
  its.is_in_doubt_ = false;
  its.denial_ = {};
  its.param_headers_ = {};
  co_await its.listen();
  if (is_renewal && its.options_.on_renewed) its.options_.on_renewed();
  its.established_.open(std::nullopt);
}

task::Task<core::Result<void>> ClientSession::open() {
  using Connection = std::shared_ptr<transport::link::MessageConnection>;
  const auto opened = co_await task::called_back<core::Result<Connection>>([this](auto its_opened) {
    tools_.connector.connect(endpoint_, deadline_, std::move(its_opened));
  });
  if (!opened) co_return opened.error();
  if (state_ == State::kClosed) co_return session_closed();  // on the way here; so is it below
  transport::caller::ConnectionClientOptions options;
  options.peer = endpoint_.url();
  options.on_other = [weak = weak_from_this()](const transport::link::ReceivedMessage& message) {
    if (auto self = weak.lock()) self->on_other(message);
  };
  options.on_closed = [weak = weak_from_this()](const Error& why) {
    if (auto self = weak.lock()) self->on_connection_closed(why);
  };
  client_ = transport::caller::ConnectionClient::start(*opened, scope_.executor(), tools_.clock,
                                                       tools_.timer, std::move(options));
  co_return core::Result<void>();
}

task::Task<core::Result<void>> ClientSession::reconnect(bool to_legacy_sse) {
  if (to_legacy_sse) endpoint_.scheme = "sse+" + endpoint_.scheme;
  if (const auto old = std::exchange(client_, nullptr)) old->close();
  co_return co_await open();
}

Steady ClientSession::probe_deadline() const {
  auto now = tools_.clock.steady_now();
  auto share = std::min<std::chrono::nanoseconds>(options_.longest_probe, (deadline_ - now) / 4);
  return now + share;
}

task::Task<NegotiationReply> ClientSession::send_request(NegotiationRequest request) {
  NegotiationReply reply;
  if (!client_) reply.error = session_closed();
  if (reply.error) co_return reply;
  const rpc::Id id(next_id_++);
  transport::link::OutboundMessage message;
  message.bytes = rpc::encode_request(id, request.method, request.params);
  message.headers = with_own(std::move(request.headers));
  message.deadline = request.is_probe ? probe_deadline() : deadline_;
  message.is_repeatable = true;
  const auto outcome = co_await client_->request(id, std::move(message));
  reply = negotiation_reply(outcome, id);
  if (reply.http_status >= 400) denial_ = {reply.http_status, headers_of_refusal(outcome)};
  co_return reply;
}

task::Task<core::Result<void>> ClientSession::send_initialized(Negotiated agreed) {
  if (!client_) co_return session_closed();
  transport::link::OutboundMessage message;
  message.headers = with_own(session_headers(agreed));
  message.deadline = deadline_;
  message.bytes = rpc::encode_notification("notifications/initialized", {});
  message.is_repeatable = true;
  const auto outcome = co_await task::called_back<transport::link::SendOutcome>([&](auto done) {
    message.done = std::move(done);
    client_->send(std::move(message));
  });
  if (outcome.error && outcome.http_status == 0) co_return *outcome.error;
  co_return core::Result<void>();
}

task::Task<void> ClientSession::listen() {
  // A server without a session for us has no unsolicited messages for us either.
  const bool is_of_use = options_.on_notification || options_.on_request;
  auto* http = is_of_use && !negotiated_.session_id.empty() ? streamable_http(*client_) : nullptr;
  if (http == nullptr) co_return;
  auto headers = with_own(session_headers(negotiated_));
  if (!options_.on_request) {
    http->open_stream(std::move(headers));
    co_return;
  }
  co_await task::called_back<bool>([&](auto go_on) {
    http->open_stream(std::move(headers),
                      [go_on](const transport::link::SendOutcome& /*outcome*/) { go_on(true); });
    tools_.timer.schedule(kStreamPatience, [go_on] { go_on(true); });
  });
}

void ClientSession::end_session(const Client& client) {
  auto* http = streamable_http(*client);
  if (http == nullptr || negotiated_.session_id.empty()) return client->close();
  constexpr std::chrono::seconds kPatience{2};
  http->end_session(with_own(session_headers(negotiated_)), tools_.clock.steady_now() + kPatience,
                    [client](const transport::link::SendOutcome&) { client->close(); });
}

}  // namespace league::mcp::client
