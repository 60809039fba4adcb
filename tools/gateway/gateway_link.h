#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "common/audit/record/record.h"
#include "common/mcp/client/client_session.h"
#include "tools/gateway/gateway_backend.h"

namespace league::tools {

/// How a shared backend is reached.
struct GatewayLinkOptions {
  transport::Endpoint endpoint;
  mcp::Headers headers;  ///< credentials; never logged
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds longest_probe = mcp::kLongestProbe;  ///< as SessionOptions
  /// Before a backend that was lost is begun again: doubled each time, until it has lived for the
  /// longest of these.
  std::chrono::milliseconds first_delay{200};
  std::chrono::milliseconds longest_delay{2'000};
  /// Texts of errors go through this, so that no credential is in them.
  std::function<std::string(std::string)> scrub = nullptr;
  /// What the backend says unasked.
  std::function<void(const rpc::Notification&)> on_notification = nullptr;
  /// What the backend asks; without it, it is refused.
  mcp::TakeServerRequest on_request = nullptr;
  /// What the backend may ask, a JSON object.
  nlohmann::json client_capabilities = nlohmann::json::object();
  /// One client's own: begins with the handshake, since only it has sessions. What belongs to a
  /// call goes to all of `on_notification` and `on_request` where the call cannot take it.
  bool is_own = false;
  /// For people: the backend is there, or lost and why.
  std::function<void(const std::string&)> on_change = nullptr;
};

/// A session with a backend, of one client or of all that share it: a child, a connection, an HTTP
/// server. It is initialised by the gateway; requests go there with ids of its own. A backend that
/// is lost is begun again with the next request, after a delay for which requests wait.
/// Thread-safe.
class GatewayLink final : public GatewayBackend {
 public:
  /// All outlive the link and its calls.
  GatewayLink(const mcp::SessionTools& tools, audit::RecordSink& log, GatewayLinkOptions options);
  /// Ends the session.
  ~GatewayLink() override;

  /// Comes to terms with the backend now, not with the first request.
  void connect(std::function<void(core::Result<mcp::Negotiated>)> connected);

  Cancel forward(GatewayCall call, Answered answered) override;
  void describe(const GatewayCall& call, Answered answered) override;
  /// Sent where there is a session; `owner` does not matter.
  void notify(const std::string& owner, const rpc::Notification& note) override;
  [[nodiscard]] bool takes(std::string_view /*method*/) const override { return true; }
  [[nodiscard]] bool ends_with_client() const override { return false; }

 private:
  struct Shared;
  struct Running;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace league::tools
