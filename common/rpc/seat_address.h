#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace league::rpc {

/// What a player that comes to us gives as its contact_endpoint. Source: protocol §10.
inline constexpr std::string_view kOutward = "outward";
/// Where referees call it at its manager: POST to `/seats/ID`.
inline constexpr std::string_view kSeatsPath = "/seats/";
/// In a call at a seat: for how many milliseconds its caller waits. The seat answers then at last.
inline constexpr std::string_view kSeatLimitHeader = "League-Time-Limit-Ms";
/// In the answer: for how many microseconds the seat kept the call, and the answer, by itself.
inline constexpr std::string_view kSeatDelayHeader = "League-Seat-Delay-Us";
/// Its address inside the manager, which no other agent can have: `seat:P07`.
inline constexpr std::string_view kSeatScheme = "seat";

/// The value of one of these two fields; nothing if it is no whole number.
[[nodiscard]] inline std::optional<std::uint32_t> seat_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = fault == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

[[nodiscard]] inline std::string seat_address(const std::string& player) {
  return std::string(kSeatScheme) + ":" + player;
}

/// The player whose seat `address` is; nothing for another address.
[[nodiscard]] inline std::optional<std::string_view> player_at_seat(std::string_view address) {
  const bool is_seat =
      address.starts_with(kSeatScheme) && address.substr(kSeatScheme.size()).starts_with(':');
  return is_seat ? std::optional(address.substr(kSeatScheme.size() + 1)) : std::nullopt;
}

}  // namespace league::rpc
