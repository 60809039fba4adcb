#include "common/envelope/schema_text.h"

#include <nlohmann/json.hpp>

#include "common/envelope/described_field.h"

namespace league::envelope {
namespace {

using Json = nlohmann::ordered_json;  // people read it: the order of the description stays

constexpr int kIndent = 2;

Json object_of(const std::vector<DescribedField>& fields);

void add_limits(Json& out, const Rule& rule) {
  const auto limit = [&out](const char* name, int value, int none) {
    if (value != none) out[name] = value;
  };
  if (!rule.pattern.empty()) out["pattern"] = rule.pattern;
  limit("minLength", rule.min_length, Rule::kNoLimit);
  limit("maxLength", rule.max_length, Rule::kNoLimit);
  limit("minimum", rule.minimum, std::numeric_limits<int>::min());
  limit("maximum", rule.maximum, std::numeric_limits<int>::max());
}

Json schema_of(const DescribedField& field) {
  Json out = Json::object();
  out["type"] = field.type;
  if (field.may_be_null) out["type"] = Json::array({field.type, "null"});
  if (!field.rule.description.empty()) out["description"] = field.rule.description;
  add_limits(out, field.rule);
  if (!field.names.empty()) out["enum"] = field.names;
  const bool is_list = field.type == "array";
  if (field.rule.min_size != Rule::kNoLimit) out["minItems"] = field.rule.min_size;
  if (field.rule.max_size != Rule::kNoLimit)
    out[is_list ? "maxItems" : "maxProperties"] = field.rule.max_size;
  if (!field.element.empty())
    out[is_list ? "items" : "additionalProperties"] = schema_of(field.element.front());
  if (!field.fields.empty()) out.update(object_of(field.fields));
  if (field.rule.example.empty()) return out;
  out["examples"] = Json::array(
      {field.type == "string" ? Json(field.rule.example) : Json::parse(field.rule.example)});
  return out;
}

/// `required`, if anything is, and `properties`.
Json object_of(const std::vector<DescribedField>& fields) {
  Json required = Json::array();
  Json properties = Json::object();
  for (const auto& field : fields) {
    if (field.is_required) required.push_back(field.name);
    properties[std::string(field.name)] = schema_of(field);
  }
  Json out = Json::object();
  if (!required.empty()) out["required"] = std::move(required);
  out["properties"] = std::move(properties);
  return out;
}

std::string print(std::string_view title, const std::string& description, const Json& fields) {
  Json out = {{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", title},
              {"description", description},
              {"type", "object"}};
  out.update(fields);
  return out.dump(kIndent) + "\n";
}

}  // namespace

std::string schema_text(MessageType type) {
  const DescribedMessage& message = description_of(type);
  Json object = object_of(message.fields);
  object["properties"]["message_type"] = {{"const", wire_name(type)},
                                          {"description", "Which message this is."}};
  return print(wire_name(type),
               std::string(message.about.description) +
                   " Fields that are not listed here are allowed and ignored.",
               object);
}

std::string envelope_schema_text() {
  return print("Envelope of league.v2",
               "The fields that every league message carries in addition to its own, side by side "
               "with them in params or result.",
               object_of(envelope_description()));
}

}  // namespace league::envelope
