#include "common/schema/schema_validator.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_visitor.hpp>

#include "common/schema/accepting_visitor.h"
#include "common/schema/length_check.h"
#include "common/schema/violation.h"

namespace league::schema {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

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
  auto it = document.find("$schema");
  if (it == document.end() || !it->is_string()) return false;
  const auto& uri = it->get_ref<const std::string&>();
  return uri.starts_with("http://json-schema.org/draft-07/schema");
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

  [[nodiscard]] bool is_valid(const json& document) const {
    auto patterns = lease();
    bool valid = accepts(schema_, document, *patterns);
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
        "keywords that would be "
        "ignored in silence");
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
        return fail("the pattern " + pattern + " is no regular expression: " + error.what());
      }
    }
    impl->warm(survey.patterns);
    return CompiledSchema(std::move(impl));
  } catch (const std::exception& error) {
    return fail(std::string("no valid JSON Schema: ") + error.what());
  }
}

bool CompiledSchema::is_valid(const json& document) const {
  if (impl_->gate_violation(document)) return false;
  try {
    return impl_->is_valid(document);
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
  try {
    if (impl_->is_valid(document)) return {};
    return impl_->explain_all(document);
  } catch (const std::exception& error) {
    // std::regex may fail on a string; this is reported as a fault of the document, because only
    // its sender can change it.
    return {Violation{"", "schema", "", std::string("cannot be validated: ") + error.what(), false,
                      ""}};
  }
}

}  // namespace league::schema
