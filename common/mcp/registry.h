#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/mcp/request_context.h"
#include "common/rpc/context.h"
#include "common/rpc/message_notes.h"

namespace league::mcp {

/// The common part of all requests that an application serves.
struct ServedRequest {
  nlohmann::json params;  ///< of the request, without the members below
  rpc::MessageContext context;
  std::shared_ptr<rpc::MessageNotes> notes;
  Responder reply;
  bool is_declared = true;  ///< the client has sent a session id or a revision
};

/// A call of a tool.
struct ServedToolCall {
  std::string name;  ///< as the client wrote it; may be an alias of the tool
  nlohmann::json arguments;  ///< an object
  ServedRequest request;
};

/// A tool that clients may call.
struct ServerTool {
  std::string name;  ///< 1 to 64 of `[A-Za-z0-9_./-]`
  std::string title = {};  ///< for people; may be empty
  std::string description = {};
  std::string input_schema = {};  ///< JSON text; of an object
  std::string output_schema = {};  ///< JSON text, or empty: its result has no structure
  std::string annotations = {};  ///< JSON text of MCP's tool annotations, or empty
  /// Whether the list for strangers has it; the whole list always does, and everybody may call it.
  bool is_for_strangers = true;
  /// Calls and answers hold what others could use (a code, a token): no log has them.
  bool is_secret = false;
  /// Checks arguments and explains faults to the client's model; may be empty.
  std::function<core::Result<void>(const nlohmann::json&)> check = nullptr;
  std::function<void(ServedToolCall)> handler = nullptr;
};

/// A resource, or many resources if the URI is a template (`league://match/{match_id}`).
struct ServerResource {
  /// A client's request to read `uri`.
  struct Read {
    std::string uri;
    std::map<std::string, std::string> variables;  ///< of the template
    ServedRequest request;
  };
  std::string uri;  ///< `league://standings`
  std::string name;
  std::string title = {};
  std::string description = {};
  std::string mime_type = "application/json";
  bool is_subscribable = false;
  std::function<void(Read)> read = nullptr;

  [[nodiscard]] bool is_template() const { return uri.find('{') != std::string::npos; }
};

/// A text that a client can offer its user to start a conversation.
struct ServerPrompt {
  struct Argument {
    std::string name;
    std::string description = {};
    bool is_required = false;
  };
  struct Get {
    std::string name;
    nlohmann::json arguments;  ///< an object
    ServedRequest request;
  };
  std::string name;
  std::string title = {};
  std::string description = {};
  std::vector<Argument> arguments = {};
  bool is_secret = false;  ///< as a tool's
  std::function<void(Get)> get = nullptr;
};

/// The answer to a read with a single text.
[[nodiscard]] nlohmann::json text_contents(const std::string& uri, const std::string& mime_type,
                                           const std::string& text);

/// The error code for a missing resource, which differs between the dialects.
[[nodiscard]] int not_found_code(const Responder& reply);

/// A ServerTool::check that validates arguments against `schema`, a JSON Schema of draft-07. Fails
/// as schema::CompiledSchema::compile.
[[nodiscard]] core::Result<std::function<core::Result<void>(const nlohmann::json&)>> schema_check(
    const std::string& schema, const std::string& name);

/// Everything that a server offers. Lists are sorted by name (or URI), whatever the order of
/// adding. Thread-safe.
class Registry {
 public:
  explicit Registry(std::size_t page_size = 100) : page_size_(page_size) {}

  /// Adds the tool, or replaces the one with the same name.
  void add(ServerTool tool);
  void add(ServerResource resource);
  void add(ServerPrompt prompt);
  void remove_tool(const std::string& name);
  void remove_prompt(const std::string& name);
  /// Sets a function that maps aliases to tool names. Must be called before the first tool call.
  void resolve_tools(std::function<std::optional<std::string>(std::string_view)> resolver);
  void complete_with(std::function<void(ServedRequest)> handler);

  [[nodiscard]] std::shared_ptr<const ServerTool> find_tool(std::string_view name) const;
  /// The arguments of a tool that must be repeated in headers (`x-mcp-header` in its schema), each
  /// with its header name. Empty for most tools.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> headers_of(
      std::string_view tool) const;
  [[nodiscard]] std::shared_ptr<const ServerPrompt> find_prompt(std::string_view name) const;
  struct FoundResource {
    std::shared_ptr<const ServerResource> resource;
    std::map<std::string, std::string> variables;
  };
  [[nodiscard]] std::optional<FoundResource> find_resource(const std::string& uri) const;
  [[nodiscard]] std::function<void(ServedRequest)> completion() const;

  /// kTools is the whole list, kStrangersTools the part of it that strangers are shown.
  enum class List { kTools, kStrangersTools, kPrompts, kResources, kResourceTemplates };
  /// A page of a list as the members of a result object, `"tools":[…],"nextCursor":"…"`; nothing
  /// for a cursor that did not come from this list.
  [[nodiscard]] std::optional<std::string> page(List list,
                                                const std::optional<std::string>& cursor) const;
  [[nodiscard]] bool has_subscribable_resources() const;

 private:
  template <typename Thing>
  struct Entry {
    std::shared_ptr<const Thing> thing;
    std::string text;  ///< as it is shown in lists
  };
  template <typename Thing>
  using Entries = std::map<std::string, Entry<Thing>, std::less<>>;

  const std::size_t page_size_;
  mutable std::mutex mutex_;  // guards the rest
  Entries<ServerTool> tools_;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>, std::less<>> headers_;
  Entries<ServerResource> resources_;
  Entries<ServerResource> templates_;
  Entries<ServerPrompt> prompts_;
  std::function<std::optional<std::string>(std::string_view)> resolver_;
  std::function<void(ServedRequest)> completion_;
};

}  // namespace league::mcp
