#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/core/result.h"
#include "common/mcp/client/negotiation.h"

namespace league::mcp {

/// One argument of a tool that is repeated as a header field.
struct ParamHeader {
  std::vector<std::string> path;  ///< names of properties, from the arguments down
  std::string name;  ///< of the field, behind `Mcp-Param-`
};

/// The properties of a tool's `inputSchema` that `x-mcp-header` marks. Fails with kInvalidReply and
/// the rule that is broken: a name that is no token of HTTP or is there twice in whatever case, a
/// property that is no string, integer or boolean, or a mark that is not reached by `properties`
/// alone. Pure. Source: MCP 2026-07-28, "Custom Headers from Tool Parameters".
[[nodiscard]] core::Result<std::vector<ParamHeader>> read_param_headers(
    const nlohmann::json& input_schema);

/// The header fields of a server's tools, as far as its lists of tools have told. Not thread-safe.
class ParamHeaders {
 public:
  /// Keeps what the tools in a result of `tools/list` want, and takes those out of it whose marks
  /// are wrong: a client must not offer them.
  void learn(nlohmann::json& list_result);
  /// The fields of a `tools/call` with these parameters (JSON text); none where nothing is known,
  /// or for arguments that are absent or null.
  [[nodiscard]] Headers of_call(std::string_view params) const;

 private:
  std::unordered_map<std::string, std::vector<ParamHeader>> tools_;  ///< that have any
};

}  // namespace league::mcp
