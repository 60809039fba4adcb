#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace league::schema {

/// The text at `key` of `value`; empty if there is none or it is no text, or `value` is no object.
/// Valid as long as `value`, like everything here.
[[nodiscard]] const std::string& text_at(const nlohmann::json& value, std::string_view key);
/// The whole number at `key` of `value`, perhaps written as `1.0`; nothing if there is none, or
/// `value` is no object.
[[nodiscard]] std::optional<std::int64_t> number_at(const nlohmann::json& value,
                                                    std::string_view key);
/// Whether `value` is an integer that was written with a fraction or an exponent, like `1.0`. JSON
/// Schema counts it as an integer.
[[nodiscard]] bool is_whole_float(const nlohmann::json& value);
/// Rewrites every number that is_whole_float finds in `value` as an integer. Recursive.
void make_integers(nlohmann::json& value);
/// The value at `key` of `value`; null if there is none, or `value` is no object.
[[nodiscard]] const nlohmann::json& field_at(const nlohmann::json& value, std::string_view key);

}  // namespace league::schema
