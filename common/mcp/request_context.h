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
#include "common/rpc/id.h"
#include "common/transport/link/message_handler.h"

namespace league::mcp {

/// How grave a log message is (RFC 5424, as MCP has it).
enum class LogLevel { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };

/// `debug`, `info`, ….
[[nodiscard]] std::string_view to_string(LogLevel level);
/// Nothing for another word.
[[nodiscard]] std::optional<LogLevel> parse_log_level(std::string_view name);

/// How far the work on a request is.
struct Progress {
  double done = 0;
  std::optional<double> total = std::nullopt;
  std::string message = {};  ///< for people; may be empty
};

/// A request of a client while it is served: what can be said to the client before the answer, and
/// whether it still wants one. Thread-safe; shared by whoever works on the request.
class RequestContext : public std::enable_shared_from_this<RequestContext> {
 public:
  struct Setup {
    rpc::Id id;
    Dialect dialect = Dialect::kLegacy;
    std::string scope = {};  ///< the client's session or connection; empty: it has none
    nlohmann::json progress_token = nullptr;  ///< null: the client wants to hear of no progress
    std::optional<LogLevel> log_threshold = std::nullopt;  ///< nothing: the client wants no logs
    nlohmann::json client_capabilities = nullptr;
    std::shared_ptr<transport::PeerChannel> channel = nullptr;  ///< may be null
    transport::StreamOptions stream = {};
    std::string_view result_tail = {};  ///< outlives the request
    ClientRequests* client_requests = nullptr;  ///< as result_tail
    std::function<void()> ended = nullptr;  ///< runs once, when there is an answer or none needed
  };
  RequestContext(Setup setup, transport::ReplySlot slot);
  ~RequestContext();

  [[nodiscard]] const rpc::Id& id() const { return setup_.id; }
  [[nodiscard]] Dialect dialect() const { return setup_.dialect; }
  [[nodiscard]] std::string_view result_tail() const { return setup_.result_tail; }

  /// The way to the client before the answer; null where there is none.
  [[nodiscard]] const std::shared_ptr<transport::PeerChannel>& channel() const {
    return setup_.channel;
  }

  /// Tells the client how far the work is; false where it did not ask to hear of it.
  bool progress(const Progress& progress);
  /// Sends a log message; false where the client wants none of that level.
  bool log(LogLevel level, const std::string& logger, const nlohmann::json& data);
  /// Sends any notification.
  bool notify(std::string_view method, const nlohmann::json& params);

  /// Whether the client said at its initialisation, or with this request, that it can do this.
  [[nodiscard]] bool client_has(const std::string& capability) const;
  /// Asks the client; see ClientRequests. Legacy dialect only: the modern one has no requests of
  /// servers, so this fails with kUnexpectedMessage there.
  void ask_client(const std::string& method, const nlohmann::json& params,
                  std::chrono::milliseconds timeout, ClientRequests::Answered answered);

  [[nodiscard]] bool is_cancelled() const { return is_cancelled_; }
  /// Runs when the client cancels the request, at once if it has done so.
  void on_cancelled(std::function<void()> callback);
  /// The client does not want the answer: it gets none.
  void cancel();

  /// Ends the event stream before the answer is there; a client that comes back for the rest
  /// gets it, where the transport can resume.
  void close_stream();

  /// Answers. Further calls do nothing.
  void finish(transport::OutboundReply reply);

 private:
  bool push(std::string bytes);

  const Setup setup_;
  std::atomic<bool> is_cancelled_{false};
  std::mutex mutex_;  // guards the rest
  bool is_configured_ = false;
  bool is_finished_ = false;
  transport::ReplySlot slot_;
  std::vector<std::function<void()>> on_cancelled_;
};

/// Answers one request of MCP exactly once. Movable, from any thread; letting go of it unanswered
/// answers with an internal error.
class Responder {
 public:
  explicit Responder(std::shared_ptr<RequestContext> request_context)
      : context_(std::move(request_context)) {}

  /// With this object; the modern dialect adds what it wants in every result.
  void send(nlohmann::json result) const;
  /// With the text of an object that has neither `_meta` nor `resultType`.
  void send_text(std::string result) const;
  /// With a JSON-RPC error; `data` may be null.
  void fail(int code, std::string_view message, const nlohmann::json& data = nullptr,
            int http_status = 200) const;

  /// For handlers that encode their answers: the bytes of the answer go to the slot, and every
  /// result ends with `result_tail` before its last brace.
  [[nodiscard]] transport::ReplySlot take_slot() const;
  [[nodiscard]] std::string_view result_tail() const { return context_->result_tail(); }
  [[nodiscard]] const rpc::Id& id() const { return context_->id(); }
  [[nodiscard]] RequestContext& request_context() const { return *context_; }

 private:
  std::shared_ptr<RequestContext> context_;
};

}  // namespace league::mcp
