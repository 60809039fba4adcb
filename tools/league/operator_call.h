#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace league::tools {

/// Which manager to call, and with which key.
struct OperatorAccess {
  std::string url;
  std::string key_file;  ///< its first line is the operator's key
  bool json = false;  ///< print the answer unchanged
};

/// Calls `tool` of the manager, which only its operator may call, and prints `done`. Returns the
/// program's exit code: 1 the manager refused, 2 it did not answer or there is no key.
[[nodiscard]] int call_as_operator(const OperatorAccess& access, const std::string& tool,
                                   nlohmann::json arguments, const std::string& done);

}  // namespace league::tools
