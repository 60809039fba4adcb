#include "common/transport/caller/any_connector.h"

#include <map>
#include <utility>

namespace league::transport::caller {

namespace {

class AnyConnector final : public link::Connector {
 public:
  AnyConnector(link::EventLoop& loop, const AnyConnectorOptions& options) {
    add({"http", "https"}, std::make_shared<client::StreamableHttpConnector>(loop, options.http));
    add({"ws", "wss"}, std::make_shared<client::WebSocketConnector>(loop, options.web_socket));
    add({"tcp", "unix", "stdio"}, std::make_shared<line::LineConnector>(loop, options.lines));
    if (options.bus) add({"nats"}, options.bus);
    if (options.legacy_sse) add({"sse+http", "sse+https"}, options.legacy_sse);
  }

  void connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
               Opened opened) override {
    auto found = connectors_.find(endpoint.scheme);
    if (found != connectors_.end()) {
      return found->second->connect(endpoint, deadline, std::move(opened));
    }
    opened(core::Error{core::ErrorCode::kEndpointNotAllowed,
                       "endpoint " + endpoint.url() + ": this program has no way to call " +
                           endpoint.scheme + " endpoints",
                       {}});
  }

 private:
  void add(std::initializer_list<std::string> schemes,
           const std::shared_ptr<link::Connector>& connector) {
    for (const auto& scheme : schemes) connectors_.emplace(scheme, connector);
  }

  std::map<std::string, std::shared_ptr<link::Connector>> connectors_;
};

}  // namespace

std::shared_ptr<link::Connector> make_connector(link::EventLoop& loop,
                                                const AnyConnectorOptions& options) {
  return std::make_shared<AnyConnector>(loop, options);
}

}  // namespace league::transport::caller
