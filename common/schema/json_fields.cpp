#include "common/schema/json_fields.h"

#include <nlohmann/json.hpp>

namespace league::schema {

const std::string& text_at(const nlohmann::json& value, std::string_view key) {
  static const std::string kNone;
  const auto* text = field_at(value, key).get_ptr<const std::string*>();
  return text != nullptr ? *text : kNone;
}

std::optional<std::int64_t> number_at(const nlohmann::json& value, std::string_view key) {
  const nlohmann::json& found = field_at(value, key);
  if (!found.is_number_integer()) return std::nullopt;
  return found.get<std::int64_t>();
}

const nlohmann::json& field_at(const nlohmann::json& value, std::string_view key) {
  static const nlohmann::json kNone;
  if (!value.is_object()) return kNone;
  auto found = value.find(key);
  return found != value.end() ? *found : kNone;
}

}  // namespace league::schema
