#pragma once

#include <string>
#include <string_view>

namespace league::mcp {

/// The result of a tool that answers with an object: `structured` (JSON text) as the structured
/// content, and again as text for clients that read only that; an error only as text. `tail` is
/// what the dialect adds to results (see Responder::result_tail).
[[nodiscard]] std::string encode_tool_result(std::string_view structured, bool is_error,
                                             std::string_view tail = {});

}  // namespace league::mcp
