#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/auth_token.h"
#include "common/core/ids.h"
#include "common/core/text.h"
#include "common/core/timestamp.h"
#include "common/envelope/field_archive.h"
#include "common/schema/json_string.h"

// Private to the .cpp files of this folder, as field_archive.h is.
namespace league::envelope {

/// Appends the described fields to the text of a JSON object, in the order of the description. The
/// result is that of a FieldWriter, but without building a JSON tree, which would cost as much as
/// all other work on the message. The fields of one object must have different names, and nothing
/// can be added to a field that is already written; use FieldWriter for descriptions that do so.
class TextWriter {
 public:
  static constexpr bool kWrites = true;
  static constexpr bool kLists = false;
  /// Appends to `out`, which must outlive this object; end() must follow.
  explicit TextWriter(std::string& out) : out_(out) { out_ += '{'; }
  void end() { out_ += '}'; }

  template <typename T>
  void required(std::string_view name, const T& value, const Rule& /*rule*/ = {}) {
    begin_field(name);
    append(value);
  }
  template <typename T>
  void optional(std::string_view name, const std::optional<T>& value, const Rule& /*rule*/ = {}) {
    if (value) required(name, *value);
  }
  template <typename T>
  void nullable(std::string_view name, const std::optional<T>& value, const Rule& /*rule*/ = {}) {
    required(name, value);
  }
  template <typename T>
  void defaulted(std::string_view name, const T& value, const Rule& /*rule*/ = {}) {
    required(name, value);
  }
  template <typename T>
  void unless(std::string_view name, const T& value, const T& omitted, const Rule& /*rule*/ = {}) {
    if (!(value == omitted)) required(name, value);
  }

 private:
  void begin_field(std::string_view name) {
    if (has_fields_) out_ += ',';
    has_fields_ = true;
    schema::append_json_string(out_, name);
    out_ += ':';
  }

  void append(std::string_view value) { schema::append_json_string(out_, value); }
  void append(const std::string& value) { append(std::string_view(value)); }
  void append(bool value) { out_ += value ? "true" : "false"; }
  void append(int value) { core::append_number(out_, value); }
  void append(const RawJson& value) { out_ += value.text; }
  void append(const core::AuthToken& value) { append(value.reveal()); }
  void append(const core::UtcTimestamp& value) { append(value.to_wire()); }
  void append(core::ErrorCode value) { append(core::wire_code(value)); }
  template <typename Tag>
  void append(const core::StringId<Tag>& value) {
    append(value.str());
  }
  template <typename T>
  void append(const std::optional<T>& value) {
    if (value) return append(*value);
    out_ += "null";
  }
  template <typename T>
  void append(const std::vector<T>& values) {
    char before = '[';
    for (const auto& value : values) {
      out_ += before;
      append(value);
      before = ',';
    }
    out_ += values.empty() ? "[]" : "]";
  }
  template <typename V>
  void append(const std::map<std::string, V>& values) {
    TextWriter object(out_);
    for (const auto& [key, value] : values) object.required(key, value);
    object.end();
  }
  template <typename Tag, typename V>
  void append(const std::map<core::StringId<Tag>, V>& values) {
    TextWriter object(out_);
    for (const auto& [key, value] : values) object.required(key.str(), value);
    object.end();
  }
  template <typename T>
  void append(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      for (const auto& [candidate, name] : enum_names(Of<T>{})) {
        if (candidate == value) return append(name);
      }
      out_ += "null";
    } else {
      TextWriter object(out_);
      describe(object, value, Of<T>{});
      object.end();
    }
  }

  std::string& out_;
  bool has_fields_ = false;
};

}  // namespace league::envelope
