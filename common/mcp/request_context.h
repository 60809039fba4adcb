#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/mcp/client_requests.h"
#include "common/mcp/protocol.h"
#include "common/rpc/message.h"
#include "common/transport/link/message_handler.h"

namespace league::mcp {

/// The severity of a log message (RFC 5424, as in MCP).
enum class LogLevel { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };

/// `debug`, `info`, ….
[[nodiscard]] std::string_view to_string(LogLevel level);
/// Nothing for another word.
[[nodiscard]] std::optional<LogLevel> parse_log_level(std::string_view name);

/// How far a request has progressed.
struct Progress {
  double done = 0;
  std::optional<double> total = std::nullopt;
  std::string message = {};  ///< for people; may be empty
};

/// A client's request while it is served: sends messages to the client before the answer, and knows
/// whether the client has cancelled it. Thread-safe; shared by everything that works on the
/// request.
class RequestContext : public std::enable_shared_from_this<RequestContext> {
 public:
  struct Setup {
    rpc::Id id;
    Dialect dialect = Dialect::kLegacy;
    std::string scope = {};  ///< the client's session or connection; empty: it has none
    nlohmann::json progress_token = nullptr;  ///< null: the client wants no progress notifications
    std::optional<LogLevel> log_threshold = std::nullopt;  ///< nothing: the client wants no logs
    nlohmann::json client_capabilities = nullptr;
    std::shared_ptr<transport::link::PeerChannel> channel = nullptr;  ///< may be null
    transport::link::StreamOptions stream = {};
    std::string_view result_tail = {};  ///< outlives the request
    ClientRequests* client_requests = nullptr;  ///< must outlive the request
    std::function<void()> ended = nullptr;  ///< runs once, when it is answered or cancelled
  };
  RequestContext(Setup setup, transport::link::ReplySlot slot);
  ~RequestContext();

  [[nodiscard]] const rpc::Id& id() const { return setup_.id; }
  [[nodiscard]] Dialect dialect() const { return setup_.dialect; }
  /// The client's session or connection; empty: it has none.
  [[nodiscard]] const std::string& scope() const { return setup_.scope; }
  [[nodiscard]] std::string_view result_tail() const { return setup_.result_tail; }

  /// The channel to the client before the answer; null if there is none.
  [[nodiscard]] const std::shared_ptr<transport::link::PeerChannel>& channel() const {
    return setup_.channel;
  }

  /// Sends the progress to the client; false if the client did not ask for it.
  bool progress(const Progress& progress);
  /// Sends a log message; false if the client does not want that level.
  bool log(LogLevel level, const std::string& logger, const nlohmann::json& data);
  /// Sends any notification.
  bool notify(std::string_view method, const nlohmann::json& params);

  /// Whether the client declared this capability, at its initialisation or with this request.
  [[nodiscard]] bool client_has(const std::string& capability) const;
  /// Sends a request to the client; see ClientRequests. Legacy dialect only: the modern dialect has
  /// no server requests, so this fails with kUnexpectedMessage there.
  void ask_client(const std::string& method, const nlohmann::json& params,
                  std::chrono::milliseconds timeout, ClientRequests::Answered answered);

  [[nodiscard]] bool is_cancelled() const { return is_cancelled_; }
  /// Runs `callback` when the client cancels the request, at once if it already has.
  void on_cancelled(std::function<void()> callback);
  /// Cancels the request: it gets no answer.
  void cancel();

  /// Ends the event stream before the answer is ready; a client that reconnects gets the answer if
  /// the transport supports resuming.
  void close_stream();

  /// Sends the answer. Further calls do nothing.
  void finish(transport::link::OutboundReply reply);

 private:
  bool push(std::string bytes);

  const Setup setup_;
  std::atomic<bool> is_cancelled_{false};
  std::mutex mutex_;  // guards the rest
  bool is_configured_ = false;
  bool is_finished_ = false;
  transport::link::ReplySlot slot_;
  std::vector<std::function<void()>> on_cancelled_;
};

/// Answers one MCP request exactly once. Movable, from any thread. If it is destroyed unanswered,
/// it answers with an internal error.
class Responder {
 public:
  explicit Responder(std::shared_ptr<RequestContext> request_context)
      : context_(std::move(request_context)) {}

  /// Answers with this object; in the modern dialect, adds the members that every result has.
  void send(nlohmann::json result) const;
  /// Answers with the text of an object that has neither `_meta` nor `resultType`.
  void send_text(std::string result) const;
  /// Answers with a JSON-RPC error; `data` may be null.
  void fail(int code, std::string_view message, const nlohmann::json& data = nullptr,
            int http_status = 200) const;

  /// As fail, with the specification's text for `code` and `why`: `Invalid params: WHY`.
  void refuse(rpc::StandardCode code, const std::string& why, int http_status = 200,
              const nlohmann::json& data = nullptr) const;

  /// For handlers that encode their own answers: the encoded answer goes to the slot, and every
  /// result must contain `result_tail` before its last brace.
  [[nodiscard]] transport::link::ReplySlot take_slot() const;
  [[nodiscard]] std::string_view result_tail() const { return context_->result_tail(); }
  [[nodiscard]] const rpc::Id& id() const { return context_->id(); }
  [[nodiscard]] RequestContext& request_context() const { return *context_; }

 private:
  std::shared_ptr<RequestContext> context_;
};

}  // namespace league::mcp
