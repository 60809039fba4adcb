#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/rpc/message.h"

namespace league::tools::gateway {

/// What a client has set in its session with a backend, so that it can be set again in another one:
/// its log level and the resources to which it has subscribed. Not thread-safe.
class GatewaySessionState {
 public:
  /// Notes a request that the backend has answered with a result; ignores those that set nothing.
  void note(const rpc::Request& request);
  struct Setting {
    std::string method;
    nlohmann::json params;
  };
  /// The requests that restore all of this.
  [[nodiscard]] std::vector<Setting> settings() const;

 private:
  nlohmann::json level_;  ///< null: never set
  std::set<std::string> subscriptions_;  ///< URIs
};

}  // namespace league::tools::gateway
