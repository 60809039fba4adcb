#include <algorithm>
#include <atomic>

#include "common/mcp/client/client_session.h"
#include "common/mcp/client/client_session_call.h"
#include "common/rpc/codec.h"
#include "common/schema/parse_json.h"
#include "common/transport/client/streamable_http_connection.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using Steady = core::Clock::Steady;

Negotiation::Family family_of(const std::string& scheme) {
  if (scheme == "http" || scheme == "https") return Negotiation::Family::kHttp;
  if (scheme.starts_with("sse+")) return Negotiation::Family::kLegacySse;
  return Negotiation::Family::kConnection;
}

/// Some servers send no response head for the stream before they have something to send.
constexpr std::chrono::milliseconds kStreamPatience{500};

/// Runs a function the first time run() is called, on whichever thread that is.
class Once {
 public:
  explicit Once(std::function<void()> work) : work_(std::move(work)) {}
  void run() {
    if (!has_run_.exchange(true)) std::exchange(work_, nullptr)();
  }

 private:
  std::atomic<bool> has_run_{false};
  std::function<void()> work_;
};

/// The response in an outcome, together with its HTTP status and session id.
NegotiationReply negotiation_reply(const transport::link::CallOutcome& outcome, const rpc::Id& id) {
  NegotiationReply reply;
  reply.error = outcome.error;
  reply.http_status = outcome.http_status;
  if (const auto* http = outcome.context.transport.as_http()) {
    if (reply.http_status == 0 && http->status) reply.http_status = *http->status;
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

Negotiation::Options ClientSession::negotiation_options(bool skips_discovery) const {
  return {.family = family_of(endpoint_.scheme),
          .skips_discovery = skips_discovery,
          .may_fall_back_to_sse = options_.may_fall_back_to_sse,
          .client_name = options_.client.name,
          .client_version = options_.client.version,
          .client_capabilities = options_.client.capabilities};
}

void ClientSession::connect(Steady deadline, Connected connected) {
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kNew) {
      state_ = State::kConnecting;
      connect_deadline_ = deadline;
      connected_ = std::move(connected);
      connected = nullptr;
    }
  }
  if (connected) {
    return connected(Error{ErrorCode::kShuttingDown, "the session was closed or begun before", ""});
  }
  open_connection();
}

void ClientSession::open_connection() {
  tools_.connector.connect(
      endpoint(), connect_deadline_,
      [self = shared_from_this()](
          core::Result<std::shared_ptr<transport::link::MessageConnection>> connection) {
        self->on_opened(std::move(connection));
      });
}

void ClientSession::on_opened(
    core::Result<std::shared_ptr<transport::link::MessageConnection>> connection) {
  if (!connection) {
    Negotiation::Step step = [&] {
      std::lock_guard lock(mutex_);
      return negotiation_.on_closed(connection.error());
    }();
    return run(std::move(step));
  }
  transport::caller::ConnectionClientOptions options;
  options.peer = endpoint().url();
  options.on_other = [weak = weak_from_this()](const transport::link::ReceivedMessage& message) {
    if (auto self = weak.lock()) self->on_other(message);
  };
  options.on_closed = [weak = weak_from_this()](const Error& why) {
    if (auto self = weak.lock()) self->on_connection_closed(why);
  };
  auto client = transport::caller::ConnectionClient::start(*connection, tools_.clock, tools_.timer,
                                                           std::move(options));
  std::optional<Negotiation::Step> step;
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kConnecting || state_ == State::kRenewing) {
      client_ = client;
      step = negotiation_.begin();
    }
  }
  if (step) return run(std::move(*step));
  client->close();  // the session was closed meanwhile
}

void ClientSession::run(Negotiation::Step step) {
  std::visit([this](auto& one) { do_step(std::move(one)); }, step);
}

Steady ClientSession::probe_deadline() const {
  auto now = tools_.clock.steady_now();
  auto share =
      std::min<std::chrono::nanoseconds>(options_.longest_probe, (connect_deadline_ - now) / 4);
  return now + share;
}

void ClientSession::do_step(Negotiation::Ask ask) {
  Client client;
  rpc::Id id;
  Steady deadline;
  {
    std::lock_guard lock(mutex_);
    client = client_;
    id = rpc::Id(next_id_++);
    deadline = ask.is_probe ? probe_deadline() : connect_deadline_;
  }
  if (!client) return;  // closed meanwhile
  transport::link::OutboundMessage message;
  message.bytes = rpc::encode_request(id, ask.method, ask.params);
  message.headers = with_own(std::move(ask.headers));
  message.deadline = deadline;
  message.is_repeatable = true;
  client->request(
      id, std::move(message),
      [self = shared_from_this(), is_probe = ask.is_probe,
       id](const transport::link::CallOutcome& outcome) { self->on_asked(is_probe, id, outcome); });
}

