#include "common/schema/violation.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"

namespace league::schema {
namespace {

using nlohmann::json;

struct Phrase {
  std::string_view begins;
  std::string_view keyword;  ///< empty: a consequence of a fault that is reported elsewhere
};

/// The validator identifies rules only by sentences; the tests provoke each of them, so that a
/// version with other sentences is noticed. Sorted by usefulness: a missing field explains more
/// than the other rules that it breaks.
constexpr auto kPhrases = std::to_array<Phrase>({
    {"Missing required property '", "required"},
    {"Value type not permitted by 'type'", "type"},
    {"String should be no more than", "maxLength"},
    {"String should be no fewer than", "minLength"},
    {"Failed to match expected value set by 'const'", "const"},
    {"Failed to match against any enum", "enum"},
    {"Failed to match regex", "pattern"},
    {"Expected number less than or equal", "maximum"},
    {"Expected number less than", "exclusiveMaximum"},
    {"Expected number greater than or equal", "minimum"},
    {"Expected number greater than", "exclusiveMinimum"},
    {"Value should be a multiple", "multipleOf"},
    {"Value could not be converted", "multipleOf"},
    {"Array should contain no more", "maxItems"},
    {"Array should contain no fewer", "minItems"},
    {"Elements at indexes", "uniqueItems"},
    {"Object should have no more", "maxProperties"},
    {"Object should have no fewer", "minProperties"},
    {"Object contains a property", "additionalProperties"},
    {"Array contains more items", "additionalItems"},
    {"Cannot validate item #", "additionalItems"},
    {"Failed to any values against subschema in 'contains'", "contains"},
    {"Target should not validate against schema specified in 'not'", "not"},
    {"Missing dependency", "dependencies"},
    {"Failed to validate against any schemas allowed by anyOf", "anyOf"},
    {"Failed to validate against any child schemas allowed by oneOf", "oneOf"},
    {"Failed to validate against exactly one child schema", "oneOf"},
    {"Failed to validate against a conditional", "if"},
    {"Failed to validate", ""},
});

const Phrase* phrase_of(std::string_view description) {
  const auto* found = std::ranges::find_if(
      kPhrases, [&](const Phrase& p) { return description.starts_with(p.begins); });
  return found == kPhrases.end() ? nullptr : found;
}

/// The subschema that applies to `path`, as far as `properties`, `items` and `additionalProperties`
/// can be followed.
const json* schema_at(const json& schema, const std::vector<std::string>& path) {
  const json* at = &schema;
  for (const auto& part : path) {
    const json& properties = field_at(*at, "properties");
    if (properties.contains(part)) {
      at = &properties[part];
    } else if (const json& items = field_at(*at, "items"); items.is_object()) {
      at = &items;
    } else {
      at = &field_at(*at, "additionalProperties");
    }
    if (!at->is_object()) return nullptr;
  }
  return at;
}

std::string list(const json& values) {
  if (!values.is_array()) return values.dump();
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + value.dump();
  return text;
}

std::string example_of(const json* schema) {
  if (schema == nullptr) return "";
  if (auto it = schema->find("examples"); it != schema->end() && it->is_array() && !it->empty())
    return it->front().dump();
  if (auto it = schema->find("const"); it != schema->end()) return it->dump();
  if (auto it = schema->find("enum"); it != schema->end() && it->is_array() && !it->empty())
    return it->front().dump();
  return "";
}

std::string rule_text(std::string_view keyword, const json* schema) {
  const json value = schema != nullptr ? field_at(*schema, keyword) : json();
  if (keyword == "required") return "is required and must not be null";
  if (value.is_null()) return "breaks the rule " + std::string(keyword);
  if (keyword == "type") return "must be of type " + list(value);
  if (keyword == "enum") return "must be one of " + list(value);
  if (keyword == "const") return "must be " + value.dump();
  if (keyword == "pattern") return "must match " + value.get<std::string>();
  if (keyword == "maxLength") return "must have at most " + value.dump() + " characters";
  if (keyword == "minLength") return "must have at least " + value.dump() + " characters";
  if (keyword == "maximum") return "must be at most " + value.dump();
  if (keyword == "minimum") return "must be at least " + value.dump();
  if (keyword == "maxItems") return "must have at most " + value.dump() + " elements";
  if (keyword == "minItems") return "must have at least " + value.dump() + " elements";
  return "breaks the rule " + std::string(keyword);
}

bool is_index(const std::string& part) {
  return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether the object around the last step of `path` requires it.
bool is_required(const json& schema, std::vector<std::string> path) {
  if (path.empty()) return false;
  std::string name = std::move(path.back());
  path.pop_back();
  const json* parent = schema_at(schema, path);
  if (parent == nullptr) return false;
  const json& names = field_at(*parent, "required");
  return names.is_array() && std::ranges::find(names, json(name)) != names.end();
}

}  // namespace

std::string pointer_step(std::string_view key) {
  std::string text(1, '/');
  for (char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

Violation describe_violation(const json& schema, const std::vector<std::string>& path,
                             std::string_view keyword) {
  Violation violation;
  for (const auto& part : path) {
    violation.pointer += pointer_step(part);
    if (!is_index(part)) violation.property = part;
  }
  const json* governing = schema_at(schema, path);
  violation.is_required = is_required(schema, path);
  violation.keyword = keyword;
  violation.text = rule_text(keyword, governing);
  violation.example = example_of(governing);
  return violation;
}

std::vector<Violation> explain(const json& schema, const std::vector<ValidatorError>& findings) {
  struct Ranked {
    std::ptrdiff_t rank;
    Violation violation;
  };
  std::vector<Ranked> ranked;
  for (const auto& finding : findings) {
    const Phrase* phrase = phrase_of(finding.description);
    if (phrase != nullptr && phrase->keyword.empty()) continue;
    std::vector<std::string> path = finding.path;
    std::string_view keyword = phrase != nullptr ? phrase->keyword : "schema";
    if (keyword == "required") {
      std::string_view name = std::string_view(finding.description).substr(phrase->begins.size());
      path.emplace_back(name.substr(0, name.rfind('\'')));
    }
    ranked.push_back({phrase != nullptr ? phrase - kPhrases.data() : std::ssize(kPhrases),
                      describe_violation(schema, path, keyword)});
  }
  std::ranges::stable_sort(ranked, {}, &Ranked::rank);
  std::vector<Violation> violations;
  for (auto& entry : ranked) violations.push_back(std::move(entry.violation));
  return violations;
}

}  // namespace league::schema
