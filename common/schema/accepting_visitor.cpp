#include "common/schema/accepting_visitor.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/constraints/constraint_visitor.hpp>
#include <valijson/subschema.hpp>
#include <valijson/validation_visitor.hpp>

#include "common/core/text.h"
#include "common/schema/json_fields.h"

namespace league::schema {
namespace {

using valijson::adapters::NlohmannJsonAdapter;

/// A visitor of valijson that only decides "valid or not", and walks the parser's own tree. The
/// stock visitor needs a document of nlohmann's and records its position in new strings for each
/// property and item, even if the position is not needed. It decides about the keywords that are
/// rare in schemas of messages.
class AcceptingVisitor final : public valijson::constraints::ConstraintVisitor {
 public:
  AcceptingVisitor(JsonNode target, PatternCache& patterns)
      : target_(target), patterns_(patterns) {}

  [[nodiscard]] bool accepts(const valijson::Subschema& schema) {
    if (schema.getAlwaysInvalid()) return false;
    valijson::Subschema::ApplyFunction apply = [this](const valijson::constraints::Constraint& c) {
      return c.accept(*this);
    };
    return schema.applyStrict(apply);
  }

 protected:
  bool visit(const TypeConstraint& constraint) override {
    bool found = false;
    constraint.applyToNamedTypes([&](TypeConstraint::JsonType type) {
      found = found || has_type(type);
      return !found;
    });
    if (found) return true;
    constraint.applyToSchemaTypes([&](unsigned /*index*/, const valijson::Subschema* schema) {
      found = found || child_accepts(target_, *schema);
      return !found;
    });
    return found;
  }

  bool visit(const PropertiesConstraint& constraint) override {
    if (!target_.is(JsonType::kObject)) return true;
    if (has_patterns(constraint)) return stock(constraint);
    bool accepted = true;
    std::size_t named = 0;
    constraint.applyToProperties([&](const auto& name, const valijson::Subschema* schema) {
      const JsonNode member = target_.find({name.data(), name.size()});
      if (!member) return true;
      ++named;
      accepted = child_accepts(member, *schema);
      return accepted;
    });
    if (!accepted || named == target_.size()) return accepted;
    return accepts_unnamed(constraint);
  }

  bool visit(const RequiredConstraint& constraint) override {
    if (!target_.is(JsonType::kObject)) return true;
    bool complete = true;
    constraint.applyToRequiredProperties([&](const auto& name) {
      complete = static_cast<bool>(target_.find({name.data(), name.size()}));
      return complete;
    });
    return complete;
  }

  bool visit(const SingularItemsConstraint& constraint) override {
    if (!target_.is(JsonType::kArray) || constraint.getItemsSubschema() == nullptr) return true;
    for (JsonNode item : target_) {
      if (!child_accepts(item, *constraint.getItemsSubschema())) return false;
    }
    return true;
  }

  bool visit(const ConstConstraint& constraint) override {
    const nlohmann::json copy = plain_copy();
    return constraint.getValue()->equalTo(NlohmannJsonAdapter(copy), true);
  }
  bool visit(const EnumConstraint& constraint) override {
    const nlohmann::json copy = plain_copy();
    bool found = false;
    constraint.applyToValues([&](const auto& value) {
      found = value.equalTo(NlohmannJsonAdapter(copy), true);
      return !found;
    });
    return found;
  }

  bool visit(const MaximumConstraint& constraint) override {
    if (!target_.is_number()) return true;
    const double most = constraint.getMaximum();
    return constraint.getExclusiveMaximum() ? target_.number() < most : target_.number() <= most;
  }
  bool visit(const MinimumConstraint& constraint) override {
    if (!target_.is_number()) return true;
    const double least = constraint.getMinimum();
    return constraint.getExclusiveMinimum() ? target_.number() > least : target_.number() >= least;
  }
  bool visit(const MaxLengthConstraint& constraint) override {
    return !target_.is(JsonType::kString) || target_.text().size() <= constraint.getMaxLength() ||
           characters() <= constraint.getMaxLength();
  }
  bool visit(const MinLengthConstraint& constraint) override {
    return !target_.is(JsonType::kString) || characters() >= constraint.getMinLength();
  }
  bool visit(const MaxItemsConstraint& constraint) override {
    return !target_.is(JsonType::kArray) || target_.size() <= constraint.getMaxItems();
  }
  bool visit(const MinItemsConstraint& constraint) override {
    return !target_.is(JsonType::kArray) || target_.size() >= constraint.getMinItems();
  }
  bool visit(const MaxPropertiesConstraint& constraint) override {
    return !target_.is(JsonType::kObject) || target_.size() <= constraint.getMaxProperties();
  }
  bool visit(const PatternConstraint& constraint) override {
    return !target_.is(JsonType::kString) ||
           (target_.text().size() <= kMaxPatternLength && stock(constraint));
  }