void ClientSession::on_asked(bool is_probe, const rpc::Id& id,
                             const transport::link::CallOutcome& outcome) {
  auto reply = negotiation_reply(outcome, id);
  std::optional<Negotiation::Step> step;
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kClosed) return;
    if (reply.http_status >= 400) denial_ = {reply.http_status, headers_of_refusal(outcome)};
    bool is_silent = !reply.response && reply.http_status == 0 && reply.error &&
                     reply.error->code == ErrorCode::kTimeout;
    bool is_gone = !reply.response && reply.http_status == 0 && reply.error &&
                   reply.error->code == ErrorCode::kConnectionError;
    if (is_silent && is_probe) {
      step = negotiation_.on_silence();
    } else if (is_gone) {
      step = negotiation_.on_closed(*reply.error);
    } else {
      step = negotiation_.on_reply(reply);
    }
  }
  run(std::move(*step));
}

void ClientSession::do_step(Negotiation::Confirm /*confirm*/) {
  Client client;
  transport::link::OutboundMessage message;
  {
    std::lock_guard lock(mutex_);
    client = client_;
    message.headers = with_own(session_headers(negotiation_.negotiated()));
    message.deadline = connect_deadline_;
  }
  if (!client) return;
  message.bytes = rpc::encode_notification("notifications/initialized", {});
  message.is_repeatable = true;
  message.done = [self = shared_from_this()](const transport::link::SendOutcome& outcome) {
    Negotiation::Step step = [&] {
      std::lock_guard lock(self->mutex_);
      bool is_gone = outcome.error && outcome.http_status == 0;
      return is_gone ? self->negotiation_.on_closed(*outcome.error)
                     : self->negotiation_.on_confirmed();
    }();
    self->run(std::move(step));
  };
  client->send(std::move(message));
}

void ClientSession::do_step(Negotiation::Reconnect reconnect) {
  Client old;
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kClosed) return;
    if (reconnect.to_legacy_sse) endpoint_.scheme = "sse+" + endpoint_.scheme;
    old = std::move(client_);
    client_ = nullptr;
  }
  if (old) old->close();
  open_connection();
}

void ClientSession::do_step(Negotiation::Done done) {
  Connected connected;
  std::deque<std::shared_ptr<Call>> waiting;
  bool is_renewed = false;
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kClosed || !client_) return;
    is_renewed = state_ == State::kRenewing;
    done.negotiated.transport = client_->connection().transport_type();
    negotiated_ = done.negotiated;
    state_ = State::kReady;
    ++generation_;
    is_in_doubt_ = false;
    denial_ = {};
    param_headers_ = {};
    connected = std::move(connected_);
    connected_ = nullptr;
    waiting.swap(waiting_);
  }
  listen(done.negotiated, [self = shared_from_this(), negotiated = done.negotiated, is_renewed,
                           connected = std::move(connected), waiting = std::move(waiting)] {
    if (connected) connected(negotiated);
    if (is_renewed && self->options_.on_renewed) self->options_.on_renewed();
    for (const auto& call : waiting) self->send(call);
  });
}

void ClientSession::listen(const Negotiated& negotiated, std::function<void()> then) {
  // A server without a session for us has no unsolicited messages for us either.
  bool is_of_use = options_.on_notification || options_.on_request;
  Client open = is_of_use && !negotiated.session_id.empty() ? client() : nullptr;
  auto* http = open
                   ? dynamic_cast<transport::client::StreamableHttpConnection*>(&open->connection())
                   : nullptr;
  if (http == nullptr) return then();
  auto headers = with_own(session_headers(negotiated));
  if (!options_.on_request) {
    http->open_stream(std::move(headers));
    return then();
  }
  auto go_on = std::make_shared<Once>(std::move(then));
  http->open_stream(std::move(headers),
                    [go_on](const transport::link::SendOutcome& /*outcome*/) { go_on->run(); });
  tools_.timer.schedule(kStreamPatience, [go_on] { go_on->run(); });
}

void ClientSession::end_session(const Client& client, const Negotiated& negotiated) {
  auto* http = dynamic_cast<transport::client::StreamableHttpConnection*>(&client->connection());
  if (http == nullptr || negotiated.session_id.empty()) return client->close();
  constexpr std::chrono::seconds kPatience{2};
  http->end_session(with_own(session_headers(negotiated)), tools_.clock.steady_now() + kPatience,
                    [client](const transport::link::SendOutcome& /*outcome*/) { client->close(); });
}

void ClientSession::do_step(Negotiation::Failed failed) {
  Connected connected;
  bool was_ready = false;
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kClosed) return;
    was_ready = state_ == State::kRenewing;
    connected = std::move(connected_);
    connected_ = nullptr;
  }
  end(failed.error);
  if (connected) connected(std::move(failed.error));
  if (was_ready && options_.on_closed) options_.on_closed(failed.error);
}

}  // namespace league::mcp::client
