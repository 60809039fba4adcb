#include <functional>
#include <memory>

#include "tests/conformance_server/fixture.h"

namespace league::testing {
namespace {

using mcp::ServedToolCall;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr auto kPause = milliseconds(50);
constexpr auto kAnswerTime = std::chrono::seconds(20);

void add(const FixtureParts& parts, const char* name, const char* description, std::string schema,
         std::function<void(ServedToolCall)> handler) {
  parts.server.registry().add({.name = name,
                               .description = description,
                               .input_schema = std::move(schema),
                               .handler = std::move(handler)});
}

/// Says three things with a pause between them, then answers.
void add_progress_and_logging(const FixtureParts& parts) {
  auto logging = [&timer = parts.timer](const ServedToolCall& call) {
    auto reply = call.request.reply;
    reply.request_context().log(mcp::LogLevel::kInfo, "", "Tool execution started");
    timer.schedule(kPause, [reply] {
      reply.request_context().log(mcp::LogLevel::kInfo, "", "Tool processing data");
    });
    timer.schedule(2 * kPause, [reply] {
      reply.request_context().log(mcp::LogLevel::kInfo, "", "Tool execution completed");
      reply.send(text_result("Tool with logging executed successfully"));
    });
  };
  add(parts, "test_tool_with_logging", "Logs while it works", text_arguments({}), logging);
  add(parts, "test_logging_tool", "Logs while it works", text_arguments({}), logging);
  add(parts, "test_tool_with_progress", "Says how far it is", text_arguments({}),
      [&timer = parts.timer](const ServedToolCall& call) {
        auto reply = call.request.reply;
        reply.request_context().progress(
            {.done = 0, .total = 100, .message = "Completed step 0 of 100"});
        timer.schedule(kPause, [reply] {
          reply.request_context().progress(
              {.done = 50, .total = 100, .message = "Completed step 50 of 100"});
        });
        timer.schedule(2 * kPause, [reply] {
          reply.request_context().progress(
              {.done = 100, .total = 100, .message = "Completed step 100 of 100"});
          reply.send(text_result("Tool with progress executed successfully"));
        });
      });
  add(parts, "test_reconnection", "Closes its stream before it answers", text_arguments({}),
      [&timer = parts.timer](const ServedToolCall& call) {
        auto reply = call.request.reply;
        reply.request_context().log(mcp::LogLevel::kInfo, "", "Closing the stream");
        reply.request_context().close_stream();
        timer.schedule(2 * kPause, [reply] {
          reply.send(text_result("Reconnection test completed successfully"));
        });
      });
}

using ToText = std::function<std::string(const json& result)>;

/// Asks the client, and answers with what `to_text` makes of it.
void ask(const ServedToolCall& call, const std::string& capability, const std::string& method,
         const json& params, ToText to_text) {
  auto reply = call.request.reply;
  if (!reply.request_context().client_has(capability))
    return reply.send(error_result("the client does not support " + capability));
  reply.request_context().ask_client(
      method, params, kAnswerTime,
      [reply, to_text = std::move(to_text)](const core::Result<rpc::Response>& answer) {
        if (!answer) return reply.send(error_result(answer.error().message));
        if (answer->error) return reply.send(error_result(answer->error->message));
        reply.send(text_result(to_text(answer->result)));
      });
}

std::string completed(const json& result) {
  return "Elicitation completed: action=" + result.value("action", "") +
         ", content=" + result.value("content", json::object()).dump();
}

json titled(std::initializer_list<std::pair<const char*, const char*>> options) {
  json out = json::array();
  for (const auto& [value, title] : options) out.push_back({{"const", value}, {"title", title}});
  return out;
}

json enum_properties() {
  json plain = json::array({"option1", "option2", "option3"});
  return {{"untitledSingle", {{"type", "string"}, {"enum", plain}}},
          {"titledSingle",
           {{"type", "string"},
            {"oneOf", titled({{"value1", "First Option"},
                              {"value2", "Second Option"},
                              {"value3", "Third Option"}})}}},
          {"legacyEnum",
           {{"type", "string"},
            {"enum", json::array({"opt1", "opt2", "opt3"})},
            {"enumNames", json::array({"Option One", "Option Two", "Option Three"})}}},
          {"untitledMulti", {{"type", "array"}, {"items", {{"type", "string"}, {"enum", plain}}}}},
          {"titledMulti",
           {{"type", "array"},
            {"items",
             {{"anyOf", titled({{"value1", "First Choice"},
                                {"value2", "Second Choice"},
                                {"value3", "Third Choice"}})}}}}}};
}

void add_questions(const FixtureParts& parts) {
  add(parts, "test_sampling", "Has the client's model say something", text_arguments({"prompt"}),
      [](const ServedToolCall& call) {
        json message = {{"role", "user"},
                        {"content", text_content(call.arguments.value("prompt", ""))}};
        ask(call, "sampling", "sampling/createMessage",
            {{"messages", json::array({message})}, {"maxTokens", 100}}, [](const json& result) {
              return "LLM response: " + result.value("/content/text"_json_pointer, "");
            });
      });
  add(parts, "test_elicitation", "Asks the user", text_arguments({"message"}),
      [](const ServedToolCall& call) {
        json schema = {{"type", "object"},
                       {"properties",
                        {{"username", {{"type", "string"}, {"description", "User's response"}}},
                         {"email", {{"type", "string"}, {"description", "User's email address"}}}}},
                       {"required", json::array({"username", "email"})}};
        ask(call, "elicitation", "elicitation/create",
            {{"message", call.arguments.value("message", "")}, {"requestedSchema", schema}},
            [](const json& result) { return "User response: " + result.dump(); });
      });
  add(parts, "test_elicitation_sep1034_defaults", "Asks with defaults", text_arguments({}),
      [](const ServedToolCall& call) {
        json properties = {{"name", {{"type", "string"}, {"default", "John Doe"}}},
                           {"age", {{"type", "integer"}, {"default", 30}}},
                           {"score", {{"type", "number"}, {"default", 95.5}}},
                           {"status",
                            {{"type", "string"},
                             {"enum", json::array({"active", "inactive", "pending"})},
                             {"default", "active"}}},
                           {"verified", {{"type", "boolean"}, {"default", true}}}};
        ask(call, "elicitation", "elicitation/create",
            {{"message", "Please review the defaults"},
             {"requestedSchema",
              {{"type", "object"}, {"properties", properties}, {"required", json::array()}}}},
            completed);
      });
  add(parts, "test_elicitation_sep1330_enums", "Asks with choices", text_arguments({}),
      [](const ServedToolCall& call) {
        ask(call, "elicitation", "elicitation/create",
            {{"message", "Please choose"},
             {"requestedSchema",
              {{"type", "object"},
               {"properties", enum_properties()},
               {"required", json::array()}}}},
            completed);
      });
}

}  // namespace

void add_streaming_tools(const FixtureParts& parts) {
  add_progress_and_logging(parts);
  add_questions(parts);
}

}  // namespace league::testing
