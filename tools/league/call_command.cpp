#include "common/schema/json_fields.h"
#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/core/timer.h"
#include "common/mcp/client/client_calls.h"
#include "common/mcp/client/elicitation.h"
#include "common/rpc/json_text.h"
#include "common/transport/caller/any_connector.h"
#include "common/transport/link/event_loop.h"
#include "tools/league/client/gateway_credential.h"
#include "tools/league/client/mcp_access.h"
#include "tools/league/client/tool_arguments.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using core::Error;
using nlohmann::json;

struct CallOptions {
  std::string url;
  std::string tool;
  std::vector<std::string> words;
  std::string credential;
  std::string token_file;
  std::uint32_t timeout_ms = 30'000;
  std::uint32_t probe_ms = 2'000;
  std::vector<std::string> answers;
  bool accepts_defaults = false;
  bool list = false;
  bool json = false;
  bool verbose = false;
  agent::bus::BusOptions bus;
};

std::string first_line(const json& tool) {
  const std::string& text = schema::text_at(tool, "description");
  return text.substr(0, text.find('\n')).substr(0, 200);
}

int list_tools(McpAccess& access, const CallOptions& options) {
  auto tools = access.wait(mcp::client::list_tools(&access.session(), access.deadline()));
  if (!tools) return fail(access.scrubbed(tools.error()), 2);
  if (options.json) {
    print_json(json{{"tools", *tools}});
    return 0;
  }
  std::size_t width = 0;
  for (const auto& tool : *tools) width = std::max(width, tool.value("name", "").size());
  for (const auto& tool : *tools) {
    std::string name = safe_text(tool.value("name", ""));
    std::cout << name << std::string(width + 2 - std::min(width, name.size()), ' ')
              << safe_text(first_line(tool)) << '\n';
  }
  return 0;
}

int call_one_tool(McpAccess& access, const CallOptions& options, const json& arguments,
                  const std::optional<json>& given) {
  // The tool's schema marks which arguments are header fields, too. A failure is ignored.
  if (access.has_argument_headers())
    (void)access.wait(mcp::client::list_tools(&access.session(), access.deadline()));
  mcp::client::ToolCall call{.name = options.tool,
                             .arguments = rpc::to_json_text(arguments),
                             .deadline = access.deadline()};
  if (options.verbose) {
    call.on_progress = [](const json& params) {
      std::cerr << "progress: " << safe_text(rpc::to_json_text(params)) << '\n';
    };
  }
  if (given) {
    call.answer_question = [&given](const std::string& method, const json& params) {
      return mcp::client::answer_question(method, params, *given);
    };
  }
  const auto answer = access.wait(mcp::client::call_tool(&access.session(), std::move(call)));
  if (answer.error) return fail(access.scrubbed(*answer.error), answer.is_unfinished ? 1 : 2);
  if (answer.response.error) return fail(mcp::client::server_error(*answer.response.error), 1);
  const json& result = answer.response.result;
  const bool is_error = schema::field_at(result, "isError") == true;
  if (options.json) {
    print_json(result);
  } else {
    (is_error ? std::cerr : std::cout) << readable_result(result) << std::flush;
  }
  return is_error ? 1 : 0;
}

int call(const CallOptions& options) {
  if (options.list != options.tool.empty()) {
    return fail({core::ErrorCode::kInvalidFieldValue,
                 options.list ? "--list takes no tool" : "name a tool, or use --list",
                 {}},
                2);
  }
  auto arguments = parse_tool_arguments(options.words);
  if (!arguments) return fail(arguments.error());
  if (!options.token_file.empty()) {
    std::ifstream file(options.token_file);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (auto added = add_identity(*arguments, text); !added) return fail(added.error());
  }
  std::optional<json> given;
  if (options.accepts_defaults || !options.answers.empty()) {
    auto answers = parse_tool_arguments(options.answers);
    if (!answers) return fail(answers.error());
    given = std::move(*answers);
  }
  McpAccess::Options access_options;
  access_options.answers = given;
  access_options.credential = options.credential;
  access_options.patience = std::chrono::milliseconds(options.timeout_ms);
  access_options.longest_probe = std::chrono::milliseconds(options.probe_ms);
  access_options.shows_child_errors = true;
  access_options.bus = options.bus;
  auto access = McpAccess::open(options.url, access_options);
  if (!access) return fail(access.error());
  auto negotiated = (*access)->connect();
  if (!negotiated) return fail((*access)->scrubbed(negotiated.error()), 2);
  if (options.verbose) {
    std::cerr << "MCP " << negotiated->revision << (negotiated->is_modern ? " (stateless)" : "")
              << " over " << (*access)->transport_name() << " with "
              << safe_text(negotiated->server_name) << ' ' << safe_text(negotiated->server_version)
              << '\n';
  }
  return options.list ? list_tools(**access, options)
                      : call_one_tool(**access, options, *arguments, given);
}

}  // namespace

void add_call_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<CallOptions>();
  CLI::App* command = app.add_subcommand("call", "call a tool of any MCP server");
  command
      ->add_option("URL", options->url,
                   "http(s)://, sse+http(s)://, ws(s)://, tcp://, unix:PATH, stdio:COMMAND, "
                   "nats:manager or nats:SESSION")
      ->required();
  command->add_option("TOOL", options->tool, "the tool's name");
  command->add_option("ARGS", options->words, "one JSON object, or key=value ...");
  command->add_flag("--list", options->list, "list the server's tools");
  command
      ->add_option("--answer", options->answers,
                   "FIELD=VALUE for a form that the server may ask for (elicitation); may be "
                   "repeated. Other fields get their defaults")
      ->allow_extra_args(false);
  command->add_flag("--accept-defaults", options->accepts_defaults,
                    "answer forms that the server asks for (elicitation) with their defaults");
  command->add_flag("--json", options->json, "print the result as one JSON object for machines");
  command->add_flag("--verbose", options->verbose, "print negotiation and progress on stderr");
  command->add_option("--timeout", options->timeout_ms, "milliseconds for the whole call (30000)")
      ->check(CLI::Range(1U, 86'400'000U));
  command
      ->add_option("--probe-timeout", options->probe_ms,
                   "milliseconds to wait for an answer to server/discover before trying the "
                   "handshake (2000, at most a quarter of --timeout)")
      ->check(CLI::Range(1U, 86'400'000U));
  command->add_option(
      "--credential", options->credential,
      "header:NAME=VARIABLE, bearer:VARIABLE or query:NAME=VARIABLE; VARIABLE names "
      "an environment variable, @FILE a file");
  command
      ->add_option("--token", options->token_file,
                   "file in which an agent stores its id and token; adds sender and auth_token to "
                   "the arguments")
      ->check(CLI::ExistingFile);
  add_bus_options(*command, options->bus);
  command->footer(
      "Examples:\n"
      "  league call localhost:8000 get_standings limit=3\n"
      "  league call localhost:8000 get_my_report --token python_bot.json\n"
      "  league call stdio:\"python3 bot.py\" choose_parity '{\"match_id\":\"R1M1\"}'\n"
      "  league call sse+http://localhost:3001/sse --list\n"
      "  league call nats:manager get_league_status --bus nats://localhost:4222\n"
      "Exit codes: 0 success, 1 the tool or the server returned an error, 2 wrong usage or the "
      "server cannot be reached.");
  agent::host::when_given(*command, chosen, [options] { return call(*options); });
}

}  // namespace league::tools
