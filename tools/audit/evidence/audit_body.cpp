#include "tools/audit/evidence/audit_body.h"

#include "tools/audit/evidence/json_fields.h"

#include <nlohmann/json.hpp>

namespace league::tools::auditor {
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

struct LocatedMessage {
  json message;
  std::string way;
};

LocatedMessage inside(const json& payload, const std::string& outer) {
  for (const char* key : {"message", "arguments", "response", "structuredContent"}) {
    if (const json* inner = object_at(payload, {key})) return {*inner, outer + "." + key};
  }
  if (json text = text_content(payload); text.is_object())
    return {std::move(text), outer + ".content[0].text"};
  return {payload, outer};
}

LocatedMessage locate(const std::string& raw) {
  json frame = json::parse(raw, nullptr, false);
  if (!frame.is_object()) return {nullptr, "no JSON object"};
  if (const json* error = object_at(frame, {"error"})) {
    auto code = error->find("code");
    bool has_code = code != error->end() && code->is_number_integer();
    return {error_of(*error), has_code ? "error " + code->dump() : "error"};
  }
  if (const json* result = object_at(frame, {"result"})) return inside(*result, "result");
  const json* params = object_at(frame, {"params"});
  if (params == nullptr) return {frame, "bare body"};
  auto found = inside(*params, "params");
  std::string method = text_at(frame, "method");
  if (method == "tools/call") method += " " + text_at(*params, "name");
  if (method.empty()) method = "no method";
  found.way = found.way == "params" ? method : method + ", " + found.way;
  return found;
}

}  // namespace

json message_of(const audit::log::LogEntry& entry) { return locate(entry.raw).message; }

std::string way_of(const audit::log::LogEntry& entry) {
  if (entry.kind == "failure" || entry.raw.empty()) return {};
  std::string way = locate(entry.raw).way;
  constexpr int kFirstError = 400;
  if (entry.http_status >= kFirstError)
    way += std::string(way.empty() ? "" : ", ") + "HTTP " + std::to_string(entry.http_status);
  return way;
}

}  // namespace league::tools::auditor
