#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/core/result.h"
#include "common/rpc/message.h"

namespace league::mcp {

/// The code, name, text and field of `error`: what stands in `error.data`, or in the content of a
/// tool's result. The league's codes never become codes of JSON-RPC (protocol §5).
[[nodiscard]] nlohmann::json error_data(const core::Error& error);

/// A JSON-RPC error whose text is that of `code` and of `error`, with error_data.
[[nodiscard]] std::string encode_fault(const rpc::Id& id, rpc::StandardCode code,
                                       const core::Error& error);

}  // namespace league::mcp
