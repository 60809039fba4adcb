#include "tools/league/audit_body.h"

#include <nlohmann/json.hpp>

namespace league::tools {
namespace {

using nlohmann::json;

/// The first of `keys` that is an object inside `outer`.
const json* object_at(const json& outer, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    auto found = outer.find(key);
    if (found != outer.end() && found->is_object()) return &*found;
  }
  return nullptr;
}

json error_of(const json& error) {
  json data = error.contains("data") && error["data"].is_object() ? error["data"] : json::object();
  if (!data.contains("error_name") && error.contains("message")) data["reason"] = error["message"];
  if (!data.contains("error_code") && error.contains("code")) data["error_code"] = error["code"];
  return data;
}

json text_content(const json& payload) {
  auto content = payload.find("content");
  if (content == payload.end() || !content->is_array() || content->empty()) return nullptr;
  const json& first = content->front();
  if (!first.is_object() || !first.contains("text") || !first["text"].is_string()) return nullptr;
  return json::parse(first["text"].get_ref<const std::string&>(), nullptr, false);
}

}  // namespace

json message_of(const audit::LogEntry& entry) {
  json frame = json::parse(entry.raw, nullptr, false);
  if (!frame.is_object()) return nullptr;
  if (const json* error = object_at(frame, {"error"})) return error_of(*error);
  const json* payload = object_at(frame, {"params", "result"});
  if (payload == nullptr) return frame;
  if (const json* inner =
          object_at(*payload, {"message", "arguments", "response", "structuredContent"}))
    return *inner;
  if (json text = text_content(*payload); text.is_object()) return text;
  return *payload;
}

}  // namespace league::tools
