#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/core/auth_token.h"
#include "common/core/error_code.h"
#include "common/core/ids.h"
#include "common/core/result.h"
#include "common/core/timestamp.h"
#include "common/schema/field_rule.h"
#include "common/schema/json_tree.h"

// How values of each type are read, written and listed, for fields.h.
namespace league::schema {

class Fields;

/// Selects what belongs to a type.
template <typename T>
struct Of {};

/// How an enumeration is written: `enum_names(Of<E>)` returns an array of pairs of value and name.
template <typename E>
using EnumName = std::pair<E, std::string_view>;

/// The position of a value in a document: a chain of steps on the stack that is converted to text
/// only for a fault, because a table of 64 rows has 500 positions whose text is normally not
/// needed.
class FieldPath {
 public:
  FieldPath() = default;
  FieldPath(const FieldPath& parent, std::string_view name) : parent_(&parent), name_(name) {}
  FieldPath(const FieldPath& parent, std::size_t index) : parent_(&parent), index_(index) {}

  /// The position as a JSON pointer.
  [[nodiscard]] std::string text() const;

 private:
  const FieldPath* parent_ = nullptr;
  std::optional<std::string_view> name_;
  std::size_t index_ = 0;
};

/// One reading of a document.
struct Reading {
  std::optional<core::Error> fault = std::nullopt;  ///< the first; nothing is read after it
  /// What has not the right type counts as absent, and an element of a list is left out: there is
  /// no fault.
  bool is_loose = false;

