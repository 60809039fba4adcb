#include "common/mcp/tool_result.h"

#include "common/rpc/json_text.h"

namespace league::mcp {

std::string encode_tool_result(std::string_view structured, bool is_error, std::string_view tail) {
  std::string result;
  result.reserve(2 * structured.size() + structured.size() / 4 + tail.size() + 96);
  result = R"({"content":[{"text":)";
  rpc::append_json_string(result, structured);
  result.append(R"(,"type":"text"}],"isError":)");
  // An error does not follow the tool's output schema, and clients validate structured content.
  if (is_error) {
    result.append("true");
  } else {
    result.append(R"(false,"structuredContent":)").append(structured);
  }
  return result.append(tail) += '}';
}

}  // namespace league::mcp
