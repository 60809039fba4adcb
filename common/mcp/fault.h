#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/core/result.h"
#include "common/rpc/message.h"

namespace league::mcp {

/// The code, name, text and field of `error`, for `error.data` or for the content of a tool's
/// result. The league's codes are never used as JSON-RPC codes (protocol §5).
[[nodiscard]] nlohmann::json error_data(const core::Error& error);

/// A JSON-RPC error with the text of `code` and of `error`, and with error_data.
[[nodiscard]] std::string encode_fault(const rpc::Id& id, rpc::StandardCode code,
                                       const core::Error& error);

}  // namespace league::mcp
