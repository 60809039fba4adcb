#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "common/core/result.h"
#include "common/transport/link/caller.h"

namespace league::tools {

/// Asks a league manager over any transport, one question at a time. One that says that this
/// address has asked too much is asked again when it says, within the call's time. Not thread-safe.
class ManagerClient {
 public:
  /// Fails when `url` is no URL. What a person types for short (`localhost:8000`) is completed.
  [[nodiscard]] static core::Result<ManagerClient> connect(const std::string& url);

  /// Calls a tool and waits for its result for at most `patience`. Fails with kConnectionError or
  /// kTimeout when nobody answers, and with the manager's own code and text when it refuses.
  [[nodiscard]] core::Result<nlohmann::json> call(
      const std::string& tool, const nlohmann::json& arguments,
      std::chrono::milliseconds patience = std::chrono::seconds(5));
  /// Rows of the table by rank, at most `limit`; fetched page by page.
  [[nodiscard]] core::Result<nlohmann::json> standings(std::size_t limit);
  /// The states of all agents, as `get_agents` has them; fetched page by page.
  [[nodiscard]] core::Result<nlohmann::json> agents();
  /// What the resource at `uri` holds, such as `league://news`: a JSON object.
  [[nodiscard]] core::Result<nlohmann::json> resource(const std::string& uri);

 private:
  ManagerClient(transport::Endpoint endpoint, std::unique_ptr<transport::Caller> caller)
      : endpoint_(std::move(endpoint)), caller_(std::move(caller)) {}

  transport::Endpoint endpoint_;
  std::unique_ptr<transport::Caller> caller_;
  int next_id_ = 1;
};

}  // namespace league::tools
