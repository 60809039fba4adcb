#include "tools/league/gateway_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/league/bus_link.h"
#include "tools/league/gateway_program.h"

namespace league::tools {
namespace {

struct GatewayArguments {
  GatewayProgramOptions program;
  std::uint32_t call_timeout_ms = 30'000;
  std::uint32_t connect_timeout_ms = 5'000;
};

void add_limits(CLI::App& command, GatewayArguments& arguments) {
  constexpr std::uint32_t kLongest = 86'400'000;
  command
      .add_option("--call-timeout", arguments.call_timeout_ms,
                  "milliseconds for one request of a client (30000)")
      ->check(CLI::Range(1U, kLongest));
  command
      .add_option("--connect-timeout", arguments.connect_timeout_ms,
                  "milliseconds until the backend must be there (5000)")
      ->check(CLI::Range(1U, kLongest));
}

}  // namespace

void add_gateway_command(CLI::App& app, transport::StopSignal& stop, std::function<int()>& chosen) {
  auto arguments = std::make_shared<GatewayArguments>();
  GatewayProgramOptions& options = arguments->program;
  CLI::App* command = app.add_subcommand(
      "gateway", "stand in front of an MCP server that speaks another transport");
  command
      ->add_option("--backend", options.backend,
                   "sse+http(s)://, http(s)://, ws(s)://, tcp://, unix:PATH, stdio:COMMAND, "
                   "nats:manager or nats:SESSION")
      ->required();
  auto* port = command->add_option("--port", options.port, "serve HTTP here (0: any that is free)");
  command->add_flag("--stdio", options.serves_stdio, "serve the standard streams instead")
      ->excludes(port);
  command->add_flag("--on-bus", options.serves_bus, "serve a session on the bus instead")
      ->excludes(port);
  add_bus_options(*command, options.bus);
  command->add_option("--bind", options.bind, "address to listen at (127.0.0.1)");
  command->add_option("--allow-host", options.allow_hosts,
                      "name besides localhost that clients may use; may be repeated");
  command->add_option("--allow-tool", options.allow_tools,
                      "tool that clients may see and call, and no other; may be repeated");
  command->add_option("--credential", options.credential,
                      "for the backend: header:NAME=VARIABLE, bearer:VARIABLE, query:NAME=VARIABLE "
                      "or passthrough; VARIABLE is of the environment, @FILE a file");
  add_limits(*command, *arguments);
  command->add_option("--logs", options.logs, "directory for the conversation log");
  command->add_flag("--json", options.json, "print the address as one JSON object for machines");
  command->footer(
      "Examples:\n"
      "  league gateway --backend sse+http://localhost:3001/sse --port 8090 --allow-tool echo\n"
      "  API_KEY=... league gateway --backend sse+https://api.example.org/sse --port 8090 "
      "--credential header:X-API-Key=API_KEY\n"
      "  league gateway --backend stdio:\"python3 server.py\" --port 8090\n"
      "  league gateway --backend http://localhost:8000/mcp --stdio\n"
      "  league gateway --backend nats:SESSION --bus nats://localhost:4222 --port 8090\n"
      "  league gateway --backend http://localhost:8101/mcp --bus nats://localhost:4222 --on-bus\n"
      "Exit codes: 0 it ran until it was stopped, 2 it could not.");
  command->callback([arguments, &stop, &chosen] {
    chosen = [arguments, &stop] {
      arguments->program.call_timeout = std::chrono::milliseconds(arguments->call_timeout_ms);
      arguments->program.connect_timeout = std::chrono::milliseconds(arguments->connect_timeout_ms);
      return run_gateway(arguments->program, stop);
    };
  });
}

}  // namespace league::tools
