#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace league::rpc {

/// The id of a JSON-RPC request: null, an integer of 64 bits or a string; 0 and `""` are ids like
/// any other. A value. Source: JSON-RPC 2.0 §4.
class Id {
 public:
  /// Null.
  Id() = default;
  explicit Id(std::int64_t number) : value_(number) {}
  explicit Id(std::string text) : value_(std::move(text)) {}

  /// `1.0` and `1e3` are integers, as in JSON Schema. Nothing for a number with a fraction, one
  /// that is not exactly an integer of 64 bits, and every other type.
  [[nodiscard]] static std::optional<Id> from_json(const nlohmann::json& value);

  /// The same for a number that was written with a fraction or an exponent.
  [[nodiscard]] static std::optional<Id> from_number(double number);

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  /// Null where the id is no number; valid as long as this.
  [[nodiscard]] const std::int64_t* number() const { return std::get_if<std::int64_t>(&value_); }
  /// Null where the id is no string; valid as long as this.
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&value_); }

  /// Appends the JSON text of the id.
  void append_to(std::string& out) const;
  [[nodiscard]] std::size_t hash() const;

  bool operator==(const Id&) const = default;
  auto operator<=>(const Id&) const = default;

 private:
  std::variant<std::monostate, std::int64_t, std::string> value_;
};

void to_json(nlohmann::json& out, const Id& id);

}  // namespace league::rpc

template <>
struct std::hash<league::rpc::Id> {
  std::size_t operator()(const league::rpc::Id& id) const { return id.hash(); }
};
