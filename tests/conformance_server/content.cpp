#include "tests/conformance_server/fixture.h"

namespace league::testing {

using nlohmann::json;

std::string text_arguments(std::initializer_list<const char*> names) {
  json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"type", "object"},
                 {"properties", json::object()}};
  for (const char* name : names) {
    schema["properties"][name] = {{"type", "string"}, {"description", name}};
    schema["required"].push_back(name);
  }
  return schema.dump();
}

json text_content(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

json image_content() { return {{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}}; }

json text_result(const std::string& text) {
  return {{"content", json::array({text_content(text)})}};
}

json error_result(const std::string& text) {
  json result = text_result(text);
  result["isError"] = true;
  return result;
}

}  // namespace league::testing
