#pragma once

#include <string>
#include <string_view>

namespace league::core {

/// A display name in a normalised form for comparisons: without white space at its ends and in
/// lower case, so that nobody can impersonate another player by changing the case. Handles the
/// Latin, Greek and Cyrillic alphabets; other letters and look-alikes are unchanged. Source:
/// protocol §8.
[[nodiscard]] std::string comparable_name(std::string_view display_name);

}  // namespace league::core
