#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/mcp/client/negotiation.h"
#include "common/mcp/client/request_frame.h"
#include "common/transport/connection_client.h"
#include "common/transport/message_connection.h"

namespace league::mcp {

/// What sessions need; all outlive them and their last completion.
struct SessionTools {
  transport::Connector& connector;
  core::Timer& timer;
  const core::Clock& clock;
};

struct SessionOptions {
  ClientIdentity client = {};
  /// The peer is known to be older than the modern dialect: begin with the handshake.
  bool skips_discovery = false;
  bool may_fall_back_to_sse = true;
  /// Of every message, such as credentials; never logged.
  Headers headers = {};
  /// What the server tells of itself; progress of requests goes to them. On the connection's
  /// thread, must be short.
  std::function<void(const rpc::Notification&, const rpc::MessageContext&)> on_notification =
      nullptr;
  /// The session was there and is lost; after its requests have failed. Once.
  std::function<void(const core::Error&)> on_closed = nullptr;
  /// After close(), when the connection has ended: the session is over for the server, a child has
  /// ended. Not called where the session object is gone before.
  std::function<void()> on_disconnected = nullptr;
};

/// One request of MCP.
struct SessionRequest {
  std::string method;
  std::string params = {};  ///< the text of a JSON object, or empty
  core::Clock::Steady deadline = core::Clock::Steady::max();
  /// Gets the parameters of `notifications/progress`; without it no progress is asked for.
  std::function<void(const nlohmann::json&)> on_progress = nullptr;
};

/// How a request ended.
struct SessionAnswer {
  /// There is no response: kTimeout (the server was told to cancel), kConnectionError,
  /// kInvalidReply, kOverloaded, kShuttingDown.
  std::optional<core::Error> error;
  int http_status = 0;
  rpc::Response
      response;  ///< a result, or the server's error; with the id of the session's request
  rpc::MessageContext context;  ///< of the response
  std::optional<core::Clock::Steady> sent_at;
  std::shared_ptr<const std::string> wire_request;  ///< as it was sent; null: it was not
  std::shared_ptr<const std::string> wire_response;  ///< as it came; null: none came
};

/// A client's session with one MCP server of whatever revision and transport: finds out how the
/// server speaks, then sends requests. A session that the server has forgotten (HTTP 404) is made
/// again, once a request. Requests of the server are refused, but for pings, which the connection
/// answers. Asynchronous, without a thread of its own; completions run on threads of the connection
/// or the timer, or within the call, must be short, and run exactly once. Thread-safe.
class ClientSession : public std::enable_shared_from_this<ClientSession> {
 public:
  using Connected = std::function<void(core::Result<Negotiated>)>;
  using Completion = std::function<void(SessionAnswer)>;
  using RequestId = std::int64_t;

  [[nodiscard]] static std::shared_ptr<ClientSession> create(const SessionTools& tools,
                                                             transport::Endpoint endpoint,
                                                             SessionOptions options = {});
  /// As close().
  ~ClientSession();
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  /// Once. Fails with what the connector says, kTimeout, kInvalidReply (no MCP server, or one that
  /// denies us) or kProtocolVersionMismatch.
  void connect(core::Clock::Steady deadline, Connected connected);
  /// The request's id, for cancel(). Fails with kConnectionError where there is no session.
  RequestId request(SessionRequest request, Completion completion);
  /// Ends a request with kShuttingDown and tells the server; nothing if it has ended.
  void cancel(RequestId id, const std::string& reason);
  void notify(const std::string& method, const std::string& params);
  /// Ends the session; what is pending fails with kShuttingDown.
  void close();

  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] Negotiated negotiated() const;
  /// Where the session is: the legacy transport's URL after a fall back.
  [[nodiscard]] transport::Endpoint endpoint() const;

 private:
  enum class State { kNew, kConnecting, kReady, kRenewing, kClosed };
  struct Call;
  using Client = std::shared_ptr<transport::ConnectionClient>;

  ClientSession(const SessionTools& tools, transport::Endpoint endpoint, SessionOptions options);
  [[nodiscard]] Negotiation::Options negotiation_options(bool skips_discovery) const;
  [[nodiscard]] Headers with_own(Headers headers) const;

  // Negotiation (client_session_negotiation.cpp). Each runs without the lock.
  void open_connection();
  void on_opened(core::Result<std::shared_ptr<transport::MessageConnection>> connection);
  void run(Negotiation::Step step);
  void do_step(Negotiation::Ask ask);
  void do_step(Negotiation::Confirm confirm);
  void do_step(Negotiation::Reconnect reconnect);
  void do_step(Negotiation::Done done);
  void do_step(Negotiation::Failed failed);
  void on_asked(bool is_probe, const rpc::Id& id, transport::CallOutcome outcome);
  [[nodiscard]] core::Clock::Steady probe_deadline() const;
  void listen(const Negotiated& negotiated);
  void end_session(const Client& client, const Negotiated& negotiated);

  // Requests (client_session.cpp).
  void send(const std::shared_ptr<Call>& call);
  void on_outcome(const std::shared_ptr<Call>& call, transport::CallOutcome outcome);
  void finish(const std::shared_ptr<Call>& call, SessionAnswer answer);
  void renew(const std::shared_ptr<Call>& call, const std::string& lost_session);
  void tell_cancelled(RequestId id, const std::string& reason);
  void on_other(transport::ReceivedMessage message);
  void on_progress(const nlohmann::json& params);
  void on_connection_closed(const core::Error& why);
  void end(const core::Error& why);
  [[nodiscard]] Client client() const;

  const SessionTools tools_;
  const SessionOptions options_;

  mutable std::mutex mutex_;  // never held during calls of others
  State state_ = State::kNew;
  transport::Endpoint endpoint_;
  Client client_;
  Client closing_;  ///< until its connection has ended
  Negotiation negotiation_;
  Negotiated negotiated_;
  core::Clock::Steady connect_deadline_{};
  Connected connected_;
  RequestId next_id_ = 1;
  std::unordered_map<RequestId, std::shared_ptr<Call>> calls_;  ///< not ended
  std::deque<std::shared_ptr<Call>> waiting_;  ///< for the session to be made again
};

}  // namespace league::mcp
