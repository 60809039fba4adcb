#include "tools/league/client/tool_arguments.h"

#include "common/core/text.h"
#include "common/schema/json_fields.h"

namespace league::tools {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

std::string visible(const std::string& text) {
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    bool is_control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
    out += is_control ? '?' : c;
  }
  return out;
}

std::string described(const json& item) {
  std::string type = item.value("type", "content");
  std::string out = "[" + type;
  for (const char* key : {"mimeType", "uri", "name"})
    if (const json& text = schema::field_at(item, key); text.is_string())
      out += " " + text.get<std::string>();
  if (const json& data = schema::field_at(item, "data"); data.is_string())
    out += ", " + std::to_string(data.get_ref<const std::string&>().size()) + " bytes of base64";
  return out + "]";
}

/// The first object within `value` that holds a token; null for none.
const json* identity_in(const json& value) {
  if (!value.is_structured()) return nullptr;
  if (schema::field_at(value, "auth_token").is_string()) return &value;
  for (const json& member : value)
    if (const json* found = identity_in(member)) return found;
  return nullptr;
}

}  // namespace

core::Result<void> add_identity(json& arguments, const std::string& text) {
  const json kept = json::parse(text, nullptr, false);
  if (kept.is_discarded()) {
    const auto end = text.find_last_not_of(" \t\r\n");
    arguments["auth_token"] = text.substr(0, end + 1);
    return {};
  }
  const json* identity = identity_in(kept);
  if (identity == nullptr)
    return Error{ErrorCode::kMalformedMessage, "the token file contains no auth_token", {}};
  arguments["auth_token"] = (*identity)["auth_token"];
  for (const char* key : {"player_id", "referee_id", "id"}) {
    const auto id = identity->find(key);
    if (id == identity->end() || !id->is_string() || arguments.contains("sender")) continue;
    const auto& name = id->get_ref<const std::string&>();
    arguments["sender"] = (name.starts_with("REF") ? "referee:" : "player:") + name;
  }
  return {};
}

core::Result<json> parse_tool_arguments(const std::vector<std::string>& words) {
  json arguments = json::object();
  if (words.size() == 1 && words.front().starts_with('{')) {
    json whole = json::parse(words.front(), nullptr, false);
    if (whole.is_object()) return whole;
    return Error{
        ErrorCode::kMalformedMessage,
        "the arguments are not a JSON object: " + words.front().substr(0, core::kShownLength),
        {}};
  }
  for (const auto& word : words) {
    auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{
          ErrorCode::kMalformedMessage,
          "\"" + word.substr(0, core::kShownLength) + "\" is neither key=value nor a JSON object",
          {}};
    }
    std::string text = word.substr(equals + 1);
    json value = json::parse(text, nullptr, false);
    arguments[word.substr(0, equals)] = value.is_discarded() ? json(text) : std::move(value);
  }
  return arguments;
}

std::string readable_result(const json& result) {
  std::string out;
  if (const json& content = schema::field_at(result, "content"); content.is_array()) {
    for (const auto& item : content) {
      if (!item.is_object()) continue;
      const auto* text = schema::field_at(item, "text").get_ptr<const std::string*>();
      out += (text != nullptr ? *text : described(item)) + "\n";
    }
  }
  if (out.empty()) {
    const json& inner = schema::field_at(result, "structuredContent");
    const json& shown = inner.is_null() ? result : inner;
    out = shown.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  }
  return visible(out);
}

}  // namespace league::tools
