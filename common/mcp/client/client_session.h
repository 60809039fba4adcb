#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/mcp/client/negotiation.h"
#include "common/mcp/client/param_headers.h"
#include "common/mcp/client/request_frame.h"
#include "common/task/signal.h"
#include "common/transport/caller/connection_client.h"
#include "common/transport/link/message_connection.h"

namespace league::mcp::client {

/// The objects that sessions use; all must outlive the sessions and their scope.
struct SessionTools {
  transport::link::Connector& connector;
  core::Timer& timer;
  const core::Clock& clock;
};

/// As SessionOptions::longest_probe.
inline constexpr std::chrono::milliseconds kLongestProbe{2000};

/// Answers a request of the server; must be called once, on any thread. The response's id is
/// ignored.
using AnswerServer = std::function<void(rpc::Response)>;
/// Takes a request of the server (elicitation, sampling, roots).
using TakeServerRequest = std::function<void(rpc::Request, AnswerServer)>;

struct SessionOptions {
  ClientIdentity client = {};
  /// The peer is known not to support the modern dialect: begin with the handshake.
  bool skips_discovery = false;
  /// A server that refuses POSTs is tried with HTTP+SSE (2024-11-05); the connector must know
  /// `sse+http(s)`.
  bool may_fall_back_to_sse = false;
  /// How long to wait for an answer to `server/discover` before trying the handshake; never more
  /// than a quarter of the time that is available.
  std::chrono::milliseconds longest_probe = kLongestProbe;
  /// Sent with every message, such as credentials; never logged.
  Headers headers = {};
  /// Receives the server's notifications, except the progress of requests. Must be short.
  std::function<void(const rpc::Notification&, const rpc::MessageContext&)> on_notification =
      nullptr;
  /// Receives the server's requests, except pings, which the connection answers. If empty, requests
  /// are refused (-32601). Must be short. Over HTTP a server may send
  /// its requests on the stream that the client opens to listen, so connecting also waits until
  /// that stream is open, or until it is clear that it does not come.
  TakeServerRequest on_request = nullptr;
  /// The session was renewed, so the server has forgotten the state that was set in it. Called
  /// before the requests that wait for the renewal are sent.
  std::function<void()> on_renewed = nullptr;
  /// An established session was lost. Called once, after its requests have failed.
  std::function<void(const core::Error&)> on_closed = nullptr;
  /// After close(), when the connection has ended: the server has ended the session, and a child
  /// process has exited. Not called if the session object was destroyed before.
  std::function<void()> on_disconnected = nullptr;
};

/// One request of MCP.
struct SessionRequest {
  std::string method;
  std::string params = {};  ///< the text of a JSON object, or empty
  core::Clock::Steady deadline = core::Clock::Steady::max();
  /// Receives the parameters of `notifications/progress`; if empty, no progress is requested.
  std::function<void(const nlohmann::json&)> on_progress = nullptr;
  /// Receives the notifications of the request's subscription, and those that arrive on its own
  /// stream (HTTP), except announcements for everybody (changed lists and resources). If it returns
  /// false, the session's on_notification receives the notification as well.
  std::function<bool(const rpc::Notification&)> on_notification = nullptr;
  /// Receives the server's requests that arrive on this request's own stream; takes precedence over
  /// SessionOptions::on_request.
  TakeServerRequest on_request = nullptr;
  /// The answer comes only when the server has nothing more to send; the request does not count
  /// towards the limit of concurrent requests.
  bool is_listening = false;
  /// The request is forwarded from a client of 2026-07-28 to a server of that revision: the client
  /// information in its `_meta` is kept, and results are returned unchanged, including unfinished
  /// ones.
  bool is_relayed = false;
  /// The header fields that repeat arguments (Mcp-Param-NAME), as the relayed client sent them;
  /// nothing: they are made from the arguments.
  std::optional<Headers> argument_headers = std::nullopt;
  /// What the server is told if the request is cancelled.
  std::string cancel_reason = "the client has cancelled the request";
  /// It is harmless twice although it calls a tool (OutboundMessage::is_repeatable). Other tools
  /// are called at most once, and the other methods only read or set.
  bool is_repeatable = false;
};

/// How a request ended.
struct SessionAnswer {
  /// Set if there is no response: kTimeout (the server was told to cancel), kConnectionError,
  /// kInvalidReply, kOverloaded, kShuttingDown. Also set if the response is not a final answer:
  /// is_unfinished.
  std::optional<core::Error> error;
  /// The result is not complete (2026-07-28, `resultType`): the server asks the client for input,
  /// which this client does not give. `error` is then kInvalidReply with this reason.
  bool is_unfinished = false;
  int http_status = 0;
  std::shared_ptr<const rpc::HeaderMap> refusal_headers;  ///< of an HTTP status of 400 or higher
  rpc::Response
      response;  ///< a result, or the server's error; with the id of the session's request
  rpc::MessageContext context;  ///< of the response
  std::optional<core::Clock::Steady> sent_at;
  rpc::SharedText wire_request;  ///< as it was sent; empty: not sent
  rpc::SharedText wire_response;  ///< as it was received; empty: none
};

/// A client's session with one MCP server, over any revision and transport: finds out which dialect
/// the server speaks, then sends requests. If the server has forgotten the session (HTTP 404, or
/// 400 although a session id was sent), the session is renewed, once per request. The first request
/// after one that could not reach the server renews it too, because a restarted server may not know
/// earlier sessions. In 2026-07-28, arguments that a tool's schema marks (`x-mcp-header`) are
/// repeated as header fields, and tools with invalid marks are left out of lists. Used on the
/// executor of its scope only, where its callbacks run, too; it may be destroyed anywhere.
class ClientSession : public std::enable_shared_from_this<ClientSession>, private NegotiationPeer {
 public:
  using RequestId = std::int64_t;

