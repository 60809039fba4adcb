#pragma once

#include <string>

namespace league::core {

/// `1 match`, `2 matches`; without `many`, it is `one` with an s.
[[nodiscard]] inline std::string counted(long number, const std::string& one,
                                         const std::string& many = {}) {
  return std::to_string(number) + " " + (number == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace league::core
