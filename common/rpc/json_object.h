#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/timestamp.h"

namespace league::rpc {

/// Appends one JSON object to a text, key by key in the order of the calls; keys are not escaped.
/// For files and answers that are long or must always look the same. Not thread-safe.
class JsonObject {
 public:
  /// `separator` stands between members.
  explicit JsonObject(std::string& out, std::string_view separator = ",");

  JsonObject& text(std::string_view key, std::string_view value);
  /// Null when there is none.
  JsonObject& optional_text(std::string_view key, std::string_view value);
  JsonObject& number(std::string_view key, std::integral auto value) {
    return raw(key, std::to_string(value));
  }
  JsonObject& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  /// With microseconds; null when there is none.
  JsonObject& time(std::string_view key, const std::optional<core::UtcTimestamp>& value);
  JsonObject& null(std::string_view key) { return raw(key, "null"); }
  /// `json` is a JSON value.
  JsonObject& raw(std::string_view key, std::string_view json);
  /// Writes the key; the caller must then append its value to the text before any other call.
  void name(std::string_view key);
  /// Must be the last call.
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  const std::string_view separator_;
  bool is_empty_ = true;
};

}  // namespace league::rpc
