#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::transport::link {

/// Splits a command into words like a shell, but without expansions: blanks separate words, 'single
/// quotes' keep everything, "double quotes" and a backslash keep the next character. Fails with
/// kEndpointNotAllowed for an empty command or an unclosed quote.
[[nodiscard]] core::Result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace league::transport::link
