#include "common/agent/host/shown_tools.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/agent/host/embedded_tools.h"
#include "common/envelope/schema_text.h"

namespace league::agent::host {
namespace {

/// The schema of an answer that is only an acknowledgement: `{"status": "ok"}` and possibly further
/// members.
constexpr std::string_view kAcknowledgement =
    R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object",)"
    R"("properties":{"status":{"type":"string","description":"`ok`: the message was taken."}},)"
    R"("required":["status"]})";

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
  auto document = nlohmann::json::parse(envelope::schema_text(type));
  tool.description = document["description"];  // it says what the message is for
  tool.input_schema = document.dump();
  tool.output_schema = std::string(kAcknowledgement);
  if (row.reply)
    tool.output_schema = nlohmann::json::parse(envelope::schema_text(*row.reply)).dump();
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
  const auto file =
      std::ranges::find(embedded_tools(), std::string(name) + ".json", &EmbeddedFile::name);
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
