#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace league::core {

/// How many bytes of a foreign value an error text shows.
inline constexpr std::size_t kShownLength = 40;

/// `text` with A-Z in lower case; other bytes stay as they are, whatever the locale.
std::string lower_case(std::string_view text);

}  // namespace league::core
