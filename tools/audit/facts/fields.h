#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {

/// Reads the fields that a struct lists in its `fields(Io&, Struct&)` from a value of any form:
/// what is missing, or has another type, stays as it is. `in` outlives it.
class FieldsIn {
 public:
  explicit FieldsIn(const nlohmann::json& in) : in_(in) {}

  void operator()(const char* key, std::string& value) const {
    if (const std::string& text = text_at(in_, key); !text.empty()) value = text;
  }
  void operator()(const char* key, bool& value) const {
    value = field_at(in_, key) == nlohmann::json(true);
  }
  void operator()(const char* key, std::optional<bool>& value) const {
    if (const auto& found = field_at(in_, key); found.is_boolean()) value = found.get<bool>();
  }
  void operator()(const char* key, std::int64_t& value) const {
    value = number_at(in_, key).value_or(value);
  }
  void operator()(const char* key, std::optional<std::int64_t>& value) const {
    value = number_at(in_, key);
  }
  void operator()(const char* key, std::optional<int>& value) const { value = number_at(in_, key); }
  void operator()(const char* key, nlohmann::json& value) const { value = field_at(in_, key); }
  void operator()(const char* key, std::set<std::string>& value) const {
    for (const nlohmann::json& one : list_at(in_, key))
      if (one.is_string()) value.insert(one.get<std::string>());
  }
  template <typename T>
  void operator()(const char* key, std::vector<T>& values) const {
    for (const nlohmann::json& one : list_at(in_, key))
      fields(FieldsIn(one), values.emplace_back());
  }
  /// An object.
  template <typename T>
  void operator()(const char* key, T& value) const {
    fields(FieldsIn(field_at(in_, key)), value);
  }
  /// An object that need not be there.
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) const {
    if (field_at(in_, key).is_object()) (*this)(key, value.emplace());
  }
  /// Several fields, each with its key.
  template <typename T, typename U, typename... More>
  void operator()(const char* key, T& value, const char* next, U& other, More&&... more) const {
    (*this)(key, value);
    (*this)(next, other, std::forward<More>(more)...);
  }
  /// An instant, in microseconds.
  void instant(const char* key, std::optional<std::int64_t>& value_us) const {
    value_us = instant_at(in_, key);
  }

 private:
  const nlohmann::json& in_;
};

template <typename T>
[[nodiscard]] T read_fields(const nlohmann::json& in) {
  T read;
  fields(FieldsIn(in), read);
  return read;
}

}  // namespace league::tools::auditor
