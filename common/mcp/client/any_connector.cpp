#include "common/mcp/client/any_connector.h"

#include "common/transport/scheme_connector.h"

namespace league::mcp {

std::shared_ptr<transport::Connector> make_any_connector(transport::Hub& hub,
                                                         const AnyConnectorOptions& options) {
  auto connector = std::make_shared<transport::SchemeConnector>();
  connector->add({"http", "https"},
                 std::make_shared<transport::StreamableHttpConnector>(hub, options.http));
  connector->add({"sse+http", "sse+https"},
                 std::make_shared<transport::LegacySseConnector>(hub, options.legacy_sse));
  connector->add({"ws", "wss"},
                 std::make_shared<transport::WebSocketConnector>(hub, options.web_socket));
  connector->add({"tcp", "unix", "stdio"},
                 std::make_shared<transport::LineConnector>(hub, options.lines));
  return connector;
}

}  // namespace league::mcp
