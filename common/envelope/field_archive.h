#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/auth_token.h"
#include "common/core/ids.h"
#include "common/core/result.h"
#include "common/core/timestamp.h"
#include "common/envelope/field_rules.h"
#include "common/envelope/registration_messages.h"
#include "common/schema/json_tree.h"

// The codecs describe each struct once, by `template <class Archive, class S> void
// describe(Archive&, S&, Of<Struct>)`, and run the description with a FieldWriter or a FieldReader.
// Private to the .cpp files of this folder.
namespace league::envelope {

/// Selects the description of `Struct`, for both const and non-const objects.
template <typename Struct>
struct Of {};

/// How an enumeration is written: `enum_names(Of<E>)` returns an array of pairs of value and name.
template <typename E>
using EnumName = std::pair<E, std::string_view>;

/// Writes the described fields into a JSON object.
class FieldWriter {
 public:
  static constexpr bool kWrites = true;
  static constexpr bool kLists = false;
  explicit FieldWriter(nlohmann::json& out) : out_(out) {}

  template <typename T>
  void required(const char* name, const T& value, const Rule& /*rule*/ = {}) {
    out_[name] = to_json(value);
  }
  /// Absent on the wire when it holds nothing.
  template <typename T>
  void optional(const char* name, const std::optional<T>& value, const Rule& /*rule*/ = {}) {
    if (value) out_[name] = to_json(*value);
  }
  /// Null on the wire when it holds nothing.
  template <typename T>
  void nullable(const char* name, const std::optional<T>& value, const Rule& /*rule*/ = {}) {
    out_[name] = value ? to_json(*value) : nlohmann::json();
  }
  /// Always written; when reading, absence leaves the default.
  template <typename T>
  void defaulted(const char* name, const T& value, const Rule& /*rule*/ = {}) {
    out_[name] = to_json(value);
  }
  /// Written unless it is `omitted`; when reading, absence leaves the default.
  template <typename T>
  void unless(const char* name, const T& value, const T& omitted, const Rule& /*rule*/ = {}) {
    if (!(value == omitted)) out_[name] = to_json(value);
  }
  /// `null` inside an object that has been written.
  void null_in(const char* object, const char* name) { out_[object][name] = nullptr; }

 private:
  static nlohmann::json to_json(const std::string& value) { return value; }
  static nlohmann::json to_json(std::string_view value) { return value; }
  static nlohmann::json to_json(bool value) { return value; }
  static nlohmann::json to_json(int value) { return value; }
  static nlohmann::json to_json(const RawJson& value) { return nlohmann::json::parse(value.text); }
  static nlohmann::json to_json(const core::AuthToken& value) { return value.reveal(); }
  static nlohmann::json to_json(const core::UtcTimestamp& value) { return value.to_wire(); }
  static nlohmann::json to_json(core::ErrorCode value) { return core::wire_code(value); }
  template <typename Tag>
  static nlohmann::json to_json(const core::StringId<Tag>& value) {
    return value.str();
  }
  template <typename T>
  static nlohmann::json to_json(const std::optional<T>& value) {
    return value ? to_json(*value) : nlohmann::json();
  }
  template <typename T>
  static nlohmann::json to_json(const std::vector<T>& values) {
    auto array = nlohmann::json::array();
    for (const auto& value : values) array.push_back(to_json(value));
    return array;
  }
  template <typename V>
  static nlohmann::json to_json(const std::map<std::string, V>& values) {
    auto object = nlohmann::json::object();
    for (const auto& [key, value] : values) object[key] = to_json(value);
    return object;
  }
  template <typename Tag, typename V>
  static nlohmann::json to_json(const std::map<core::StringId<Tag>, V>& values) {
    auto object = nlohmann::json::object();
    for (const auto& [key, value] : values) object[key.str()] = to_json(value);
    return object;
  }
  template <typename T>
  static nlohmann::json to_json(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      for (const auto& [candidate, name] : enum_names(Of<T>{})) {
        if (candidate == value) return name;
      }
      return nullptr;
    } else {
      auto object = nlohmann::json::object();
      FieldWriter writer(object);
      describe(writer, value, Of<T>{});
      return object;
    }
  }

  nlohmann::json& out_;
};

/// The position of a value in a document: a chain of steps on the stack that is converted to text
/// only for a fault, because a table of 64 rows has 500 positions whose text is normally not
/// needed.
class FieldPath {
 public:
  FieldPath() = default;
  FieldPath(const FieldPath& parent, std::string_view name) : parent_(&parent), name_(name) {}
  FieldPath(const FieldPath& parent, std::size_t index) : parent_(&parent), index_(index) {}

  /// The position as a JSON pointer.
  [[nodiscard]] std::string text() const {
    if (parent_ == nullptr) return "";
    return parent_->text() + "/" + (name_ ? std::string(*name_) : std::to_string(index_));
  }

 private:
  const FieldPath* parent_ = nullptr;
  std::optional<std::string_view> name_;
  std::size_t index_ = 0;
};

