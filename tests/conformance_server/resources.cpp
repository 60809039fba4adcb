#include "tests/conformance_server/fixture.h"

namespace league::testing {

using mcp::ServerResource;
using nlohmann::json;

void add_resources(const FixtureParts& parts) {
  auto& registry = parts.server.registry();
  registry.add({.uri = "test://static-text",
                .name = "Static text",
                .description = "A text that never changes",
                .mime_type = "text/plain",
                .read = [](const ServerResource::Read& read) {
                  read.request.reply.send(mcp::text_contents(
                      read.uri, "text/plain", "This is the content of the static text resource."));
                }});
  registry.add(
      {.uri = "test://static-binary",
       .name = "Static binary",
       .description = "A picture that never changes",
       .mime_type = "image/png",
       .read = [](const ServerResource::Read& read) {
         read.request.reply.send(
             {{"contents",
               json::array({{{"uri", read.uri}, {"mimeType", "image/png"}, {"blob", kPng}}})}});
       }});
  registry.add({.uri = "test://watched-resource",
                .name = "Watched resource",
                .description = "A text that can be watched",
                .mime_type = "text/plain",
                .is_subscribable = true,
                .read = [](const ServerResource::Read& read) {
                  read.request.reply.send(
                      mcp::text_contents(read.uri, "text/plain", "Watched resource content"));
                }});
  registry.add({.uri = "test://template/{id}/data",
                .name = "Template",
                .description = "Data by id",
                .read = [](const ServerResource::Read& read) {
                  const std::string& id = read.variables.at("id");
                  json text = {{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
                  read.request.reply.send(
                      mcp::text_contents(read.uri, "application/json", text.dump()));
                }});
}

}  // namespace league::testing
