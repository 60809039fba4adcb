#include "common/mcp/registry.h"

#include <array>
#include <charconv>

#include "common/core/crypto.h"
#include "common/rpc/json_object.h"
#include "common/schema/json_fields.h"
#include "common/schema/schema_validator.h"

namespace league::mcp {
namespace {

using nlohmann::json;
using List = Registry::List;

void add_optional(rpc::JsonObject& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.text(key, text);
}

std::string shown(const ServerTool& tool) {
  std::string out;
  rpc::JsonObject object(out);
  object.text("name", tool.name);
  add_optional(object, "title", tool.title);
  add_optional(object, "description", tool.description);
  object.raw("inputSchema", tool.input_schema);
  if (!tool.output_schema.empty()) object.raw("outputSchema", tool.output_schema);
  if (!tool.annotations.empty()) object.raw("annotations", tool.annotations);
  object.end();
  return out;
}

std::string shown(const ServerResource& resource) {
  std::string out;
  rpc::JsonObject object(out);
  object.text(resource.is_template() ? "uriTemplate" : "uri", resource.uri);
  object.text("name", resource.name);
  add_optional(object, "title", resource.title);
  add_optional(object, "description", resource.description);
  add_optional(object, "mimeType", resource.mime_type);
  object.end();
  return out;
}

std::string shown(const ServerPrompt& prompt) {
  std::string out;
  rpc::JsonObject object(out);
  object.text("name", prompt.name);
  add_optional(object, "title", prompt.title);
  add_optional(object, "description", prompt.description);
  if (!prompt.arguments.empty()) {
    object.name("arguments");
    out += '[';
    for (const auto& argument : prompt.arguments) {
      if (out.back() != '[') out += ',';
      rpc::JsonObject one(out);
      one.text("name", argument.name);
      add_optional(one, "description", argument.description);
      one.flag("required", argument.is_required);
      one.end();
    }
    out += ']';
  }
  object.end();
  return out;
}

/// The arguments that `schema` requires to be repeated in headers.
std::vector<std::pair<std::string, std::string>> header_arguments(const std::string& schema) {
  std::vector<std::pair<std::string, std::string>> found;
  if (schema.find("x-mcp-header") == std::string::npos) return found;
  json document = json::parse(schema, nullptr, false);
  if (!document.is_object() || !document.contains("properties")) return found;
  for (const auto& [name, property] : document["properties"].items()) {
    const std::string& header = schema::text_at(property, "x-mcp-header");
    if (!header.empty()) found.emplace_back(name, header);
  }
  return found;
}

/// The values of the template's variables in `uri`; a variable matches anything but `/`.
std::optional<std::map<std::string, std::string>> match(std::string_view pattern,
                                                        std::string_view uri) {
  std::map<std::string, std::string> variables;
  while (!pattern.empty()) {
    if (pattern.front() != '{') {
      if (uri.empty() || uri.front() != pattern.front()) return std::nullopt;
      pattern.remove_prefix(1);
      uri.remove_prefix(1);
      continue;
    }
    std::size_t close = pattern.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    std::string name(pattern.substr(1, close - 1));
    pattern.remove_prefix(close + 1);
    std::size_t end = pattern.empty() ? uri.size() : uri.find(pattern.front());
    if (end == 0 || end == std::string_view::npos) return std::nullopt;
    if (uri.substr(0, end).find('/') != std::string_view::npos) return std::nullopt;
    variables[name] = std::string(uri.substr(0, end));
    uri.remove_prefix(end);
  }
  if (!uri.empty()) return std::nullopt;
  return variables;
}

std::string_view member_name(List list) {
  constexpr std::array<std::string_view, 5> kNames = {"tools", "tools", "prompts", "resources",
                                                      "resourceTemplates"};
  return kNames[static_cast<std::size_t>(list)];
}

/// Cursors are opaque to clients: they contain the list and the index of the page's first entry, in
/// hexadecimal.
std::string make_cursor(List list, std::size_t offset) {
  return core::to_hex(
      core::as_bytes(std::string(member_name(list)) + ":" + std::to_string(offset)));
}

std::optional<std::size_t> read_cursor(List list, const std::string& cursor) {
  auto bytes = core::from_hex(cursor);
  if (!bytes) return std::nullopt;
  std::string text(bytes->begin(), bytes->end());
  std::string start = std::string(member_name(list)) + ":";
  if (!text.starts_with(start)) return std::nullopt;
  std::size_t offset = 0;
  const char* end = text.data() + text.size();
  auto [stop, fault] = std::from_chars(text.data() + start.size(), end, offset);
  if (fault != std::errc() || stop != end || offset == 0) return std::nullopt;
  return offset;
}

template <typename Entries>
std::optional<std::string> page_of(const Entries& entries, List list, std::size_t offset,
                                   std::size_t page_size) {
  if (offset > 0 && offset >= entries.size()) return std::nullopt;
  std::string out = "\"" + std::string(member_name(list)) + "\":[";
  std::size_t at = 0;
  for (const auto& [name, entry] : entries) {
    if (at >= offset && at < offset + page_size) {
      if (out.back() != '[') out += ',';
      out += entry.text;
    }
    ++at;
  }
  out += ']';
  if (offset + page_size < entries.size()) {
    out += R"(,"nextCursor":")" + make_cursor(list, offset + page_size) + "\"";
  }
  return out;
}

}  // namespace

