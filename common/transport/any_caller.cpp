#include "common/transport/any_caller.h"

#include <utility>

#include "common/core/timer.h"
#include "common/transport/client/legacy_sse_connection.h"
#include "common/transport/client/web_socket_connection.h"
#include "common/transport/routing_caller.h"
#include "common/transport/scheme_connector.h"

namespace league::transport {

namespace {

/// A routing caller with what its links stand on.
class AnyCaller final : public Caller {
 public:
  AnyCaller(Hub& hub, const AnyCallerOptions& options, std::unique_ptr<Caller> http)
      : connector_(make_connector(hub, options.lines)),
        routes_(std::make_unique<RoutingCaller>(
            std::move(http),
            std::make_unique<LinkCaller>(*connector_, clock_, timer_, options.links))) {}

  void call(OutboundCall call, Completion completion) override {
    routes_->call(std::move(call), std::move(completion));
  }

 private:
  core::SystemClock clock_;
  core::ThreadTimer timer_;
  const std::shared_ptr<Connector> connector_;
  const std::unique_ptr<RoutingCaller> routes_;  // last: it uses everything above
};

}  // namespace

std::shared_ptr<Connector> make_connector(Hub& hub, const LineConnectorOptions& lines) {
  auto connector = std::make_shared<SchemeConnector>();
  connector->add({"tcp", "unix", "stdio"}, std::make_shared<LineConnector>(hub, lines));
  connector->add({"ws", "wss"}, std::make_shared<WebSocketConnector>(hub));
  connector->add({"sse+http", "sse+https"}, std::make_shared<LegacySseConnector>(hub));
  return connector;
}

core::Result<std::unique_ptr<Caller>> make_caller(Hub& hub, const AnyCallerOptions& options) {
  auto http = HttpCaller::create(options.http);
  if (!http) return http.error();
  return std::unique_ptr<Caller>(std::make_unique<AnyCaller>(hub, options, std::move(*http)));
}

}  // namespace league::transport