  /// False.
  bool fail(core::ErrorCode code, const FieldPath& at, std::string_view rule);
};

/// Where values are written to.
class FieldSink {
 public:
  FieldSink() = default;
  FieldSink(const FieldSink&) = delete;
  FieldSink& operator=(const FieldSink&) = delete;
  virtual ~FieldSink() = default;
  virtual void null() = 0;
  virtual void flag(bool value) = 0;
  virtual void integer(std::int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;
  /// JSON as text, which must be valid.
  virtual void json(std::string_view value) = 0;
  virtual void begin(bool is_object) = 0;
  virtual void name(std::string_view name) = 0;
  virtual void end(bool is_object) = 0;
};

/// How a type is read, written and listed: the reader, writer and lister know it by this alone.
/// `value` points at an object of the type.
struct FieldType {
  /// False, with a fault unless the reading is loose, if `in` is none of the type.
  bool (*read)(Reading& reading, JsonNode in, void* value, const FieldPath& at);
  void (*write)(FieldSink& out, const void* value);
  DescribedField (*list)(const Rule& rule);
  /// Whether the value is there: an optional one may hold nothing.
  bool (*is_there)(const void* value);
};
// What a FieldType consists of: `read_value`, `write_value` and, where it is not a text,
// `list_value` of the type. One with a form of its own has these functions in its namespace, or
// here.

[[nodiscard]] bool read_value(Reading& reading, JsonNode in, std::string& value,
                              const FieldPath& at);
/// False: such a text is only written.
[[nodiscard]] bool read_value(Reading& reading, JsonNode in, std::string_view& value,
                              const FieldPath& at);
[[nodiscard]] bool read_value(Reading& reading, JsonNode in, bool& value, const FieldPath& at);
[[nodiscard]] bool read_value(Reading& reading, JsonNode in, double& value, const FieldPath& at);
[[nodiscard]] bool read_value(Reading& reading, JsonNode in, core::AuthToken& value,
                              const FieldPath& at);
[[nodiscard]] bool read_value(Reading& reading, JsonNode in, core::UtcTimestamp& value,
                              const FieldPath& at);
[[nodiscard]] bool read_value(Reading& reading, JsonNode in, core::ErrorCode& value,
                              const FieldPath& at);
[[nodiscard]] bool read_value(Reading& reading, JsonNode in, nlohmann::json& value,
                              const FieldPath& at);
/// Additional facts: a value that is not a string is read as its JSON text.
[[nodiscard]] bool read_value(Reading& reading, JsonNode in,
                              std::map<std::string, std::string>& value, const FieldPath& at);

void write_value(FieldSink& out, const std::string& value);
void write_value(FieldSink& out, const std::string_view& value);
void write_value(FieldSink& out, const bool& value);
void write_value(FieldSink& out, const double& value);
void write_value(FieldSink& out, const core::AuthToken& value);
void write_value(FieldSink& out, const core::UtcTimestamp& value);  ///< as messages have it
void write_value(FieldSink& out, const core::ErrorCode& value);
void write_value(FieldSink& out, const nlohmann::json& value);

template <typename T>
const FieldType& field_type();

/// How a value that is held as one text is written and read: `parse` gives an optional.
template <typename Write, typename Parse>
struct TextForm {
  Write write;
  Parse parse;
};
template <typename Write, typename Parse>
TextForm(Write, Parse) -> TextForm<Write, Parse>;
/// Specialised with a TextForm for such a type, beside the descriptions that use it.
template <typename T>
inline constexpr auto kText = nullptr;
template <typename T>
concept AsText = !std::is_null_pointer_v<decltype(kText<T>)>;

// What the templates below need.

using Describe = void (*)(Fields& a, void* value);
[[nodiscard]] bool read_struct(Reading& reading, JsonNode in, void* value, const FieldPath& at,
                               Describe describe);
void write_struct(FieldSink& out, const void* value, Describe describe);
[[nodiscard]] DescribedField list_struct(const Rule& rule, void* example, Describe describe);
/// That of a list or of a map.
[[nodiscard]] DescribedField list_container(std::string_view type, const FieldType& element,
                                            const Rule& rule);
[[nodiscard]] bool is_list(Reading& reading, JsonNode in, const FieldPath& at);
[[nodiscard]] bool is_object(Reading& reading, JsonNode in, const FieldPath& at);
[[nodiscard]] std::optional<std::string_view> read_text(Reading& reading, JsonNode in,
                                                        const FieldPath& at);
[[nodiscard]] std::optional<std::int64_t> read_integer(Reading& reading, JsonNode in,
                                                       const FieldPath& at, std::int64_t least,
                                                       std::int64_t most);
/// False: it is none of the values that have a name.
bool no_such_name(Reading& reading, const FieldPath& at);

/// The description of a struct, without its type: a member of it, or a function beside it.
template <typename T>
inline constexpr Describe kDescribe = [](Fields& a, void* value) {
  T& of = *static_cast<T*>(value);
  if constexpr (requires { of.describe(a); }) {
    of.describe(a);
  } else {
    describe(a, of);
  }
};

template <typename T>
bool read_value(Reading& reading, JsonNode in, T& value, const FieldPath& at) {
  if constexpr (AsText<T>) {
    const auto text = read_text(reading, in, at);
    if (!text) return false;
    auto parsed = kText<T>.parse(*text);
    if (!parsed) return no_such_name(reading, at);
    value = *std::move(parsed);
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    const auto text = read_text(reading, in, at);
    if (!text) return false;
    for (const auto& [candidate, name] : enum_names(Of<T>{})) {
      if (name != *text) continue;
      value = candidate;
      return true;
    }
    return no_such_name(reading, at);
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto kMost = sizeof(T) < sizeof(std::int64_t)
                               ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                               : std::numeric_limits<std::int64_t>::max();
    const auto number = read_integer(reading, in, at, std::is_unsigned_v<T> ? 0 : -kMost, kMost);
    if (number) value = static_cast<T>(*number);
    return number.has_value();
  } else {
    return read_struct(reading, in, &value, at, kDescribe<T>);
  }
}

template <typename T>
void write_value(FieldSink& out, const T& value) {
  if constexpr (AsText<T>) {
    out.text(std::invoke(kText<T>.write, value));
  } else if constexpr (std::is_enum_v<T>) {
    for (const auto& [candidate, name] : enum_names(Of<T>{})) {
      if (candidate == value) return out.text(name);
    }
    out.null();
  } else if constexpr (std::is_integral_v<T>) {
    out.integer(static_cast<std::int64_t>(value));
  } else {
    write_struct(out, &value, kDescribe<T>);
  }
}

template <typename T>
DescribedField list_value(Of<T> /*unused*/, const Rule& rule) {
  if constexpr (requires { enum_names(Of<T>{}); }) {
    DescribedField field{.type = "string", .rule = rule};
    for (const auto& [value, name] : enum_names(Of<T>{})) field.names.push_back(name);
    return field;
  } else if constexpr (std::is_arithmetic_v<T>) {
    constexpr const char* kNumber = std::is_integral_v<T> ? "integer" : "number";
    return {.type = std::is_same_v<T, bool> ? "boolean" : kNumber, .rule = rule};
  } else if constexpr (
      requires(Fields & a, T & value) { value.describe(a); } ||
      requires(Fields & a, T & value) { describe(a, value); }) {
    T example{};
    return list_struct(rule, &example, kDescribe<T>);
  } else {
    return {.type = "string", .rule = rule};
  }
}
inline DescribedField list_value(Of<std::map<std::string, std::string>> /*unused*/,
                                 const Rule& rule) {
  return {.type = "object", .rule = rule};
}

template <typename Tag>
bool read_value(Reading& reading, JsonNode in, core::StringId<Tag>& value, const FieldPath& at) {
  const auto text = read_text(reading, in, at);
  if (text) value = core::StringId<Tag>(*text);
  return text.has_value();
}
template <typename Tag>
void write_value(FieldSink& out, const core::StringId<Tag>& value) {
  out.text(value.str());
}

template <typename T>
bool read_value(Reading& reading, JsonNode in, std::optional<T>& value, const FieldPath& at) {
  value.reset();
  if (in.is(JsonType::kNull)) return true;
  const bool is_read = field_type<T>().read(reading, in, &value.emplace(), at);
  if (!is_read) value.reset();
  return is_read;
}
template <typename T>
void write_value(FieldSink& out, const std::optional<T>& value) {
  value ? field_type<T>().write(out, &*value) : out.null();
}
template <typename T>
DescribedField list_value(Of<std::optional<T>> /*unused*/, const Rule& rule) {
  DescribedField field = field_type<T>().list(rule);
  field.may_be_null = true;
  return field;
}

template <typename T>
bool read_value(Reading& reading, JsonNode in, std::vector<T>& values, const FieldPath& at) {
  if (!is_list(reading, in, at)) return false;
  values.clear();
  values.reserve(in.size());
  std::size_t index = 0;
  for (const JsonNode item : in) {
    T& element = values.emplace_back();
    if (field_type<T>().read(reading, item, &element, FieldPath(at, index++))) continue;
    if (!reading.is_loose) return false;
    values.pop_back();
  }
  return true;
}
template <typename T>
void write_value(FieldSink& out, const std::vector<T>& values) {
  out.begin(false);
  for (const T& element : values) field_type<T>().write(out, &element);
  out.end(false);
}
template <typename T>
DescribedField list_value(Of<std::vector<T>> /*unused*/, const Rule& rule) {
  return list_container("array", field_type<T>(), rule);
}

template <typename T>
bool read_value(Reading& reading, JsonNode in, std::set<T>& values, const FieldPath& at) {
  std::vector<T> list;
  if (!read_value(reading, in, list, at)) return false;
  values = {list.begin(), list.end()};
  return true;
}
template <typename T>
void write_value(FieldSink& out, const std::set<T>& values) {
  write_value(out, std::vector<T>(values.begin(), values.end()));
}
template <typename T>
DescribedField list_value(Of<std::set<T>> /*unused*/, const Rule& rule) {
  return list_container("array", field_type<T>(), rule);
}

inline const std::string& key_text(const std::string& key) { return key; }
template <typename Tag>
const std::string& key_text(const core::StringId<Tag>& key) {
  return key.str();
}

template <typename Key, typename T>
bool read_value(Reading& reading, JsonNode in, std::map<Key, T>& values, const FieldPath& at) {
  if (!is_object(reading, in, at)) return false;
  for (const JsonNode member : in) {
    const auto name = member.name();
    const auto place = values.try_emplace(Key(std::string(name))).first;
    if (field_type<T>().read(reading, member, &place->second, FieldPath(at, name))) continue;
    if (!reading.is_loose) return false;
    values.erase(place);
  }
  return true;
}
template <typename Key, typename T>
void write_value(FieldSink& out, const std::map<Key, T>& values) {
  out.begin(true);
  for (const auto& [key, element] : values) {
    out.name(key_text(key));
    field_type<T>().write(out, &element);
  }
  out.end(true);
}
template <typename Key, typename T>
DescribedField list_value(Of<std::map<Key, T>> /*unused*/, const Rule& rule) {
  return list_container("object", field_type<T>(), rule);
}

/// An optional one may hold nothing.
template <typename T>
bool is_there(const T& /*value*/) {
  return true;
}
template <typename T>
bool is_there(const std::optional<T>& value) {
  return value.has_value();
}

template <typename T>
const FieldType& field_type() {
  static constexpr FieldType kType{
      [](Reading& reading, JsonNode in, void* value, const FieldPath& at) {
        return read_value(reading, in, *static_cast<T*>(value), at);
      },
      [](FieldSink& out, const void* value) { write_value(out, *static_cast<const T*>(value)); },
      [](const Rule& rule) { return list_value(Of<T>{}, rule); },
      [](const void* value) { return is_there(*static_cast<const T*>(value)); }};
  return kType;
}

}  // namespace league::schema
