#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/schema/field_types.h"

// Data is described once: `void describe(schema::Fields& a, Struct& s)` in the namespace of the
// struct lists its fields, or a member of that name does. From that list `read`, `write` and `list`
// follow. The work is done by one reader, one writer and one lister that know a type by its
// FieldType; nothing of them is compiled for a struct but its description.
namespace league::schema {

/// What a description is run with: it reads into a struct, writes it, or lists its fields.
class Fields {
 public:
  /// All outlive this object.
  Fields(Reading& reading, JsonNode in, const FieldPath& place)
      : reading_(&reading), in_(in), place_(&place) {}
  explicit Fields(FieldSink& out) : sink_(&out) {}
  explicit Fields(std::vector<DescribedField>& listed) : listed_(&listed) {}

  [[nodiscard]] bool reads() const { return reading_ != nullptr; }
  [[nodiscard]] bool writes() const { return sink_ != nullptr; }
  /// The values of the struct do not matter then.
  [[nodiscard]] bool lists() const { return listed_ != nullptr; }

  template <typename T>
  void required(std::string_view name, const T& value, const Rule& rule = {}) {
    field({name, !is_optional_, false, false}, value, rule);
  }
  /// Absent when it holds nothing.
  template <typename T>
  void optional(std::string_view name, const std::optional<T>& value, const Rule& rule = {}) {
    field({name, false, true, false}, value, rule);
  }
  /// Null when it holds nothing.
  template <typename T>
  void nullable(std::string_view name, const std::optional<T>& value, const Rule& rule = {}) {
    field({name, false, false, true}, value, rule);
  }
  /// Always written; when reading, absence leaves the default.
  template <typename T>
  void defaulted(std::string_view name, const T& value, const Rule& rule = {}) {
    field({name, false, false, false}, value, rule);
  }
  /// Several of them without rules, each after its name.
  void required(std::string_view name, const auto& value, std::string_view next,
                const auto&... more) {
    required(name, value);
    required(next, more...);
  }
  void optional(std::string_view name, const auto& value, std::string_view next,
                const auto&... more) {
    optional(name, value);
    optional(next, more...);
  }
  void defaulted(std::string_view name, const auto& value, std::string_view next,
                 const auto&... more) {
    defaulted(name, value);
    defaulted(next, more...);
  }
  /// Written unless it is `omitted`; when reading, absence leaves the default.
  template <typename T>
  void unless(std::string_view name, const T& value, const std::type_identity_t<T>& omitted,
              const Rule& rule = {}) {
    if (!writes() || !(value == omitted)) defaulted(name, value, rule);
  }
  /// Written unless it is empty.
  template <typename T>
  void filled(std::string_view name, const T& value, const Rule& rule = {}) {
    if (!writes() || !value.empty()) defaulted(name, value, rule);
  }
  /// Written if true.
  void flag(std::string_view name, const bool& value, const Rule& rule = {}) {
    unless(name, value, false, rule);
  }
  /// An object whose fields `describe_inner(Fields&)` lists; when reading, it may be absent.
  template <typename Describe>
  void object(std::string_view name, const Describe& describe_inner, const Rule& rule = {});

  /// The fields of `value`, as if they were listed here.
  template <typename T>
  void fields_of(const T& value);
  /// A required number from 0 to 1,000,000,000, which fits into every type of numbers.
  void count(std::string_view name, int& value);
  /// The version of the description; another one in what is read is a fault.
  void version(std::string_view name, int version);

  /// True if the field is there and not null; only when reading.
  [[nodiscard]] bool has(std::string_view name) const;
  /// Reports a fault in the field `name`; only when reading.
  void fail(core::ErrorCode code, std::string_view name, std::string_view text) {
    reading_->fail(code, FieldPath(*place_, name), text);
  }
  /// From now on, no field is listed as required.
  void none_is_required() { is_optional_ = true; }