  bool visit(const AllOfConstraint& constraint) override { return stock(constraint); }
  bool visit(const AnyOfConstraint& constraint) override { return stock(constraint); }
  bool visit(const ConditionalConstraint& constraint) override { return stock(constraint); }
  bool visit(const ContainsConstraint& constraint) override { return stock(constraint); }
  bool visit(const DependenciesConstraint& constraint) override { return stock(constraint); }
  bool visit(const FormatConstraint& constraint) override { return stock(constraint); }
  bool visit(const LinearItemsConstraint& constraint) override { return stock(constraint); }
  bool visit(const MinPropertiesConstraint& constraint) override { return stock(constraint); }
  bool visit(const MultipleOfDoubleConstraint& constraint) override { return stock(constraint); }
  bool visit(const MultipleOfIntConstraint& constraint) override { return stock(constraint); }
  bool visit(const NotConstraint& constraint) override { return stock(constraint); }
  bool visit(const OneOfConstraint& constraint) override { return stock(constraint); }
  bool visit(const PolyConstraint& constraint) override { return stock(constraint); }
  bool visit(const PropertyNamesConstraint& constraint) override { return stock(constraint); }
  bool visit(const UniqueItemsConstraint& constraint) override { return stock(constraint); }

 private:
  /// The target as valijson understands it: to it, 1.0 is no integer.
  [[nodiscard]] nlohmann::json plain_copy() const {
    nlohmann::json copy = target_.to_json();
    make_integers(copy);
    return copy;
  }

  template <typename Constraint>
  [[nodiscard]] bool stock(const Constraint& constraint) const {
    const nlohmann::json copy = plain_copy();
    valijson::ValidationVisitor<NlohmannJsonAdapter> visitor(NlohmannJsonAdapter(copy), {}, true,
                                                             nullptr, patterns_);
    return constraint.accept(visitor);
  }

  [[nodiscard]] bool has_type(TypeConstraint::JsonType type) const {
    switch (type) {
      case TypeConstraint::kAny:
        return true;
      case TypeConstraint::kArray:
        return target_.is(JsonType::kArray);
      case TypeConstraint::kBoolean:
        return target_.is(JsonType::kBoolean);
      case TypeConstraint::kInteger:
        return target_.is_whole();
      case TypeConstraint::kNull:
        return target_.is(JsonType::kNull);
      case TypeConstraint::kNumber:
        return target_.is_number();
      case TypeConstraint::kObject:
        return target_.is(JsonType::kObject);
      case TypeConstraint::kString:
        return target_.is(JsonType::kString);
    }
    return false;
  }

  [[nodiscard]] static bool has_patterns(const PropertiesConstraint& constraint) {
    bool found = false;
    constraint.applyToPatternProperties([&found](const auto&, const auto*) {
      found = true;
      return false;
    });
    return found;
  }

  /// Checks the members that `properties` does not name.
  [[nodiscard]] bool accepts_unnamed(const PropertiesConstraint& constraint) {
    const auto* schema = constraint.getAdditionalPropertiesSubschema();
    for (JsonNode member : target_) {
      bool is_named = false;
      constraint.applyToProperties([&](const auto& name, const auto* /*schema*/) {
        is_named = member.name() == std::string_view(name.data(), name.size());
        return !is_named;
      });
      if (!is_named && (schema == nullptr || !child_accepts(member, *schema))) return false;
    }
    return true;
  }

  [[nodiscard]] bool child_accepts(JsonNode child, const valijson::Subschema& schema) const {
    return AcceptingVisitor(child, patterns_).accepts(schema);
  }

  /// The number of code points; unlike the stock visitor, counts beyond a zero character.
  [[nodiscard]] std::size_t characters() const { return core::count_characters(target_.text()); }

  JsonNode target_;
  PatternCache& patterns_;
};

}  // namespace

bool accepts(const valijson::Subschema& schema, JsonNode document, PatternCache& patterns) {
  return AcceptingVisitor(document, patterns).accepts(schema);
}

}  // namespace league::schema
