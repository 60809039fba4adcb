#include "common/transport/client/http_client_options.h"

#include <string_view>
#include <utility>

namespace league::transport::client {

bool is_sendable(const HttpHeaders::value_type& field) {
  constexpr std::string_view kEnds("\r\n\0", 3);
  return !field.first.empty() && field.first.find_first_of(kEnds) == std::string::npos &&
         field.second.find_first_of(kEnds) == std::string::npos;
}

void HttpConnector::connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                            Opened opened) {
  open(endpoint, deadline, [opened = std::move(opened)](ConnectOutcome outcome) {
    if (auto* failure = std::get_if<ConnectFailure>(&outcome)) {
      return opened(std::move(failure->error));
    }
    opened(std::get<std::shared_ptr<link::MessageConnection>>(std::move(outcome)));
  });
}

}  // namespace league::transport::client