/// Reads the described fields from a JSON value of any shape; after the first fault it reads
/// nothing more.
class FieldReader {
 public:
  static constexpr bool kWrites = false;
  static constexpr bool kLists = false;
  /// All outlive the reader.
  FieldReader(schema::JsonNode in, const FieldPath& place, std::optional<core::Error>& fault)
      : in_(in), place_(place), fault_(fault) {
    if (!in_.is(schema::JsonType::kObject))
      fail(core::ErrorCode::kInvalidFieldType, place_, "must be an object");
  }

  template <typename T>
  void required(const char* name, T& value, const Rule& /*rule*/ = {}) {
    const schema::JsonNode found = find(name);
    if (fault_) return;
    if (!found)
      return fail(core::ErrorCode::kMissingRequiredField, FieldPath(place_, name), "is required");
    from_json(found, value, FieldPath(place_, name));
  }
  template <typename T>
  void optional(const char* name, std::optional<T>& value, const Rule& /*rule*/ = {}) {
    const schema::JsonNode found = find(name);
    if (fault_ || !found) return;
    from_json(found, value.emplace(), FieldPath(place_, name));
  }
  template <typename T>
  void nullable(const char* name, std::optional<T>& value, const Rule& /*rule*/ = {}) {
    optional(name, value);
  }
  template <typename T>
  void defaulted(const char* name, T& value, const Rule& /*rule*/ = {}) {
    const schema::JsonNode found = find(name);
    if (fault_ || !found) return;
    from_json(found, value, FieldPath(place_, name));
  }
  template <typename T>
  void unless(const char* name, T& value, const T& /*omitted*/, const Rule& /*rule*/ = {}) {
    defaulted(name, value);
  }
  void null_in(const char* /*object*/, const char* /*name*/) {}

  /// True if the field is there and not null.
  [[nodiscard]] bool has(const char* name) const { return static_cast<bool>(find(name)); }

  void fail(core::ErrorCode code, const FieldPath& place, std::string_view rule) {
    if (fault_) return;
    std::string pointer = place.text();
    fault_ = core::Error{code, pointer + " " + std::string(rule), pointer};
  }
  /// Reports a fault in the field `name`.
  void fail(core::ErrorCode code, const char* name, std::string_view rule) {
    fail(code, FieldPath(place_, name), rule);
  }

 private:
  [[nodiscard]] schema::JsonNode find(std::string_view name) const {
    const schema::JsonNode found = in_.find(name);
    return found.is(schema::JsonType::kNull) ? schema::JsonNode() : found;
  }
  void from_json(schema::JsonNode in, std::string& value, const FieldPath& at);
  void from_json(schema::JsonNode in, bool& value, const FieldPath& at);
  void from_json(schema::JsonNode in, int& value, const FieldPath& at);
  void from_json(schema::JsonNode in, RawJson& value, const FieldPath& at);
  void from_json(schema::JsonNode in, core::AuthToken& value, const FieldPath& at);
  void from_json(schema::JsonNode in, core::UtcTimestamp& value, const FieldPath& at);
  void from_json(schema::JsonNode in, core::ErrorCode& value, const FieldPath& at);
  /// Reads additional facts: a value that is not a string is read as its JSON text.
  void from_json(schema::JsonNode in, std::map<std::string, std::string>& values,
                 const FieldPath& at);
  template <typename Tag>
  void from_json(schema::JsonNode in, core::StringId<Tag>& value, const FieldPath& at) {
    std::string text;
    from_json(in, text, at);
    value = core::StringId<Tag>(std::move(text));
  }
  template <typename T>
  void from_json(schema::JsonNode in, std::optional<T>& value, const FieldPath& at) {
    if (!in.is(schema::JsonType::kNull)) from_json(in, value.emplace(), at);
  }
  template <typename T>
  void from_json(schema::JsonNode in, std::vector<T>& values, const FieldPath& at) {
    if (!in.is(schema::JsonType::kArray))
      return fail(core::ErrorCode::kInvalidFieldType, at, "must be an array");
    values.reserve(in.size());
    std::size_t index = 0;
    for (schema::JsonNode item : in) {
      if (fault_) return;
      from_json(item, values.emplace_back(), FieldPath(at, index++));
    }
  }
  template <typename Tag, typename V>
  void from_json(schema::JsonNode in, std::map<core::StringId<Tag>, V>& values,
                 const FieldPath& at) {
    if (!in.is(schema::JsonType::kObject))
      return fail(core::ErrorCode::kInvalidFieldType, at, "must be an object");
    for (schema::JsonNode member : in) {
      if (fault_) return;
      from_json(member, values[core::StringId<Tag>(std::string(member.name()))],
                FieldPath(at, member.name()));
    }
  }
  template <typename T>
  void from_json(schema::JsonNode in, T& value, const FieldPath& at) {
    if constexpr (std::is_enum_v<T>) {
      std::string text;
      from_json(in, text, at);
      if (fault_) return;
      for (const auto& [candidate, name] : enum_names(Of<T>{})) {
        if (name != text) continue;
        value = candidate;
        return;
      }
      fail(core::ErrorCode::kInvalidFieldValue, at, "has none of the allowed values");
    } else {
      FieldReader reader(in, at, fault_);
      if (!fault_) describe(reader, value, Of<T>{});
    }
  }
  schema::JsonNode in_;
  const FieldPath& place_;
  std::optional<core::Error>& fault_;
};

}  // namespace league::envelope
