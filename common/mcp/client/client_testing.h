#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/mcp/client/negotiation.h"
#include "common/transport/link/message_connection.h"

namespace league::mcp::client::testing {

/// A server behind a connection, as a test wrote it: sees each message and says what comes back.
class ScriptedConnection final : public transport::link::MessageConnection,
                                 public std::enable_shared_from_this<ScriptedConnection> {
 public:
  using Script = std::function<void(ScriptedConnection&, const nlohmann::json& message,
                                    const Headers& headers)>;

  ScriptedConnection(transport::link::Endpoint endpoint_in, Script script)
      : endpoint(std::move(endpoint_in)), script_(std::move(script)) {}

  void start(std::shared_ptr<transport::link::MessageReceiver> receiver) override {
    receiver_ = std::move(receiver);
  }
  void send(transport::link::OutboundMessage message) override {
    auto self = shared_from_this();
    refusal_ = {};
    if (!is_closed) script_(*this, nlohmann::json::parse(message.bytes), message.headers);
    if (is_closed) refusal_.error = core::Error{core::ErrorCode::kConnectionError, "closed", ""};
    if (message.done) message.done(refusal_);
  }
  void set_reading(bool /*is_on*/) override {}
  void close() override { end({core::ErrorCode::kShuttingDown, "closed", ""}); }
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return rpc::TransportType::kMemory;
  }
  [[nodiscard]] rpc::TransportContext current_context() const override {
    return rpc::TransportContext::memory();
  }

  // What the script does.
  void say(const nlohmann::json& message) {
    if (!is_closed && receiver_) receiver_->on_message({{message.dump(), context}});
  }
  void result(const nlohmann::json& request, const nlohmann::json& value) {
    say({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", value}});
  }
  void error(const nlohmann::json& request, int code) {
    say({{"jsonrpc", "2.0"},
         {"id", request["id"]},
         {"error", {{"code", code}, {"message", "no"}}}});
  }
  /// The message is refused by HTTP.
  void refuse(int status) {
    refusal_.http_status = status;
    refusal_.error =
        core::Error{core::ErrorCode::kInvalidReply, "status " + std::to_string(status), ""};
  }
  /// The refusal has these header fields.
  void refuse_with(rpc::HeaderMap head) {
    refusal_.context.transport =
        rpc::TransportContext::http(std::make_shared<const rpc::HeaderMap>(std::move(head)), "POST",
                                    rpc::SharedText::literal("/mcp"));
  }
  /// The message did not reach anybody.
  void fail(const core::Error& why) { refusal_.error = why; }
  void end(const core::Error& why) {
    if (std::exchange(is_closed, true)) return;
    auto receiver = std::move(receiver_);
    if (receiver) receiver->on_closed(why);
  }

  const transport::link::Endpoint endpoint;
  rpc::MessageContext context;  ///< of what the server says
  bool is_closed = false;

 private:
  Script script_;
  std::shared_ptr<transport::link::MessageReceiver> receiver_;
  transport::link::SendOutcome refusal_;
};

/// Opens such connections at once.
class ScriptedConnector final : public transport::link::Connector {
 public:
  void connect(const transport::link::Endpoint& endpoint, core::Clock::Steady /*deadline*/,
               Opened opened) override {
    if (failure) return opened(*failure);
    connections.push_back(std::make_shared<ScriptedConnection>(endpoint, script));
    opened(std::shared_ptr<transport::link::MessageConnection>(connections.back()));
  }

  ScriptedConnection::Script script;
  std::optional<core::Error> failure;
  std::vector<std::shared_ptr<ScriptedConnection>> connections;
};

/// Answers the handshake as a server of `revision` does; true if `message` was part of it.
inline bool answer_handshake(ScriptedConnection& server, const nlohmann::json& message,
                             const std::string& revision = "2025-06-18") {
  std::string method = message.value("method", "");
  if (method == "server/discover") {
    server.error(message, -32601);
  } else if (method == "initialize") {
    server.result(message, {{"protocolVersion", revision},
                            {"capabilities", {{"tools", nlohmann::json::object()}}},
                            {"serverInfo", {{"name", "scripted"}, {"version", "1"}}}});
  } else {
    return method == "notifications/initialized";
  }
  return true;
}

}  // namespace league::mcp::client::testing
