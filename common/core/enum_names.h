#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace league::core {

/// The names of the values 0, 1, … of an enumeration, as messages and files write them.
template <typename Enum, std::size_t N>
struct EnumNames {
  std::array<std::string_view, N> names;

  [[nodiscard]] constexpr std::string_view of(Enum value) const {
    return names[static_cast<std::size_t>(value)];
  }
  [[nodiscard]] constexpr std::optional<Enum> parse(std::string_view text) const {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
  }
};

}  // namespace league::core
