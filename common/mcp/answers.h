#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/rpc/message.h"

namespace league::mcp {

/// The code, name, text and field of `error`, for `error.data` or for the content of a tool's
/// result. The league's codes are never used as JSON-RPC codes (protocol §5).
[[nodiscard]] nlohmann::json error_data(const core::Error& error);

/// A JSON-RPC error with the text of `code` and of `error`, and with error_data.
[[nodiscard]] std::string encode_fault(const rpc::Id& id, rpc::StandardCode code,
                                       const core::Error& error);

/// The result of a tool that answers with an object: `structured` (JSON text) as the structured
/// content, and again as text for clients that read only that; an error only as text. `tail` is
/// what the dialect adds to results (see Responder::result_tail).
[[nodiscard]] std::string encode_tool_result(std::string_view structured, bool is_error,
                                             std::string_view tail = {});

}  // namespace league::mcp