  /// `scope` outlives the session and owns its tasks.
  [[nodiscard]] static std::shared_ptr<ClientSession> create(const SessionTools& tools,
                                                             task::Scope& scope,
                                                             transport::link::Endpoint endpoint,
                                                             SessionOptions options = {});
  /// As close().
  ~ClientSession() override;
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  // The session outlives these tasks.
  /// Must be called once. Fails with the connector's error, kTimeout, kInvalidReply (not an MCP
  /// server, or one that refuses us), kProtocolVersionMismatch or kShuttingDown.
  [[nodiscard]] task::Task<core::Result<Negotiated>> connect(core::Clock::Steady deadline);
  /// Fails with kConnectionError if there is no session. Cancelled, it ends with kShuttingDown, and
  /// the server is told.
  [[nodiscard]] task::Task<SessionAnswer> ask(SessionRequest request);
  void notify(const std::string& method, const std::string& params);
  /// Ends the session; pending requests fail with kShuttingDown.
  void close();

  [[nodiscard]] bool is_ready() const { return state_ == State::kReady; }
  /// The session was established and is lost, though on_closed may not have run yet. A session that
  /// is being renewed is not lost: it accepts requests.
  [[nodiscard]] bool is_lost() const;
  [[nodiscard]] const Negotiated& negotiated() const { return negotiated_; }
  /// The HTTP answer with which the server refused the session; status 0: none.
  struct Denial {
    int http_status = 0;
    std::shared_ptr<const rpc::HeaderMap> headers = nullptr;
  };
  [[nodiscard]] const Denial& denial() const { return denial_; }
  /// The session's endpoint; after a fallback, the URL of the legacy transport.
  [[nodiscard]] const transport::link::Endpoint& endpoint() const { return endpoint_; }

 private:
  enum class State { kNew, kConnecting, kReady, kRenewing, kClosed };
  struct Call;
  using Client = std::shared_ptr<transport::caller::ConnectionClient>;
  using Failure = std::optional<core::Error>;

  ClientSession(const SessionTools& tools, task::Scope& scope, transport::link::Endpoint endpoint,
                SessionOptions options);
  [[nodiscard]] Headers with_own(Headers headers) const;

  // Negotiation (client_session_negotiation.cpp).
  /// Negotiates, for connect() or a renewal; then opens `established_`. Cancelled by end().
  static task::Task<void> establish(std::shared_ptr<ClientSession> self,
                                    core::Clock::Steady deadline);
  task::Task<core::Result<void>> open();
  task::Task<core::Result<void>> reconnect(bool to_legacy_sse) override;
  task::Task<NegotiationReply> send_request(NegotiationRequest request) override;
  task::Task<core::Result<void>> send_initialized(Negotiated agreed) override;
  /// Opens the stream on which the server sends unsolicited messages.
  task::Task<void> listen();
  [[nodiscard]] NegotiationOptions negotiation_options(bool is_renewal) const;
  [[nodiscard]] core::Clock::Steady probe_deadline() const;

  // Requests (client_session.cpp).
  task::Task<SessionAnswer> converse(Call* call);
  task::Task<transport::link::CallOutcome> exchange(const Call* call,
                                                    transport::link::OutboundMessage message);
  task::Task<Failure> renew(Call* call);
  [[nodiscard]] core::Result<transport::link::OutboundMessage> frame(Call& call) const;
  [[nodiscard]] bool is_session_lost(Call& call, int http_status);
  void note_lost_server(const Call& call);
  [[nodiscard]] SessionAnswer read_answer(const Call& call, transport::link::CallOutcome outcome);
  void judge_result(const Call& call, SessionAnswer& answer);
  void cancel(const Call& call);
  void tell_cancelled(RequestId id, const std::string& reason);
  void on_connection_closed(const core::Error& why);
  void end(const core::Error& why);
  void end_session(const Client& client);

  // What the server sends of its own (client_session_incoming.cpp).
  void on_other(const transport::link::ReceivedMessage& message);
  void take_request(rpc::Request request, Call* call);
  void take_notification(const rpc::Notification& note,
                         const transport::link::ReceivedMessage& message);
  [[nodiscard]] Call* call_of(const nlohmann::json& id) const;
  void answer_server(rpc::Response response);
  void on_progress(const nlohmann::json& params);

  const SessionTools tools_;
  task::Scope& scope_;
  const SessionOptions options_;
  State state_ = State::kNew;
  transport::link::Endpoint endpoint_;
  Client client_;
  Client closing_;  ///< until its connection has ended
  core::Clock::Steady deadline_{};  ///< of the negotiation
  task::Spawned establishing_;
  task::Signal<Failure> established_;  ///< opened when the session is established or ends
  Negotiated negotiated_;
  std::uint64_t generation_ = 0;  ///< counts how often a session was negotiated
  bool is_in_doubt_ = false;  ///< the server was unreachable and may have lost the session
  core::Clock::Steady next_renewal_at_400_{};  ///< until then a 400 does not mean a lost session
  ParamHeaders param_headers_;
  Denial denial_;
  RequestId next_id_ = 1;
  std::unordered_map<RequestId, Call*> calls_;  ///< not ended
};

}  // namespace league::mcp::client
