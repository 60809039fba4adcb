#pragma once

#include <memory>

#include "common/audit/record/record.h"
#include "common/core/timer.h"
#include "common/task/task.h"
#include "common/transport/link/event_loop.h"
#include "tools/gateway/gateway_backend.h"
#include "tools/league/client/gateway_credential.h"

namespace league::tools::gateway {

/// The options for a server that uses MCP's transport of 2024.
struct GatewaySseOptions {
  transport::link::Endpoint endpoint;  ///< `sse+http://HOST:PORT/sse`
  GatewayCredential credential;
  std::chrono::milliseconds connect_timeout{5000};
  std::size_t max_result = 16 * 1024 * 1024;  ///< bytes of a message of the server
};

/// A backend with a new connection for each `tools/list` and `tools/call`: a stream with the
/// client's headers, driven by a GatewayMachine while the client waits, and closed after the answer
/// or when the client is gone. Every message of the channel is recorded. Calls that run when the
/// backend is destroyed end without an answer. Thread-safe.
class GatewaySseBackend final : public GatewayBackend {
 public:
  /// All references must outlive the backend and its calls.
  struct Tools {
    transport::link::EventLoop& loop;
    core::Timer& timer;
    const core::Clock& clock;
    audit::record::RecordSink& log;
  };
  GatewaySseBackend(const Tools& tools, GatewaySseOptions options);
  Cancel forward(GatewayCall call, Answered answered) override;
  void describe(const GatewayCall& call, Answered answered) override;
  [[nodiscard]] bool takes(std::string_view method) const override;
  [[nodiscard]] bool ends_with_client() const override { return true; }

 private:
  class Exchange;

  const Tools tools_;
  const std::shared_ptr<const GatewaySseOptions> options_;
  task::Scope scope_{task::Executor(), nullptr};  ///< of the calls
};

}  // namespace league::tools::gateway
