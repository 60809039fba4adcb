#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/core/result.h"
#include "common/mcp/client/negotiation.h"

namespace league::mcp::client {

/// One argument of a tool that is repeated as a header field.
struct ParamHeader {
  std::vector<std::string> path;  ///< names of properties, starting at the arguments
  std::string name;  ///< the part of the field's name after `Mcp-Param-`
};

/// The properties of a tool's `inputSchema` that `x-mcp-header` marks. Fails with kInvalidReply and
/// the broken rule: a name that is not an HTTP token or occurs twice (ignoring case), a property
/// that is not a string, integer or boolean, or a mark that is not reached through `properties`
/// alone. Pure. Source: MCP 2026-07-28, "Custom Headers from Tool Parameters".
[[nodiscard]] core::Result<std::vector<ParamHeader>> read_param_headers(
    const nlohmann::json& input_schema);

/// The header fields of a server's tools, as far as its tool lists have been seen. Not thread-safe.
class ParamHeaders {
 public:
  /// Stores the marks of the tools in a result of `tools/list`, and removes tools with invalid
  /// marks from the result, because a client must not offer them.
  void learn(nlohmann::json& list_result);
  /// The header fields of a `tools/call` with these parameters (JSON text); empty if the tool is
  /// unknown. Arguments that are absent or null have no field.
  [[nodiscard]] Headers of_call(std::string_view params) const;

 private:
  std::unordered_map<std::string, std::vector<ParamHeader>> tools_;  ///< only tools with marks
};

}  // namespace league::mcp::client
