#include "common/envelope/parity.h"

namespace league::envelope {

std::string_view parity_name(Parity parity) { return parity == Parity::kEven ? "even" : "odd"; }

std::optional<Parity> parse_parity(std::string_view text) {
  if (text == "even") return Parity::kEven;
  if (text == "odd") return Parity::kOdd;
  return std::nullopt;
}

}  // namespace league::envelope
