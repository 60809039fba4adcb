#include "common/schema/schema_validator.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_visitor.hpp>

#include "common/schema/accepting_visitor.h"
#include "common/schema/json_fields.h"
#include "common/schema/violation.h"

namespace league::schema {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

/// Deeper documents are refused, because validation recurses too.
constexpr std::size_t kMaxDocumentDepth = 64;

/// A limit that a document exceeded before it was validated.
struct LengthViolation {
  std::string pointer;
  std::string property;
  bool too_deep = false;  ///< otherwise a string is too long
};

/// Keeps documents that would overflow the stack away from the validator. Immutable and
/// thread-safe.
class LengthCheck {
 public:
  /// Collects from `schema` the names of the properties that have a pattern. If a pattern belongs
  /// to no named property (in `additionalProperties`, behind `$ref`), every string is checked.
  explicit LengthCheck(const json& schema);

  [[nodiscard]] std::optional<LengthViolation> check(const json& document) const;

 private:
  void learn(const json& schema, const std::string* property);
  [[nodiscard]] bool guards(std::string_view property) const;

  std::set<std::string, std::less<>> properties_;
  bool guards_all_ = false;
  bool guards_keys_ = false;
};

LengthCheck::LengthCheck(const json& schema) { learn(schema, nullptr); }

void LengthCheck::learn(const json& schema, const std::string* property) {
  if (schema.is_array()) {
    for (const auto& element : schema) learn(element, property);
    return;
  }
  if (!schema.is_object()) return;
  for (const auto& [keyword, value] : schema.items()) {
    if (keyword == "pattern" && value.is_string()) {
      if (property != nullptr) {
        properties_.insert(*property);
      } else {
        guards_all_ = true;
      }
    } else if (keyword == "$ref") {
      guards_all_ = true;
    } else if (keyword == "properties" && value.is_object()) {
      for (const auto& [name, child] : value.items()) learn(child, &name);
    } else if (keyword == "patternProperties" || keyword == "propertyNames") {
      guards_keys_ = true;
      learn(value, nullptr);
    } else if (keyword == "additionalProperties" || keyword == "definitions" ||
               keyword == "dependencies") {
      learn(value, nullptr);
    } else if (keyword != "examples" && keyword != "enum" && keyword != "const" &&
               keyword != "default") {
      learn(value, property);
    }
  }
}

bool LengthCheck::guards(std::string_view property) const {
  return guards_all_ || properties_.find(property) != properties_.end();
}

std::optional<LengthViolation> LengthCheck::check(const json& document) const {
  struct DocumentVisitor {
    const LengthCheck& lengths;
    std::optional<LengthViolation> fault = std::nullopt;

    /// Recursion is bounded by kMaxDocumentDepth.
    bool visit(const json& value, std::string_view property, std::size_t depth) {
      if (value.is_string()) {
        if (value.get_ref<const std::string&>().size() <= kMaxPatternLength ||
            !lengths.guards(property))
          return true;
        fault = LengthViolation{"", std::string(property), false};
        return false;
      }
      if (!value.is_structured()) return true;
      if (depth == kMaxDocumentDepth) {
        fault = LengthViolation{"", std::string(property), true};
        return false;
      }
      return value.is_array() ? visit_array(value, property, depth) : visit_object(value, depth);
    }
    bool visit_array(const json& array, std::string_view property, std::size_t depth) {
      for (std::size_t i = 0; i < array.size(); ++i) {
        if (visit(array[i], property, depth + 1)) continue;
        fault->pointer = pointer_step(std::to_string(i)) + fault->pointer;
        return false;
      }
      return true;
    }
    bool visit_object(const json& object, std::size_t depth) {
      for (const auto& [key, member] : object.get_ref<const json::object_t&>()) {
        bool key_too_long = lengths.guards_keys_ && key.size() > kMaxPatternLength;
        if (key_too_long) fault = LengthViolation{"", key.substr(0, kMaxPatternLength), false};
        if (!key_too_long && visit(member, key, depth + 1)) continue;
        fault->pointer = pointer_step(key.substr(0, kMaxPatternLength)) + fault->pointer;
        return false;
      }
      return true;
    }
  };
  DocumentVisitor walk{*this};
  walk.visit(document, "", 0);
  return walk.fault;
}

/// What a schema of ours may not contain, and the patterns that it does.
struct Survey {
  std::set<std::string> patterns;
  std::string fault;
};

void survey_schema(const json& schema, Survey& out) {
  if (schema.is_array()) {
    for (const auto& element : schema) survey_schema(element, out);
  }
  if (!schema.is_object()) return;
  for (const auto& [keyword, value] : schema.items()) {
    if (keyword == "properties" || keyword == "definitions" || keyword == "patternProperties") {
      for (const auto& [name, child] : value.items()) {
        if (keyword == "patternProperties") out.patterns.insert(name);
        survey_schema(child, out);
      }
    } else if (keyword == "pattern" && value.is_string()) {
      out.patterns.insert(value.get<std::string>());
    } else if (keyword == "format") {
      out.fault = "\"format\" is not allowed: it accepts wrong dates and is slow; use a pattern";
    } else if (keyword == "$ref" &&
               (!value.is_string() || !value.get_ref<const std::string&>().starts_with("#"))) {
      out.fault = "\"$ref\" to another document is not allowed; repeat the part in place";
    } else if (keyword != "examples" && keyword != "enum" && keyword != "const" &&
               keyword != "default") {
      survey_schema(value, out);
    }
  }
}

bool says_draft_07(const json& document) {
  return text_at(document, "$schema").starts_with("http://json-schema.org/draft-07/schema");
}

void populate(valijson::Schema& schema, const json& document) {
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  NlohmannJsonAdapter adapter(document);
  parser.populateSchema(adapter, schema);
}

/// `[name]` as the validator writes a step.
std::string step_name(const std::string& step) {
  bool is_bracketed = step.size() >= 2 && step.front() == '[' && step.back() == ']';
  return is_bracketed ? step.substr(1, step.size() - 2) : step;
}

}  // namespace

