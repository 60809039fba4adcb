#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/core/result.h"
#include "common/schema/json_fields.h"
#include "common/transport/front/http_server.h"
#include "common/transport/link/message_handler.h"

namespace league::tools::check {

class CheckerSeats;

using schema::field_at;
using schema::text_at;

/// One call to the checker.
struct InboundCall {
  std::string bytes;
  nlohmann::json document;  ///< discarded if the bytes are not JSON
  nlohmann::json id;
  std::string method;  ///< empty for a bare message; the tool's name for `tools/call`
  std::string style;  ///< `tool_name`, `message_type`, `tools_call`, `handle_message`, `bare`, ...
  nlohmann::json message;  ///< the league message, unwrapped; always an object
  std::chrono::steady_clock::time_point at{};

  /// `message_type`; if it is missing, the type that follows from the method.
  [[nodiscard]] std::string type() const;
  /// A text field of the message; empty if it is missing or not a text.
  [[nodiscard]] const std::string& text(std::string_view field) const {
    return text_at(message, field);
  }
  /// `player_meta` or `referee_meta` of a registration, and a text in it.
  [[nodiscard]] const nlohmann::json& meta() const;
  [[nodiscard]] const std::string& meta_text(std::string_view field) const {
    return text_at(meta(), field);
  }
};

/// What the checker answers.
struct MockAnswer {
  nlohmann::json result;  ///< the `result` of a JSON-RPC answer
  nlohmann::json error = nullptr;  ///< instead of `result`
  int http_status = 200;
  std::string raw = {};  ///< instead of both
  std::chrono::milliseconds delay{0};
};

/// A server with which the checker plays a manager, a referee or a player. Stores every call.
/// Thread-safe.
class MockServer final : public transport::link::MessageHandler {
 public:
  /// Answers one call; runs on a thread of the server, one call at a time.
  using Script = std::function<MockAnswer(const InboundCall&)>;

  /// `runtime` must outlive it, and `seats`, which takes the messages that are about seats; null:
  /// it has none. Fails like HttpServer::start.
  [[nodiscard]] static core::Result<std::unique_ptr<MockServer>> open(
      transport::front::HttpRuntime& runtime, const std::string& address, std::uint16_t port,
      Script script, CheckerSeats* seats = nullptr);
  ~MockServer() override;

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  /// `http://127.0.0.1:PORT/mcp`.
  [[nodiscard]] std::string url() const;
  /// Calls that `wants` takes go to `handler` instead of the script; they are stored all the same.
  /// Null: to the script again. Waits for none that is under way.
  void forward(std::function<bool(const InboundCall&)> wants,
               transport::link::MessageHandler* handler);
  /// Replaces the script.
  void set_script(Script script);

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;
  void on_channel_closed(const transport::link::PeerChannel& channel) override;

  /// The number of calls so far.
  [[nodiscard]] std::size_t count() const;
  /// The calls from number `from` on.
  [[nodiscard]] std::vector<InboundCall> calls(std::size_t from = 0) const;
  /// Waits for the first call from number `from` on for which `wanted` returns true.
  [[nodiscard]] std::optional<InboundCall> wait_for(
      const std::function<bool(const InboundCall&)>& wanted, std::size_t from,
      std::chrono::milliseconds limit) const;

 private:
  explicit MockServer(CheckerSeats* seats) : seats_(seats) {}
  CheckerSeats* const seats_;
  mutable std::mutex mutex_;
  std::mutex script_mutex_;
  mutable std::condition_variable changed_;
  std::vector<InboundCall> calls_;
  Script script_;  // guarded by script_mutex_, like the next two
  std::function<bool(const InboundCall&)> wants_;
  transport::link::MessageHandler* handler_ = nullptr;
  std::string address_;
  std::vector<std::jthread> late_;
  std::unique_ptr<transport::front::HttpServer> server_;
};

/// Parses a call in any of the tolerated forms.
[[nodiscard]] InboundCall read_call(std::string bytes);

}  // namespace league::tools::check
