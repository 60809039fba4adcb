#include "common/transport/any_connector.h"

#include "common/transport/scheme_connector.h"

namespace league::transport {

std::shared_ptr<Connector> make_connector(Hub& hub, const AnyConnectorOptions& options) {
  auto connector = std::make_shared<SchemeConnector>();
  connector->add({"http", "https"}, std::make_shared<StreamableHttpConnector>(hub, options.http));
  connector->add({"sse+http", "sse+https"},
                 std::make_shared<LegacySseConnector>(hub, options.legacy_sse));
  connector->add({"ws", "wss"}, std::make_shared<WebSocketConnector>(hub, options.web_socket));
  connector->add({"tcp", "unix", "stdio"}, std::make_shared<LineConnector>(hub, options.lines));
  if (options.bus) connector->add({"nats"}, options.bus);
  return connector;
}

}  // namespace league::transport
