#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/mcp/client/client_session.h"
#include "common/transport/caller/any_connector.h"
#include "common/transport/client/legacy_sse_connection.h"
#include "common/transport/link/event_loop.h"
#include "tools/league/client/bus_link.h"
#include "tools/league/client/gateway_credential.h"

namespace league::tools {

/// Access to one MCP server for command-line tools: a session with everything that it needs, and
/// blocking functions. Not thread-safe.
class McpAccess {
 public:
  struct Options {
    std::string credential;  ///< as --credential; empty: none
    std::chrono::milliseconds patience{30'000};
    bool shows_child_errors = false;  ///< the stderr of a child process is passed on to ours
    agent::bus::BusOptions bus = {};  ///< for nats: addresses
    std::chrono::milliseconds longest_probe = mcp::client::kLongestProbe;  ///< as SessionOptions
    /// The answer to the server's questions (elicitation), a JSON object; nothing: the server may
    /// not ask.
    std::optional<nlohmann::json> answers = std::nullopt;
  };

  /// `url` may omit `http://` and `/mcp`. Fails with a text for people if it is invalid, or the
  /// credential cannot be read.
  [[nodiscard]] static core::Result<std::unique_ptr<McpAccess>> open(const std::string& url,
                                                                     const Options& options);
  /// Ends the session, and waits some time for a child process to end.
  ~McpAccess();
  McpAccess(const McpAccess&) = delete;
  McpAccess& operator=(const McpAccess&) = delete;

  [[nodiscard]] core::Result<mcp::client::Negotiated> connect();
  /// For wait().
  [[nodiscard]] mcp::client::ClientSession& session() const { return *session_; }
  [[nodiscard]] core::Clock::Steady deadline() const { return deadline_; }
  /// `http`, `sse`, `subprocess`, ...
  [[nodiscard]] std::string transport_name() const;
  /// Over HTTP in 2026-07-28, a call repeats some arguments in header fields.
  [[nodiscard]] bool has_argument_headers() const;
  /// `error` without the credential.
  [[nodiscard]] core::Error scrubbed(core::Error error) const;

  /// Waits for a task of the session.
  template <typename T>
  [[nodiscard]] T wait(task::Task<T> task) {
    auto promise = std::make_shared<std::promise<T>>();
    auto value = promise->get_future();
    scope_->spawn(keep(std::move(task), std::move(promise)));
    return value.get();
  }

 private:
  McpAccess() = default;
  // The promise is shared, since set_value may still use it when get() returns.
  template <typename T>
  static task::Task<void> keep(task::Task<T> task, std::shared_ptr<std::promise<T>> promise) {
    promise->set_value(co_await std::move(task));
  }

  core::SystemClock clock_;
  std::unique_ptr<transport::link::EventLoop> loop_;
  core::CryptoRandom random_;
  std::unique_ptr<core::ThreadTimer> timer_;
  std::unique_ptr<BusLink> bus_;
  std::shared_ptr<transport::link::Connector> connector_;
  GatewayCredential credential_;
  core::Clock::Steady deadline_{};
  std::shared_ptr<std::promise<void>> disconnected_ = std::make_shared<std::promise<void>>();
  std::unique_ptr<task::Scope> scope_;
  std::shared_ptr<mcp::client::ClientSession> session_;
  std::optional<mcp::client::Negotiated> negotiated_;
};

/// Completes the short form of a URL that a person types: `localhost:8000` is
/// `http://localhost:8000/mcp`. Takes `sse+http(s)://`, too.
[[nodiscard]] core::Result<transport::link::Endpoint> parse_typed_endpoint(const std::string& url);

/// The environment variable; nothing if it is not set.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

}  // namespace league::tools