json text_contents(const std::string& uri, const std::string& mime_type, const std::string& text) {
  return {{"contents", json::array({{{"uri", uri}, {"mimeType", mime_type}, {"text", text}}})}};
}

int not_found_code(const Responder& reply) {
  return reply.request_context().dialect() == Dialect::kModern
             ? static_cast<int>(rpc::StandardCode::kInvalidParams)
             : kResourceNotFound;
}

core::Result<std::function<core::Result<void>(const json&)>> schema_check(const std::string& schema,
                                                                          const std::string& name) {
  auto compiled = schema::CompiledSchema::compile(json::parse(schema, nullptr, false), name);
  if (!compiled) return compiled.error();
  return std::function<core::Result<void>(const json&)>(
      [compiled = std::move(*compiled)](const json& arguments) -> core::Result<void> {
        auto violation = compiled.validate(arguments);
        if (!violation) return {};
        std::string text = (violation->property.empty() ? "arguments" : violation->property) + " " +
                           violation->text;
        if (!violation->example.empty()) text += ", for example " + violation->example;
        auto code = violation->is_required && violation->keyword == "required"
                        ? core::ErrorCode::kMissingRequiredField
                        : core::ErrorCode::kInvalidFieldType;
        return core::Error{code, std::move(text), violation->pointer};
      });
}

void Registry::add(ServerTool tool) {
  std::string text = shown(tool);
  auto headers = header_arguments(tool.input_schema);
  auto shared = std::make_shared<const ServerTool>(std::move(tool));
  std::lock_guard lock(mutex_);
  headers_.erase(shared->name);
  if (!headers.empty()) headers_[shared->name] = std::move(headers);
  tools_[shared->name] = {shared, std::move(text)};
}

void Registry::add(ServerResource resource) {
  std::string text = shown(resource);
  auto shared = std::make_shared<const ServerResource>(std::move(resource));
  std::lock_guard lock(mutex_);
  (shared->is_template() ? templates_ : resources_)[shared->uri] = {shared, std::move(text)};
}

void Registry::add(ServerPrompt prompt) {
  std::string text = shown(prompt);
  auto shared = std::make_shared<const ServerPrompt>(std::move(prompt));
  std::lock_guard lock(mutex_);
  prompts_[shared->name] = {shared, std::move(text)};
}

void Registry::remove_tool(const std::string& name) {
  std::lock_guard lock(mutex_);
  tools_.erase(name);
  headers_.erase(name);
}

void Registry::remove_prompt(const std::string& name) {
  std::lock_guard lock(mutex_);
  prompts_.erase(name);
}

void Registry::resolve_tools(std::function<std::optional<std::string>(std::string_view)> resolver) {
  std::lock_guard lock(mutex_);
  resolver_ = std::move(resolver);
}

void Registry::complete_with(std::function<void(ServedRequest)> handler) {
  std::lock_guard lock(mutex_);
  completion_ = std::move(handler);
}

std::function<void(ServedRequest)> Registry::completion() const {
  std::lock_guard lock(mutex_);
  return completion_;
}

std::shared_ptr<const ServerTool> Registry::find_tool(std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto found = tools_.find(name);
  if (found == tools_.end() && resolver_) {
    if (auto meant = resolver_(name)) found = tools_.find(*meant);
  }
  return found == tools_.end() ? nullptr : found->second.thing;
}

std::vector<std::pair<std::string, std::string>> Registry::headers_of(std::string_view tool) const {
  std::lock_guard lock(mutex_);
  auto found = headers_.find(tool);
  if (found == headers_.end()) return {};
  return found->second;
}

std::shared_ptr<const ServerPrompt> Registry::find_prompt(std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto found = prompts_.find(name);
  return found == prompts_.end() ? nullptr : found->second.thing;
}

std::optional<Registry::FoundResource> Registry::find_resource(const std::string& uri) const {
  std::lock_guard lock(mutex_);
  if (auto found = resources_.find(uri); found != resources_.end())
    return FoundResource{found->second.thing, {}};
  for (const auto& [pattern, entry] : templates_) {
    if (auto variables = match(pattern, uri))
      return FoundResource{entry.thing, std::move(*variables)};
  }
  return std::nullopt;
}

std::optional<std::string> Registry::page(List list,
                                          const std::optional<std::string>& cursor) const {
  std::size_t offset = 0;
  if (cursor) {
    auto place = read_cursor(list, *cursor);
    if (!place) return std::nullopt;
    offset = *place;
  }
  std::lock_guard lock(mutex_);
  switch (list) {
    case List::kTools:
      return page_of(tools_, list, offset, page_size_);
    case List::kStrangersTools: {
      Entries<ServerTool> shown;
      for (const auto& [name, entry] : tools_)
        if (entry.thing->is_for_strangers) shown.emplace(name, entry);
      return page_of(shown, list, offset, page_size_);
    }
    case List::kPrompts:
      return page_of(prompts_, list, offset, page_size_);
    case List::kResources:
      return page_of(resources_, list, offset, page_size_);
    case List::kResourceTemplates:
      return page_of(templates_, list, offset, page_size_);
  }
  return std::nullopt;
}

bool Registry::has_subscribable_resources() const {
  std::lock_guard lock(mutex_);
  for (const auto* entries : {&resources_, &templates_}) {
    for (const auto& [uri, entry] : *entries) {
      if (entry.thing->is_subscribable) return true;
    }
  }
  return false;
}

}  // namespace league::mcp
