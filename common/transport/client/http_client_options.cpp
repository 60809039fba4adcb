#include "common/transport/client/http_client_options.h"

#include <utility>

namespace league::transport {

void HttpConnector::connect(const Endpoint& endpoint, core::Clock::Steady deadline, Opened opened) {
  open(endpoint, deadline, [opened = std::move(opened)](ConnectOutcome outcome) {
    if (auto* failure = std::get_if<ConnectFailure>(&outcome)) {
      return opened(std::move(failure->error));
    }
    opened(std::get<std::shared_ptr<MessageConnection>>(std::move(outcome)));
  });
}

}  // namespace league::transport
