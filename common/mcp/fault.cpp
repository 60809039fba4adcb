#include "common/mcp/fault.h"

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

}  // namespace league::mcp
