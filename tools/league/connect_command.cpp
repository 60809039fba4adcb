#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "common/agent/identity/registration.h"
#include "tools/league/client/mcp_access.h"
#include "tools/league/commands.h"
#include "tools/league/connect/connection.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

struct ConnectArguments {
  std::string manager;
  std::string bot;
  std::optional<std::uint16_t> listen;
  std::string name;
  std::string code;
  std::filesystem::path data = ".";
};

/// The name that a plain MCP server says of itself.
std::string name_of_server(const std::string& bot) {
  McpAccess::Options options;
  options.patience = std::chrono::seconds(10);
  auto access = McpAccess::open(bot, options);
  if (!access) return {};
  auto negotiated = (*access)->connect();
  return negotiated ? negotiated->server_name : std::string();
}

int connect_bot(const ConnectArguments& given, transport::link::StopSignal& stop) {
  connection::ConnectOptions options{.manager = {},
                                     .bot = {},
                                     .listen = given.listen,
                                     .name = given.name,
                                     .code = core::AuthToken(given.code),
                                     .file = {}};
  auto manager = parse_typed_endpoint(given.manager);
  if (!manager) return fail(manager.error());
  if (!transport::link::is_http(*manager))
    return fail("the address of the manager begins with http:// or https://");
  options.manager = std::move(*manager);
  if (given.bot.empty() && !given.listen)
    return fail("name the bot's endpoint with --bot, or let the bot register with --listen");
  if (!given.bot.empty()) {
    auto bot = parse_typed_endpoint(given.bot);
    if (!bot) return fail(bot.error());
    options.bot = std::move(*bot);
  }
  if (options.name.empty() && !given.listen) options.name = name_of_server(given.bot);
  if (options.name.empty() && !given.listen)
    return fail("the bot says no name of its own: give it one with --name");
  std::error_code failed;
  std::filesystem::create_directories(given.data, failed);
  const std::string file = given.listen ? "port_" + std::to_string(*given.listen)
                                        : agent::identity::temporary_id(options.name);
  options.file = given.data / ("connect_" + file + ".json");
  return connection::keep_connected(options, stop);
}

}  // namespace

void add_connect_command(CLI::App& app, std::function<int()>& chosen) {
  auto given = std::make_shared<ConnectArguments>();
  CLI::App* command = app.add_subcommand(
      "connect",
      "bring a bot that exists into a league that cannot call it, such as from behind "
      "a firewall");
  command
      ->add_option("MANAGER", given->manager,
                   "of the league manager, such as http://localhost:8000")
      ->required();
  command->add_option("--bot", given->bot,
                      "where the bot is called: http(s)://, ws(s)://, tcp://, unix:PATH or "
                      "stdio:COMMAND; plain MCP servers, too");
  command
      ->add_option("--listen", given->listen,
                   "for a bot that registers itself: listen on this port of this machine, which "
                   "is its league manager; --bot is then what it says itself")
      ->type_name("PORT");
  command->add_option("--name", given->name,
                      "the bot's name in the table of the league; a plain MCP server and a bot "
                      "that registers itself say one");
  command->add_option("--code", given->code, "the registration code, if the league asks for one");
  command->add_option("--data", given->data,
                      "directory for the file with the bot's id and token, with which it comes "
                      "back as the same player (the working directory)");
  command->footer(
      "Examples:\n"
      "  league connect http://league.example.org:8000 --bot stdio:\"python3 bot.py\" --name "
      "clever\n"
      "  league connect http://league.example.org:8000 --bot http://localhost:3001/mcp --name "
      "clever --code 7Q2M\n"
      "  league connect http://league.example.org:8000 --listen 8100 &\n"
      "  python3 bot.py --manager http://localhost:8100/mcp\n"
      "It opens the connection itself, comes back whenever that is lost, and ends with Ctrl-C.\n"
      "Exit codes: 0 it was stopped, 1 the manager refused the bot or another program has taken "
      "over its seat, 2 wrong usage.");
  agent::host::when_given(*command, chosen, [given] {
    // Not earlier: it keeps signals from ending the program.
    transport::link::StopSignal stop;
    return connect_bot(*given, stop);
  });
}

}  // namespace league::tools
