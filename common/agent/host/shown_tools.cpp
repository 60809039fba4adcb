#include "common/agent/host/shown_tools.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/agent/host/embedded_tools.h"
#include "common/envelope/message_schemas.h"

namespace league::agent::host {
namespace {

/// The schema of an answer that is only an acknowledgement: `{"status": "ok"}` and possibly further
/// members.
constexpr std::string_view kAcknowledgement =
    R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object",)"
    R"("properties":{"status":{"type":"string","description":"`ok`: the message was taken."}},)"
    R"("required":["status"]})";

/// The JSON Schema of a message type; its own description says what the message is for.
std::string schema_of(envelope::MessageType type) {
  return std::string(envelope::builtin_schema(envelope::file_stem(type)));
}

/// `Choose parity` for `choose_parity`.
std::string tool_title(std::string_view name) {
  std::string title(name);
  std::ranges::replace(title, '_', ' ');
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z')
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return title;
}

}  // namespace

namespace {

mcp::ServerTool make_message_tool(envelope::MessageType type) {
  const auto& row = envelope::spec(type);
  mcp::ServerTool tool;
  tool.name = std::string(row.method);
  tool.title = tool_title(row.method);
  tool.input_schema = schema_of(type);
  auto document = nlohmann::json::parse(tool.input_schema, nullptr, false);
  if (document.is_object()) {
    tool.description = document.value("description", "");
    tool.input_schema = document.dump();  // without the white space of the file
  }
  tool.output_schema = std::string(kAcknowledgement);
  if (row.reply) {
    auto reply = nlohmann::json::parse(schema_of(*row.reply), nullptr, false);
    if (reply.is_object()) tool.output_schema = reply.dump();
  }
  return tool;
}

}  // namespace

mcp::ServerTool message_tool(envelope::MessageType type) {
  // A process with thousands of players would otherwise read the same schemas for each of them.
  static std::mutex mutex;
  static std::map<envelope::MessageType, mcp::ServerTool> made;
  std::lock_guard lock(mutex);
  const auto found = made.find(type);
  return found != made.end() ? found->second
                             : made.emplace(type, make_message_tool(type)).first->second;
}

mcp::ServerTool described_tool(std::string_view name) {
  const auto file = std::ranges::find(embedded_tools(), std::string(name) + ".json",
                                      &envelope::EmbeddedFile::name);
  const auto description = nlohmann::json::parse(file->text);
  mcp::ServerTool tool;
  tool.name = std::string(name);
  tool.title = tool_title(name);
  tool.description = description["description"];
  tool.input_schema = description["input"].dump();
  const auto output = description.find("output");
  tool.output_schema = output == description.end() ? kAcknowledgement : output->dump();
  if (!description.contains("changes")) tool.annotations = R"({"readOnlyHint":true})";
  return tool;
}

}  // namespace league::agent::host