/// valijson's visitors use the compiled patterns without a lock, so each call leases a set of them.
/// The sets are copies of a prototype with all patterns compiled: copies share the compiled
/// patterns, and a new thread need not compile any.
class CompiledSchema::Impl {
 public:
  explicit Impl(const json& document) : document_(document), gate_(document) {
    populate(schema_, document);
  }

  /// Throws what std::regex throws for a bad pattern.
  void warm(const std::set<std::string>& patterns) {
    for (const auto& pattern : patterns) prototype_.try_emplace(pattern, pattern);
  }

  [[nodiscard]] bool is_valid(JsonNode document) const {
    auto patterns = lease();
    const bool valid = accepts(schema_, document, *patterns);
    give_back(std::move(patterns));
    return valid;
  }

  [[nodiscard]] std::optional<Violation> gate_violation(const json& document) const {
    auto fault = gate_.check(document);
    if (!fault) return std::nullopt;
    std::string rule =
        fault->too_deep ? "is nested more than " + std::to_string(kMaxDocumentDepth) + " deep"
                        : "must have at most " + std::to_string(kMaxPatternLength) + " characters";
    return Violation{fault->pointer,  fault->too_deep ? "maxDepth" : "maxLength",
                     fault->property, rule,
                     false,           ""};
  }

  [[nodiscard]] std::vector<Violation> explain_all(const json& document) const {
    valijson::ValidationResults results;
    auto patterns = lease();
    valijson::ValidationVisitor<NlohmannJsonAdapter> visitor(NlohmannJsonAdapter(document),
                                                             {"<root>"}, true, &results, *patterns);
    visitor.validateSchema(schema_);
    give_back(std::move(patterns));
    std::vector<ValidatorError> findings;
    for (const auto& error : results) {
      ValidatorError finding{{}, error.description};
      for (std::size_t i = 1; i < error.context.size(); ++i)
        finding.path.push_back(step_name(error.context[i]));
      findings.push_back(std::move(finding));
    }
    auto violations = explain(document_, findings);
    if (violations.empty()) violations.push_back(describe_violation(document_, {}, "schema"));
    return violations;
  }

 private:
  using Lease = std::unique_ptr<PatternCache>;

  [[nodiscard]] Lease lease() const {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Lease patterns = std::move(idle_.back());
        idle_.pop_back();
        return patterns;
      }
    }
    return std::make_unique<PatternCache>(prototype_);
  }

  void give_back(Lease patterns) const {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(patterns));
  }

  json document_;
  LengthCheck gate_;
  valijson::Schema schema_;
  PatternCache prototype_;
  mutable std::mutex mutex_;
  mutable std::vector<Lease> idle_;
};

CompiledSchema::CompiledSchema(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

core::Result<CompiledSchema> CompiledSchema::compile(const json& document, std::string_view name) {
  auto fail = [&](std::string_view why) {
    return Error{ErrorCode::kInternalError, std::string(name) + ": " + std::string(why), ""};
  };
  if (!document.is_object()) return fail("a JSON Schema is an object");
  if (!says_draft_07(document)) {
    return fail(
        "\"$schema\" must say \"http://json-schema.org/draft-07/schema#\": later drafts have "
        "keywords that would be silently ignored");
  }
  Survey survey;
  survey_schema(document, survey);
  if (!survey.fault.empty()) return fail(survey.fault);
  try {
    auto impl = std::make_shared<Impl>(document);
    for (const auto& pattern : survey.patterns) {
      try {
        std::regex compiled(pattern);
      } catch (const std::regex_error& error) {
        return fail("the pattern " + pattern + " is not a regular expression: " + error.what());
      }
    }
    impl->warm(survey.patterns);
    return CompiledSchema(std::move(impl));
  } catch (const std::exception& error) {
    return fail(std::string("not a valid JSON Schema: ") + error.what());
  }
}

bool CompiledSchema::is_valid(const json& document) const {
  if (impl_->gate_violation(document)) return false;
  const JsonTree tree(document);
  try {
    return impl_->is_valid(tree.root());
  } catch (const std::exception&) {
    return false;
  }
}

std::optional<Violation> CompiledSchema::validate(const json& document) const {
  auto all = violations(document);
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

std::vector<Violation> CompiledSchema::violations(const json& document) const {
  if (auto violation = impl_->gate_violation(document)) return {std::move(*violation)};
  if (is_valid(document)) return {};
  try {
    // The validator does not count 1.0 as an integer, although draft-07 does.
    json plain = document;
    make_integers(plain);
    return impl_->explain_all(plain);
  } catch (const std::exception& error) {
    // std::regex may fail on a string; this is reported as a fault of the document, because only
    // its sender can change it.
    return {Violation{"", "schema", "", std::string("cannot be validated: ") + error.what(), false,
                      ""}};
  }
}

}  // namespace league::schema
