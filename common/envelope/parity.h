#pragma once

#include <optional>
#include <string_view>

namespace league::envelope {

/// What a player chooses and what a number is, in the Even/Odd game.
enum class Parity { kEven, kOdd };

/// `even` or `odd`.
[[nodiscard]] std::string_view parity_name(Parity parity);
/// Exactly `even` or `odd`; nothing for everything else. Source: protocol §4, message 9.
[[nodiscard]] std::optional<Parity> parse_parity(std::string_view text);

}  // namespace league::envelope
