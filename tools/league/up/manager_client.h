#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "common/core/result.h"
#include "common/transport/link/caller.h"

namespace league::tools {

/// Calls a league manager over any transport, one call at a time. If the manager answers that this
/// address has sent too many requests, the call is repeated when the manager says, within its time
/// limit. Not thread-safe.
class ManagerClient {
 public:
  /// Fails if `url` is invalid; completes a short form such as `localhost:8000`.
  [[nodiscard]] static core::Result<ManagerClient> connect(const std::string& url);

  /// Calls a tool and waits for its result for at most `patience`. Fails with kConnectionError or
  /// kTimeout if there is no answer, and with the manager's own code and text if it refuses.
  [[nodiscard]] core::Result<nlohmann::json> call(
      const std::string& tool, const nlohmann::json& arguments,
      std::chrono::milliseconds patience = std::chrono::seconds(5));
  /// Rows of the table by rank, at most `limit`; fetched page by page.
  [[nodiscard]] core::Result<nlohmann::json> standings(std::size_t limit);
  /// The states of all agents, as `get_agents` has them; fetched page by page.
  [[nodiscard]] core::Result<nlohmann::json> agents();
  /// The content of the resource at `uri`, such as `league://news`: a JSON object.
  [[nodiscard]] core::Result<nlohmann::json> resource(const std::string& uri);

 private:
  /// A tool that gives rows page by page, and the names of the rows and of their number.
  struct Pages {
    const char* tool;
    const char* rows;
    const char* total;
  };
  [[nodiscard]] core::Result<nlohmann::json> pages(const Pages& of,
                                                   std::optional<std::size_t> limit);
  ManagerClient(transport::link::Endpoint endpoint, std::unique_ptr<transport::link::Caller> caller)
      : endpoint_(std::move(endpoint)), caller_(std::move(caller)) {}

  transport::link::Endpoint endpoint_;
  std::unique_ptr<transport::link::Caller> caller_;
  int next_id_ = 1;
};

}  // namespace league::tools
