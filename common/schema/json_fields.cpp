#include "common/schema/json_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace league::schema {

const std::string& text_at(const nlohmann::json& value, std::string_view key) {
  static const std::string kNone;
  const auto* text = field_at(value, key).get_ptr<const std::string*>();
  return text != nullptr ? *text : kNone;
}

std::optional<std::int64_t> number_at(const nlohmann::json& value, std::string_view key) {
  const nlohmann::json& found = field_at(value, key);
  if (found.is_number_integer()) return found.get<std::int64_t>();
  if (!is_whole_float(found)) return std::nullopt;
  return static_cast<std::int64_t>(found.get<double>());
}

bool is_whole_float(const nlohmann::json& value) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  if (!value.is_number_float()) return false;
  const auto number = value.get<double>();
  return std::abs(number) <= kLargestExact && std::trunc(number) == number;
}

void make_integers(nlohmann::json& value) {
  if (value.is_structured()) {
    for (auto& child : value) make_integers(child);
  } else if (is_whole_float(value)) {
    value = static_cast<std::int64_t>(value.get<double>());
  }
}

const nlohmann::json& field_at(const nlohmann::json& value, std::string_view key) {
  static const nlohmann::json kNone;
  if (!value.is_object()) return kNone;
  auto found = value.find(key);
  return found != value.end() ? *found : kNone;
}

}  // namespace league::schema
