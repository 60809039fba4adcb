#pragma once

#include <limits>
#include <string_view>
#include <vector>

namespace league::schema {

/// What a field may hold and what it means: the part of its description that its C++ type does not
/// say. Limits of texts are in characters. A literal; it refers to texts with static storage.
struct Rule {
  static constexpr int kNoLimit = -1;

  std::string_view description = {};
  std::string_view pattern = {};  ///< a regular expression for the whole text; empty: any
  /// Accepts no text that the pattern refuses, and is quicker; null: none is known.
  bool (*check)(std::string_view text) = nullptr;
  /// A right value: a text as it is, everything else as JSON; empty: none.
  std::string_view example = {};
  int min_length = kNoLimit;
  int max_length = kNoLimit;
  int minimum = std::numeric_limits<int>::min();
  int maximum = std::numeric_limits<int>::max();
  int min_size = kNoLimit;  ///< of elements
  int max_size = kNoLimit;  ///< of elements or members
  const Rule* element = nullptr;  ///< of a list's elements or a map's values
  bool is_always_there = false;  ///< although a reader of ours does without it
  bool may_be_null = false;

  [[nodiscard]] constexpr Rule such_as(std::string_view value) const {
    Rule rule = *this;
    rule.example = value;
    return rule;
  }
  [[nodiscard]] constexpr Rule matching(std::string_view regex,
                                        bool (*quicker)(std::string_view) = nullptr) const {
    Rule rule = *this;
    rule.pattern = regex;
    rule.check = quicker;
    return rule;
  }
  [[nodiscard]] constexpr Rule each(const Rule& of_element) const {
    Rule rule = *this;
    rule.element = &of_element;
    return rule;
  }
  [[nodiscard]] constexpr Rule at_least(int elements) const {
    Rule rule = *this;
    rule.min_size = elements;
    return rule;
  }
  [[nodiscard]] constexpr Rule at_most(int elements) const {
    Rule rule = *this;
    rule.max_size = elements;
    return rule;
  }
  [[nodiscard]] constexpr Rule always() const {
    Rule rule = *this;
    rule.is_always_there = true;
    return rule;
  }
  [[nodiscard]] constexpr Rule or_null() const {
    Rule rule = *this;
    rule.may_be_null = true;
    return rule;
  }
};

/// A field as the description of its struct has it. A value.
struct DescribedField {
  std::string_view name = {};
  std::string_view type = {};  ///< as JSON Schema has it: `string`, `integer`, `object`, …
  Rule rule = {};
  bool is_required = false;
  bool may_be_null = false;
  std::vector<std::string_view> names = {};  ///< the allowed values of an enumeration
  std::vector<DescribedField> fields = {};  ///< of an object whose fields have names
  std::vector<DescribedField> element = {};  ///< one, of a list or a map
};

}  // namespace league::schema
