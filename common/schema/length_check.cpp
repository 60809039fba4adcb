#include "common/schema/length_check.h"

#include <nlohmann/json.hpp>

#include "common/schema/violation.h"

namespace league::schema {

using nlohmann::json;

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

}  // namespace league::schema
