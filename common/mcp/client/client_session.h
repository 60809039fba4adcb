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
#include "common/mcp/client/param_headers.h"
#include "common/mcp/client/request_frame.h"
#include "common/transport/caller/connection_client.h"
#include "common/transport/link/message_connection.h"

namespace league::mcp {

/// What sessions need; all outlive them and their last completion.
struct SessionTools {
  transport::Connector& connector;
  core::Timer& timer;
  const core::Clock& clock;
};

/// As SessionOptions::longest_probe.
inline constexpr std::chrono::milliseconds kLongestProbe{2000};

/// Answers a request of the server; once, from any thread. The response's id does not matter.
using AnswerServer = std::function<void(rpc::Response)>;
/// Takes a request of the server (elicitation, sampling, roots).
using TakeServerRequest = std::function<void(rpc::Request, AnswerServer)>;

struct SessionOptions {
  ClientIdentity client = {};
  /// The peer is known to be older than the modern dialect: begin with the handshake.
  bool skips_discovery = false;
  bool may_fall_back_to_sse = true;
  /// `server/discover` may stay unanswered for so long, and for no more than a quarter of the time
  /// that there is, before the handshake is tried.
  std::chrono::milliseconds longest_probe = kLongestProbe;
  /// Of every message, such as credentials; never logged.
  Headers headers = {};
  /// What the server tells of itself; progress of requests goes to them. On the connection's
  /// thread, must be short.
  std::function<void(const rpc::Notification&, const rpc::MessageContext&)> on_notification =
      nullptr;
  /// The server's requests, but for pings, which the connection answers; without it they are
  /// refused (-32601). On the connection's thread, must be short. Over HTTP servers may ask by the
  /// stream on which they speak unasked, so a session is there when that is, or does not come.
  TakeServerRequest on_request = nullptr;
  /// The session was made again, so the server has forgotten what was set in it; before the
  /// requests that wait for it are sent.
  std::function<void()> on_renewed = nullptr;
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
  /// Gets the notifications of its subscription, and those that come by its own stream (HTTP) and
  /// are not for all: lists and resources that have changed are. False: the session's
  /// on_notification gets it too.
  std::function<bool(const rpc::Notification&)> on_notification = nullptr;
  /// Gets the server's requests that come by its own stream, before SessionOptions::on_request.
  TakeServerRequest on_request = nullptr;
  /// Its answer comes when the server has nothing more to say: it takes no place of others.
  bool is_listening = false;
  /// It is passed on for a client of 2026-07-28 to a server of that revision: what its `_meta` says
  /// of the client stands, `headers` go along (its Mcp-Param-NAME), and results are left as they
  /// are, unfinished ones too.
  bool is_relayed = false;
  Headers headers = {};
};

/// How a request ended.
struct SessionAnswer {
  /// There is no response: kTimeout (the server was told to cancel), kConnectionError,
  /// kInvalidReply, kOverloaded, kShuttingDown. Or there is one that is no answer:
  /// is_unfinished.
  std::optional<core::Error> error;
  /// The result says that it is not complete (2026-07-28, `resultType`): the server wants input of
  /// the client first, which this one does not give. `error` is kInvalidReply and says so.
  bool is_unfinished = false;
  int http_status = 0;
  std::shared_ptr<const rpc::HeaderMap> refusal_headers;  ///< of an HTTP status of 400 and more
  rpc::Response
      response;  ///< a result, or the server's error; with the id of the session's request
  rpc::MessageContext context;  ///< of the response
  std::optional<core::Clock::Steady> sent_at;
  rpc::SharedText wire_request;  ///< as it was sent; empty: it was not
  rpc::SharedText wire_response;  ///< as it came; empty: none came
};

/// A client's session with one MCP server of whatever revision and transport: finds out how the
/// server speaks, then sends requests. A session that the server has forgotten (HTTP 404, or 400
/// where a session was sent) is made again, once a request, and so it is by the first request after
/// one that found nobody there: a server that was started again may know nothing of sessions that
/// it gave before. In 2026-07-28 the arguments that a tool's schema marks (`x-mcp-header`) are
/// repeated as header fields, and tools with wrong marks are left out of lists. Asynchronous,
/// without a thread of its own; completions run on threads of the connection or the timer, or
/// within the call, must be short, and run exactly once. Thread-safe.
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
  /// It was there and is not any more, though on_closed may still be on its way. A session that is
  /// being made again is not lost: it takes requests.
  [[nodiscard]] bool is_lost() const;
  [[nodiscard]] Negotiated negotiated() const;
  /// The HTTP answer with which the server has denied the session; status 0: none.
  struct Denial {
    int http_status = 0;
    std::shared_ptr<const rpc::HeaderMap> headers = nullptr;
  };
  [[nodiscard]] Denial denial() const;
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
  void on_asked(bool is_probe, const rpc::Id& id, const transport::CallOutcome& outcome);
  [[nodiscard]] core::Clock::Steady probe_deadline() const;
  void listen(const Negotiated& negotiated, std::function<void()> then);
  void end_session(const Client& client, const Negotiated& negotiated);

  // Requests (client_session.cpp).
  void send(const std::shared_ptr<Call>& call);
  void on_outcome(const std::shared_ptr<Call>& call, transport::CallOutcome outcome);
  void finish(const std::shared_ptr<Call>& call, SessionAnswer answer);
  [[nodiscard]] bool is_session_lost(const std::shared_ptr<Call>& call, int http_status);
  void note_lost_server(const Call& call);
  void renew(const std::shared_ptr<Call>& call);
  void judge_result(const Call& call, SessionAnswer& answer);
  void list_and_repeat(const std::shared_ptr<Call>& call, SessionAnswer refusal);
  void tell_cancelled(RequestId id, const std::string& reason);
  void on_other(const transport::ReceivedMessage& message);
  void take_request(rpc::Request request, const std::shared_ptr<Call>& call);
  void take_notification(const rpc::Notification& note, const transport::ReceivedMessage& message);
  [[nodiscard]] std::shared_ptr<Call> call_of(const nlohmann::json& id) const;
  void answer_server(rpc::Response response);
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
  std::uint64_t generation_ = 0;  ///< counts agreements with the server
  bool is_in_doubt_ = false;  ///< nobody was there: whoever comes next may know no session
  core::Clock::Steady next_renewal_at_400_{};  ///< a status 400 before is no lost session
  ParamHeaders param_headers_;
  Denial denial_;
  core::Clock::Steady connect_deadline_{};
  Connected connected_;
  RequestId next_id_ = 1;
  std::unordered_map<RequestId, std::shared_ptr<Call>> calls_;  ///< not ended
  std::deque<std::shared_ptr<Call>> waiting_;  ///< for the session to be made again
};

}  // namespace league::mcp
