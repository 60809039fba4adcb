#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/audit/record/record.h"
#include "common/mcp/client/client_session.h"
#include "tools/gateway/gateway_backend.h"

namespace league::tools::gateway {

/// How a shared backend is reached.
struct GatewayLinkOptions {
  transport::link::Endpoint endpoint;
  mcp::client::Headers headers;  ///< credentials; never logged
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds longest_probe = mcp::client::kLongestProbe;  ///< as SessionOptions
  /// The delay before a lost backend is started again: doubled each time, until the backend has
  /// lived for `longest_delay`.
  std::chrono::milliseconds first_delay{200};
  std::chrono::milliseconds longest_delay{2'000};
  /// Removes credentials from the texts of errors.
  std::function<std::string(std::string)> scrub = nullptr;
  /// Receives notifications of the backend outside a call.
  std::function<void(const rpc::Notification&)> on_notification = nullptr;
  /// Receives requests of the backend; if empty, they are refused.
  mcp::client::TakeServerRequest on_request = nullptr;
  /// The capabilities that are declared to the backend, a JSON object.
  nlohmann::json client_capabilities = nlohmann::json::object();
  /// The link belongs to one client: it always uses the handshake, since only that gives a session.
  /// If a call cannot receive its notifications or requests, they go to `on_notification` and
  /// `on_request`.
  bool is_own = false;
  /// Called with a text for people when the backend is available, or is lost and why.
  std::function<void(const std::string&)> on_change = nullptr;
};

/// A session with a backend, of one client or of all that share it: a child, a connection, an HTTP
/// server. The gateway initialises it and sends requests with its own ids. A lost backend is
/// started again at the next request, after a delay during which requests wait. Thread-safe: what
/// it does runs on the executor of its scope.
class GatewayLink final : public GatewayBackend {
 public:
  /// All references must outlive the link and its calls, which `scope` owns.
  GatewayLink(const mcp::client::SessionTools& tools, task::Scope& scope,
              audit::record::RecordSink& log, GatewayLinkOptions options);
  /// Ends the session.
  ~GatewayLink() override;

  /// Connects to the backend and negotiates now, not at the first request.
  void connect();

  Cancel forward(GatewayCall call, Answered answered) override;
  void describe(const GatewayCall& call, Answered answered) override;
  /// Sends the notification if there is a session; ignores `owner`.
  void notify(const std::string& owner, const rpc::Notification& note) override;
  [[nodiscard]] bool takes(std::string_view /*method*/) const override { return true; }
  [[nodiscard]] bool ends_with_client() const override { return false; }

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace league::tools::gateway
