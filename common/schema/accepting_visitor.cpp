#include "common/schema/accepting_visitor.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/subschema.hpp>
#include <valijson/validation_visitor.hpp>

#include "common/core/text.h"

namespace league::schema {
namespace {

/// A visitor of valijson that only decides "valid or not". The stock visitor records its position
/// in new strings for each property and item, even if the position is not needed; on a table of 64
/// rows this takes most of its time. The stock visitor handles everything that is not overridden
/// here.
class AcceptingVisitor final
    : public valijson::ValidationVisitor<valijson::adapters::NlohmannJsonAdapter> {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  using Stock = valijson::ValidationVisitor<Adapter>;
  using Json = nlohmann::json;

 public:
  AcceptingVisitor(const Json& target, PatternCache& patterns)
      : Stock(Adapter(target), {}, true, nullptr, patterns), target_(target), patterns_(patterns) {}

  [[nodiscard]] bool accepts(const valijson::Subschema& schema) {
    if (schema.getAlwaysInvalid()) return false;
    valijson::Subschema::ApplyFunction apply = [this](const valijson::constraints::Constraint& c) {
      return c.accept(*this);
    };
    return schema.applyStrict(apply);
  }

  using Stock::visit;

  /// Walks the properties of schema and document side by side; both are sorted by name.
  bool visit(const valijson::constraints::PropertiesConstraint& constraint) override {
    if (!target_.is_object()) return true;
    if (has_patterns(constraint)) return Stock::visit(constraint);
    const auto& members = target_.get_ref<const Json::object_t&>();
    auto member = members.begin();
    bool accepted = true;
    constraint.applyToProperties([&](const auto& name, const valijson::Subschema* schema) {
      int order = -1;
      for (; accepted && member != members.end(); ++member) {
        order = std::string_view(member->first).compare({name.data(), name.size()});
        if (order >= 0) break;
        accepted = accepts_unnamed(constraint, member->second);
      }
      if (accepted && order == 0) accepted = child_accepts((member++)->second, *schema);
      return accepted;
    });
    for (; accepted && member != members.end(); ++member)
      accepted = accepts_unnamed(constraint, member->second);
    return accepted;
  }

  /// Walks both sorted lists side by side, too.
  bool visit(const valijson::constraints::RequiredConstraint& constraint) override {
    if (!target_.is_object()) return true;
    const auto& members = target_.get_ref<const Json::object_t&>();
    auto member = members.begin();
    bool complete = true;
    constraint.applyToRequiredProperties([&](const auto& name) {
      int order = -1;
      for (; order < 0 && member != members.end(); ++member)
        order = std::string_view(member->first).compare({name.data(), name.size()});
      complete = order == 0;
      return complete;
    });
    return complete;
  }

  bool visit(const valijson::constraints::SingularItemsConstraint& constraint) override {
    if (!target_.is_array() || constraint.getItemsSubschema() == nullptr) return true;
    for (const Json& item : target_.get_ref<const Json::array_t&>()) {
      if (!child_accepts(item, *constraint.getItemsSubschema())) return false;
    }
    return true;
  }

  bool visit(const valijson::constraints::EnumConstraint& constraint) override {
    Adapter adapter(target_);
    bool found = false;
    constraint.applyToValues([&](const auto& value) {
      found = value.equalTo(adapter, true);
      return !found;
    });
    return found;
  }

  bool visit(const valijson::constraints::MaxLengthConstraint& constraint) override {
    return !target_.is_string() || text().size() <= constraint.getMaxLength() ||
           characters() <= constraint.getMaxLength();
  }

  bool visit(const valijson::constraints::MinLengthConstraint& constraint) override {
    return !target_.is_string() || characters() >= constraint.getMinLength();
  }

 private:
  [[nodiscard]] static bool has_patterns(
      const valijson::constraints::PropertiesConstraint& constraint) {
    bool found = false;
    constraint.applyToPatternProperties([&found](const auto&, const auto*) {
      found = true;
      return false;
    });
    return found;
  }

  [[nodiscard]] bool child_accepts(const Json& child, const valijson::Subschema& schema) {
    return AcceptingVisitor(child, patterns_).accepts(schema);
  }

  /// Checks a member that `properties` does not name.
  [[nodiscard]] bool accepts_unnamed(const valijson::constraints::PropertiesConstraint& constraint,
                                     const Json& value) {
    const auto* schema = constraint.getAdditionalPropertiesSubschema();
    return schema != nullptr && child_accepts(value, *schema);
  }

  [[nodiscard]] const std::string& text() const { return target_.get_ref<const std::string&>(); }

  /// The number of code points; unlike the stock visitor, counts beyond a zero character.
  [[nodiscard]] std::size_t characters() const { return core::count_characters(text()); }

  const Json& target_;
  PatternCache& patterns_;
};

}  // namespace

bool accepts(const valijson::Subschema& schema, const nlohmann::json& document,
             PatternCache& patterns) {
  return AcceptingVisitor(document, patterns).accepts(schema);
}

}  // namespace league::schema
