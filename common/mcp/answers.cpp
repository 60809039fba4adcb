#include "common/mcp/answers.h"

#include <nlohmann/json.hpp>

#include "common/core/error_code.h"
#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"

namespace league::mcp {

nlohmann::json error_data(const core::Error& error) {
  const auto& row = core::error_info(error.code);
  nlohmann::json data = {{"error_code", row.wire_code},
                         {"error_name", row.name},
                         {"error_description", error.message}};
  if (!error.field.empty()) data["field"] = error.field;
  return data;
}

std::string encode_fault(const rpc::Id& id, rpc::StandardCode code, const core::Error& error) {
  std::string text = std::string(rpc::standard_message(code)) + ": " + error.message;
  return rpc::encode_error(id, static_cast<int>(code), text, rpc::to_json_text(error_data(error)));
}

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
