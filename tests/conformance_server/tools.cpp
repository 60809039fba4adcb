#include "tests/conformance_server/fixture.h"

namespace league::testing {
namespace {

using mcp::ServedToolCall;
using nlohmann::json;

/// A tool without arguments that always answers the same.
void add_constant(const FixtureParts& parts, const char* name, const char* description,
                  json result) {
  parts.server.registry().add({.name = name,
                               .description = description,
                               .input_schema = text_arguments({}),
                               .handler = [result = std::move(result)](const ServedToolCall& call) {
                                 call.request.reply.send(result);
                               }});
}

json resource_content(const char* uri, const char* mime_type, const char* text) {
  return {{"type", "resource"},
          {"resource", {{"uri", uri}, {"mimeType", mime_type}, {"text", text}}}};
}

void add_schema_tool(const FixtureParts& parts) {
  parts.server.registry().add(
      {.name = "json_schema_2020_12_tool",
       .description = "Tool with JSON Schema 2020-12 features",
       .input_schema = R"json({"$schema":"https://json-schema.org/draft/2020-12/schema",
        "type":"object",
        "$defs":{"address":{"$anchor":"addressDef","type":"object",
          "properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
        "properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
          "contactMethod":{"type":"string","enum":["phone","email"]},
          "phone":{"type":"string"},"email":{"type":"string"}},
        "allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
        "if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
        "then":{"required":["phone"]},"else":{"required":["email"]},
        "additionalProperties":false})json",
       .handler = [](const ServedToolCall& call) {
         call.request.reply.send(text_result("JSON Schema 2020-12 tool called"));
       }});
}

void add_header_tool(const FixtureParts& parts) {
  parts.server.registry().add(
      {.name = "test_custom_header",
       .description = "An argument that a header repeats",
       .input_schema = R"({"type":"object","properties":{"region":{"type":"string",)"
                       R"("x-mcp-header":"Region"}},"required":["region"]})",
       .handler = [](const ServedToolCall& call) {
         call.request.reply.send(text_result("region " + call.arguments.value("region", "")));
       }});
}

/// Calls that change a list and say so.
void add_changing_tools(const FixtureParts& parts) {
  parts.server.registry().add({.name = "test_trigger_tool_change",
                               .description = "Adds a tool, or takes it away",
                               .input_schema = text_arguments({}),
                               .handler = [&server = parts.server](const ServedToolCall& call) {
                                 constexpr const char* kName = "test_passing_tool";
                                 if (server.registry().find_tool(kName)) {
                                   server.registry().remove_tool(kName);
                                 } else {
                                   server.registry().add(
                                       {.name = kName,
                                        .description = "Here today",
                                        .input_schema = text_arguments({}),
                                        .handler = [](const ServedToolCall& inner) {
                                          inner.request.reply.send(text_result("gone tomorrow"));
                                        }});
                                 }
                                 call.request.reply.send(text_result("changed"));
                                 server.notify_list_changed(mcp::Registry::List::kTools);
                               }});
  parts.server.registry().add({.name = "test_trigger_prompt_change",
                               .description = "Adds a prompt, or takes it away",
                               .input_schema = text_arguments({}),
                               .handler = [&server = parts.server](const ServedToolCall& call) {
                                 constexpr const char* kName = "test_passing_prompt";
                                 if (server.registry().find_prompt(kName)) {
                                   server.registry().remove_prompt(kName);
                                 } else {
                                   server.registry().add(
                                       {.name = kName,
                                        .description = "Here today",
                                        .get = [](const mcp::ServerPrompt::Get& get) {
                                          get.request.reply.send({{"messages", json::array()}});
                                        }});
                                 }
                                 call.request.reply.send(text_result("changed"));
                                 server.notify_list_changed(mcp::Registry::List::kPrompts);
                               }});
}

}  // namespace

void add_tools(const FixtureParts& parts) {
  add_constant(parts, "test_simple_text", "Answers with a text",
               text_result("This is a simple text response for testing."));
  add_constant(parts, "test_image_content", "Answers with an image",
               {{"content", json::array({image_content()})}});
  add_constant(
      parts, "test_audio_content", "Answers with a sound",
      {{"content", json::array({{{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}}})}});
  add_constant(
      parts, "test_embedded_resource", "Answers with a resource",
      {{"content", json::array({resource_content("test://embedded-resource", "text/plain",
                                                 "This is an embedded resource content.")})}});
  add_constant(parts, "test_multiple_content_types", "Answers with several things",
               {{"content",
                 json::array({text_content("Multiple content types test:"), image_content(),
                              resource_content("test://mixed-content-resource", "application/json",
                                               R"({"test":"data","value":123})")})}});
  add_constant(parts, "test_error_handling", "Always fails",
               error_result("This tool intentionally returns an error for testing"));
  add_schema_tool(parts);
  add_header_tool(parts);
  add_changing_tools(parts);
}

}  // namespace league::testing
