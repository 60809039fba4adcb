#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/envelope/described_field.h"
#include "common/envelope/field_archive.h"

// Private to the .cpp files of this folder, as field_archive.h is.
namespace league::envelope {

/// Lists the described fields with their rules; the values that it is given do not matter.
class FieldLister {
 public:
  static constexpr bool kWrites = true;
  static constexpr bool kLists = true;
  explicit FieldLister(std::vector<DescribedField>& out) : out_(out) {}

  template <typename T>
  void required(std::string_view name, const T& /*value*/, const Rule& rule = {}) {
    add<T>(name, rule, !is_optional_, rule.may_be_null);
  }
  template <typename T>
  void optional(std::string_view name, const std::optional<T>& /*value*/, const Rule& rule = {}) {
    add<T>(name, rule, rule.is_always_there, rule.may_be_null);
  }
  template <typename T>
  void nullable(std::string_view name, const std::optional<T>& /*value*/, const Rule& rule = {}) {
    add<T>(name, rule, rule.is_always_there, true);
  }
  template <typename T>
  void defaulted(std::string_view name, const T& /*value*/, const Rule& rule = {}) {
    add<T>(name, rule, rule.is_always_there, rule.may_be_null);
  }
  template <typename T>
  void unless(std::string_view name, const T& /*value*/, const T& /*omitted*/,
              const Rule& rule = {}) {
    add<T>(name, rule, rule.is_always_there, rule.may_be_null);
  }
  void null_in(const char* /*object*/, const char* /*name*/) {}

  /// From now on, no field is required.
  void none_is_required() { is_optional_ = true; }

 private:
  template <typename T>
  struct Type {};

  template <typename T>
  void add(std::string_view name, const Rule& rule, bool is_required, bool may_be_null) {
    DescribedField field = described(Type<T>{}, rule);
    field.name = name;
    field.is_required = is_required;
    field.may_be_null = field.may_be_null || may_be_null;
    out_.push_back(std::move(field));
  }

  static DescribedField of(std::string_view type, const Rule& rule) {
    return {.type = type, .rule = rule};
  }
  static DescribedField described(Type<std::string> /*unused*/, const Rule& rule) {
    return of("string", rule);
  }
  static DescribedField described(Type<core::AuthToken> /*unused*/, const Rule& rule) {
    return of("string", rule);
  }
  static DescribedField described(Type<core::UtcTimestamp> /*unused*/, const Rule& rule) {
    return of("string", rule);
  }
  static DescribedField described(Type<core::ErrorCode> /*unused*/, const Rule& rule) {
    return of("string", rule);
  }
  template <typename Tag>
  static DescribedField described(Type<core::StringId<Tag>> /*unused*/, const Rule& rule) {
    return of("string", rule);
  }
  static DescribedField described(Type<bool> /*unused*/, const Rule& rule) {
    return of("boolean", rule);
  }
  static DescribedField described(Type<int> /*unused*/, const Rule& rule) {
    return of("integer", rule);
  }
  static DescribedField described(Type<RawJson> /*unused*/, const Rule& rule) {
    return of("object", rule);
  }
  template <typename T>
  static DescribedField described(Type<std::optional<T>> /*unused*/, const Rule& rule) {
    DescribedField field = described(Type<T>{}, rule);
    field.may_be_null = true;
    return field;
  }
  template <typename T>
  static DescribedField described(Type<std::vector<T>> /*unused*/, const Rule& rule) {
    DescribedField field = of("array", rule);
    field.element.push_back(described(Type<T>{}, rule.element != nullptr ? *rule.element : Rule{}));
    return field;
  }
  /// Additional facts, which may be of any type.
  static DescribedField described(Type<std::map<std::string, std::string>> /*unused*/,
                                  const Rule& rule) {
    return of("object", rule);
  }
  template <typename Tag, typename V>
  static DescribedField described(Type<std::map<core::StringId<Tag>, V>> /*unused*/,
                                  const Rule& rule) {
    DescribedField field = of("object", rule);
    field.element.push_back(described(Type<V>{}, rule.element != nullptr ? *rule.element : Rule{}));
    return field;
  }
  template <typename T>
  static DescribedField described(Type<T> /*unused*/, const Rule& rule) {
    if constexpr (std::is_enum_v<T>) {
      DescribedField field = of("string", rule);
      for (const auto& [value, name] : enum_names(Of<T>{})) field.names.push_back(name);
      return field;
    } else {
      DescribedField field = of("object", rule);
      FieldLister fields(field.fields);
      const T example{};
      describe(fields, example, Of<T>{});
      return field;
    }
  }

  std::vector<DescribedField>& out_;
  bool is_optional_ = false;
};

}  // namespace league::envelope
