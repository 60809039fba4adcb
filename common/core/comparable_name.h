#pragma once

#include <string>
#include <string_view>

namespace league::core {

/// A display name in the form in which two are compared: without white space at its ends and
/// without case, so that nobody passes for somebody else by a capital letter. Case is that of the
/// Latin, Greek and Cyrillic alphabets; other letters, and what only looks alike, stay as they are.
/// Source: protocol §8.
[[nodiscard]] std::string comparable_name(std::string_view display_name);

}  // namespace league::core