 private:
  struct Need {
    std::string_view name;
    bool is_required;
    bool may_be_absent;  ///< in what is written
    bool may_be_null;
  };
  template <typename T>
  void field(const Need& need, const T& value, const Rule& rule);
  void run(const Need& need, void* value, const FieldType& type, const Rule& rule);

  Reading* reading_ = nullptr;
  JsonNode in_;
  const FieldPath* place_ = nullptr;
  FieldSink* sink_ = nullptr;
  std::vector<DescribedField>* listed_ = nullptr;
  bool is_optional_ = false;
};

template <typename T>
void Fields::fields_of(const T& value) {
  kDescribe<T>(*this, const_cast<T*>(&value));  // as in field()
}

template <typename T>
void Fields::field(const Need& need, const T& value, const Rule& rule) {
  // It is written to only when reading, and then descriptions are given objects that may change.
  run(need, const_cast<T*>(&value), field_type<T>(), rule);
}

template <typename Inner>
void Fields::object(std::string_view name, const Inner& describe_inner, const Rule& rule) {
  if (sink_ != nullptr) {
    sink_->name(name);
    sink_->begin(true);
    Fields inner(*sink_);
    describe_inner(inner);
    sink_->end(true);
  } else if (listed_ != nullptr) {
    DescribedField field{.type = "object", .rule = rule};
    field.name = name;
    Fields inner(field.fields);
    describe_inner(inner);
    listed_->push_back(std::move(field));
  } else if (const JsonNode found = reading_->fault ? JsonNode() : in_.find(name)) {
    const FieldPath at(*place_, name);
    if (found.is(JsonType::kNull) || !is_object(*reading_, found, at)) return;
    Fields inner(*reading_, found, at);
    describe_inner(inner);
  }
}

// --- what the rest of the program uses; thread-safe ---

/// Reads what is described; the first fault names its field by a JSON pointer. `value` keeps what
/// was read before a fault.
[[nodiscard]] core::Result<void> read_into(JsonNode in, const FieldType& type, void* value);
/// Whatever fits: what is missing or has another type stays as it is. For answers and files of
/// others, and for arguments that a schema has checked.
void read_loosely_into(JsonNode in, const FieldType& type, void* value);
[[nodiscard]] nlohmann::json to_json(const FieldType& type, const void* value);
/// In the order of the description.
[[nodiscard]] std::string to_text(const FieldType& type, const void* value);

template <typename T>
[[nodiscard]] core::Result<void> read_into(const nlohmann::json& in, T& value) {
  return read_into(JsonTree(in).root(), field_type<T>(), &value);
}
template <typename T>
[[nodiscard]] core::Result<T> read(JsonNode in) {
  T value{};
  if (auto done = read_into(in, field_type<T>(), &value); !done) return std::move(done).error();
  return value;
}
template <typename T>
[[nodiscard]] core::Result<T> read(const nlohmann::json& in) {
  return read<T>(JsonTree(in).root());
}
template <typename T>
[[nodiscard]] T read_loosely(JsonNode in) {
  T value{};
  read_loosely_into(in, field_type<T>(), &value);
  return value;
}
template <typename T>
[[nodiscard]] T read_loosely(const nlohmann::json& in) {
  return read_loosely<T>(JsonTree(in).root());
}
template <typename T>
[[nodiscard]] nlohmann::json to_json(const T& value) {
  return to_json(field_type<T>(), &value);
}
template <typename T>
[[nodiscard]] std::string to_text(const T& value) {
  return to_text(field_type<T>(), &value);
}

/// One object that has no struct of its own: `fields` lists what it holds.
[[nodiscard]] core::Result<void> read_object(JsonNode in,
                                             const std::function<void(Fields&)>& fields);
[[nodiscard]] nlohmann::json object_to_json(const std::function<void(Fields&)>& fields);
[[nodiscard]] std::string object_to_text(const std::function<void(Fields&)>& fields);

}  // namespace league::schema
