#include "common/mcp/client/elicitation.h"

#include <algorithm>

namespace league::mcp {
namespace {

using nlohmann::json;

/// The maximum number of fields in a form, since answering costs as much as reading it.
constexpr std::size_t kMostFields = 256;

const json* object_at(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

/// True if `content` has all fields that the form requires.
bool is_complete(const json& schema, const json& content) {
  auto required = schema.find("required");
  if (required == schema.end() || !required->is_array()) return true;
  return std::all_of(required->begin(), required->end(), [&](const json& name) {
    return !name.is_string() || content.contains(name.get_ref<const std::string&>());
  });
}

}  // namespace

json elicitation_capability() { return {{"elicitation", {{"form", json::object()}}}}; }

json answer_elicitation(const json& params, const json& given) {
  json declined = {{"action", "decline"}};
  const json* schema = object_at(params, "requestedSchema");
  const json* properties = schema == nullptr ? nullptr : object_at(*schema, "properties");
  if (properties == nullptr || properties->size() > kMostFields) return declined;
  json content = json::object();
  for (const auto& [name, field] : properties->items()) {
    if (given.is_object() && given.contains(name)) {
      content[name] = given[name];
    } else if (field.is_object() && field.contains("default")) {
      content[name] = field["default"];
    }
  }
  if (!is_complete(*schema, content)) return declined;
  return {{"action", "accept"}, {"content", std::move(content)}};
}

std::optional<json> answer_question(std::string_view method, const json& params,
                                    const json& given) {
  if (method != "elicitation/create") return std::nullopt;
  return answer_elicitation(params, given);
}

}  // namespace league::mcp
