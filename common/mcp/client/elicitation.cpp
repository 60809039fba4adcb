#include "common/mcp/client/elicitation.h"

#include <algorithm>

#include "common/schema/json_fields.h"

namespace league::mcp::client {
namespace {

using nlohmann::json;

/// The maximum number of fields in a form, since answering costs as much as reading it.
constexpr std::size_t kMostFields = 256;

/// True if `content` has all fields that the form requires.
bool is_complete(const json& form, const json& content) {
  const json& required = schema::field_at(form, "required");
  if (!required.is_array()) return true;
  return std::ranges::all_of(required, [&](const json& name) {
    return !name.is_string() || content.contains(name.get_ref<const std::string&>());
  });
}

}  // namespace

json elicitation_capability() { return {{"elicitation", {{"form", json::object()}}}}; }

json answer_elicitation(const json& params, const json& given) {
  json declined = {{"action", "decline"}};
  const json& form = schema::field_at(params, "requestedSchema");
  const json& properties = schema::field_at(form, "properties");
  if (!properties.is_object() || properties.size() > kMostFields) return declined;
  json content = json::object();
  for (const auto& [name, field] : properties.items()) {
    if (given.is_object() && given.contains(name)) {
      content[name] = given[name];
    } else if (field.is_object() && field.contains("default")) {
      content[name] = field["default"];
    }
  }
  if (!is_complete(form, content)) return declined;
  return {{"action", "accept"}, {"content", std::move(content)}};
}

std::optional<json> answer_question(std::string_view method, const json& params,
                                    const json& given) {
  if (method != "elicitation/create") return std::nullopt;
  return answer_elicitation(params, given);
}

}  // namespace league::mcp::client
