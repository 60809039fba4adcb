#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/mcp/answers.h"
#include "common/mcp/server.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"

namespace league::mcp {
namespace {

using nlohmann::json;

/// Cache hints for lists, which change only with the program or after a notification.
constexpr std::string_view kListHints = R"(,"ttlMs":60000,"cacheScope":"public")";

/// Takes a text out of the parameters; nothing where there is none.
std::optional<std::string> take_text(json& params, const char* name) {
  auto found = params.find(name);
  if (found == params.end() || !found->is_string()) return std::nullopt;
  std::string text = std::move(found->get_ref<std::string&>());
  params.erase(found);
  return text;
}

/// Takes `arguments` out of the parameters: an object, empty if they are missing; nothing if they
/// have another type.
std::optional<json> take_arguments(json& params) {
  auto found = params.find("arguments");
  if (found == params.end() || found->is_null()) return json::object();
  if (!found->is_object()) return std::nullopt;
  json arguments = std::move(*found);
  params.erase(found);
  return arguments;
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kMostShown = 64;
  return "\"" + core::excerpt(name, kMostShown) + "\"";
}

void fail_params(const Responder& reply, const std::string& why, const json& data = nullptr) {
  reply.refuse(rpc::StandardCode::kInvalidParams, why, 200, data);
}

/// Answers a call that reached no tool, and writes the error into the log's notes.
void fail_call(const Responder& reply, rpc::MessageNotes& notes, const core::Error& error) {
  notes.verdict = error.code;
  notes.fault = error.message;
  fail_params(reply, error.message, error_data(error));
}

/// Answers with a tool error, which the client's model can read and react to.
void fail_tool(const Responder& reply, const core::Error& error) {
  std::string text = error.message;
  if (!error.field.empty()) text += " (" + error.field + ")";
  reply.send({{"content", json::array({{{"type", "text"}, {"text", text}}})}, {"isError", true}});
}

}  // namespace

void Server::list(const Served& served, Registry::List list) {
  std::optional<std::string> cursor;
  if (served.request.params.is_object() && served.request.params.contains("cursor")) {
    const json& given = served.request.params["cursor"];
    if (!given.is_string())
      return fail_params(served.reply, "cursor must be a string from an earlier page");
    cursor = given.get<std::string>();
  }
  auto page = registry_.page(list, cursor);
  if (!page) return fail_params(served.reply, "cursor does not come from an earlier page");
  if (served.reply.request_context().dialect() == Dialect::kModern) page->append(kListHints);
  served.reply.send_text("{" + *page + "}");
}

void Server::list_tools(Served served) {
  // Only who has shook hands, or says its revision, can be a model's program. An agent asks
  // without, or on a bus, where only agents are.
  const bool is_agent =
      !served.is_declared || served.arrival.context.transport.type == rpc::TransportType::kNats;
  list(served, is_agent ? Registry::List::kTools : Registry::List::kStrangersTools);
}
void Server::list_prompts(Served served) { list(served, Registry::List::kPrompts); }
void Server::list_resources(Served served) { list(served, Registry::List::kResources); }
void Server::list_resource_templates(Served served) {
  list(served, Registry::List::kResourceTemplates);
}

void Server::call_tool(Served served) {
  json params = std::move(served.request.params);
  auto name = take_text(params, "name");
  if (!name) {
    return fail_call(served.reply, *served.arrival.notes,
                     {core::ErrorCode::kMissingRequiredField,
                      "tools/call needs the string params.name", "/params/name"});
  }
  auto tool = registry_.find_tool(*name);
  if (!tool) {
    return fail_call(
        served.reply, *served.arrival.notes,
        {core::ErrorCode::kUnknownMessageType,
         "there is no tool " + shown_name(*name) + "; tools/list names them", "/params/name"});
  }
  served.arrival.notes->is_secret = tool->is_secret;
  auto arguments = take_arguments(params);
  if (!arguments) return fail_params(served.reply, "params.arguments must be an object");
  served.arrival.notes->message_type = tool->name;
  if (tool->check) {
    if (auto good = tool->check(*arguments); !good) {
      served.arrival.notes->verdict = good.error().code;
      served.arrival.notes->fault = good.error().message;
      return fail_tool(served.reply, good.error());
    }
  }
  tool->handler({std::move(*name),
                 std::move(*arguments),
                 {std::move(params), std::move(served.arrival.context), served.arrival.notes,
                  std::move(served.reply), served.is_declared}});
}

void Server::get_prompt(Served served) {
  json params = std::move(served.request.params);
  auto name = take_text(params, "name");
  if (!name) return fail_params(served.reply, "prompts/get needs the string params.name");
  auto prompt = registry_.find_prompt(*name);
  if (!prompt) return fail_params(served.reply, "there is no prompt " + shown_name(*name));
  served.arrival.notes->is_secret = prompt->is_secret;
  auto arguments = take_arguments(params);
  if (!arguments) return fail_params(served.reply, "params.arguments must be an object");
  for (const auto& wanted : prompt->arguments) {
    if (wanted.is_required && !arguments->contains(wanted.name))
      return fail_params(served.reply, "the argument " + shown_name(wanted.name) + " is missing");
  }
  prompt->get({std::move(*name),
               std::move(*arguments),
               {std::move(params), std::move(served.arrival.context), served.arrival.notes,
                std::move(served.reply)}});
}

void Server::read_resource(Served served) {
  json params = std::move(served.request.params);
  auto uri = take_text(params, "uri");
  if (!uri) return fail_params(served.reply, "resources/read needs the string params.uri");
  auto found = registry_.find_resource(*uri);
  if (!found) {
    return served.reply.fail(not_found_code(served.reply),
                             "Resource not found: " + shown_name(*uri),
                             {{"uri", core::excerpt(*uri, core::kMostEchoed)}});
  }
  found->resource->read({std::move(*uri),
                         std::move(found->variables),
                         {std::move(params), std::move(served.arrival.context),
                          served.arrival.notes, std::move(served.reply)}});
}

void Server::complete(Served served) {
  auto handler = registry_.completion();
  if (!handler) {
    return served.reply.refuse(rpc::StandardCode::kMethodNotFound,
                               "this server offers no completions");
  }
  const json& params = served.request.params;
  if (!schema::field_at(params, "ref").is_object() ||
      !schema::field_at(params, "argument").is_object())
    return fail_params(served.reply, "completion/complete needs the objects ref and argument");
  handler({std::move(served.request.params), std::move(served.arrival.context),
           served.arrival.notes, std::move(served.reply)});
}

}  // namespace league::mcp
