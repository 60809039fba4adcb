#include "tests/conformance_server/fixture.h"

namespace league::testing {
namespace {

using mcp::ServerPrompt;
using nlohmann::json;

json user(json content) { return {{"role", "user"}, {"content", std::move(content)}}; }

void add(const FixtureParts& parts, const char* name, std::vector<ServerPrompt::Argument> arguments,
         std::function<json(const json& arguments)> messages) {
  parts.server.registry().add(
      {.name = name,
       .description = "A prompt for testing",
       .arguments = std::move(arguments),
       .get = [messages = std::move(messages)](const ServerPrompt::Get& get) {
         get.request.reply.send({{"messages", messages(get.arguments)}});
       }});
}

}  // namespace

void add_prompts(const FixtureParts& parts) {
  add(parts, "test_simple_prompt", {}, [](const json&) {
    return json::array({user(text_content("This is a simple prompt for testing."))});
  });
  add(parts, "test_prompt_with_arguments",
      {{"arg1", "First test argument", true}, {"arg2", "Second test argument", true}},
      [](const json& arguments) {
        return json::array(
            {user(text_content("Prompt with arguments: arg1='" + arguments.value("arg1", "") +
                               "', arg2='" + arguments.value("arg2", "") + "'"))});
      });
  add(parts, "test_prompt_with_embedded_resource",
      {{"resourceUri", "URI of the resource to embed", true}}, [](const json& arguments) {
        json resource = {{"type", "resource"},
                         {"resource",
                          {{"uri", arguments.value("resourceUri", "")},
                           {"mimeType", "text/plain"},
                           {"text", "Embedded resource content for testing."}}}};
        return json::array(
            {user(resource), user(text_content("Please process the embedded resource above."))});
      });
  add(parts, "test_prompt_with_image", {}, [](const json&) {
    return json::array(
        {user(image_content()), user(text_content("Please analyze the image above."))});
  });
  parts.server.registry().complete_with([](const mcp::ServedRequest& request) {
    json values = json::array();
    std::string begin = request.params.value("/argument/value"_json_pointer, "");
    for (const char* word : {"paris", "park", "party"}) {
      if (std::string(word).starts_with(begin)) values.push_back(word);
    }
    request.reply.send(
        {{"completion", {{"values", values}, {"total", values.size()}, {"hasMore", false}}}});
  });
}

}  // namespace league::testing
