#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace league::game {

/// One of the two sides of a match; `role_in_match` on the wire. Source: protocol §4, message 6.
enum class Side : std::uint8_t { kA = 0, kB = 1 };

inline constexpr std::array<Side, 2> kBothSides = {Side::kA, Side::kB};

[[nodiscard]] constexpr std::size_t index(Side side) { return static_cast<std::size_t>(side); }
[[nodiscard]] constexpr Side other(Side side) { return side == Side::kA ? Side::kB : Side::kA; }
/// `PLAYER_A`, `PLAYER_B`.
[[nodiscard]] constexpr std::string_view side_name(Side side) {
  return side == Side::kA ? "PLAYER_A" : "PLAYER_B";
}

/// One value for each side.
template <typename T>
struct PerSide {
  std::array<T, 2> both{};

  [[nodiscard]] T& operator[](Side side) { return both[index(side)]; }
  [[nodiscard]] const T& operator[](Side side) const { return both[index(side)]; }
  bool operator==(const PerSide&) const = default;
};

}  // namespace league::game
