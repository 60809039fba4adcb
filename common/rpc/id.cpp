#include "common/rpc/id.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/rpc/json_text.h"

namespace league::rpc {

std::optional<Id> Id::from_json(const nlohmann::json& value) {
  if (value.is_null()) return Id();
  if (const auto* text = value.get_ptr<const std::string*>()) return Id(*text);
  if (const auto* number = value.get_ptr<const std::uint64_t*>()) {
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (*number > kLargest) return std::nullopt;
    return Id(static_cast<std::int64_t>(*number));
  }
  if (const auto* number = value.get_ptr<const std::int64_t*>()) return Id(*number);
  if (const auto* number = value.get_ptr<const double*>()) return from_number(*number);
  return std::nullopt;
}

std::optional<Id> Id::from_number(double number) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  if (!(std::abs(number) <= kLargestExact) || std::trunc(number) != number) return std::nullopt;
  return Id(static_cast<std::int64_t>(number));
}

void Id::append_to(std::string& out) const {
  if (const auto* value = number()) {
    out += std::to_string(*value);
  } else if (const auto* string = text()) {
    append_json_string(out, *string);
  } else {
    out += "null";
  }
}

std::size_t Id::hash() const {
  if (const auto* value = number()) return std::hash<std::int64_t>{}(*value);
  if (const auto* value = text()) return std::hash<std::string>{}(*value);
  return 0;
}

void to_json(nlohmann::json& out, const Id& id) {
  if (const auto* number = id.number()) {
    out = *number;
  } else if (const auto* text = id.text()) {
    out = *text;
  } else {
    out = nullptr;
  }
}

}  // namespace league::rpc
