#include "common/transport/client/http_client_options.h"

#include <algorithm>
#include <utility>

namespace league::transport::client {

bool is_sendable(const HttpHeaders::value_type& field) {
  const auto is_end = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
  return !field.first.empty() && std::ranges::none_of(field.first, is_end) &&
         std::ranges::none_of(field.second, is_end);
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
