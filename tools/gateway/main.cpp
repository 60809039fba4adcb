// `league gateway`: a proxy in front of an MCP server with another transport.
#include <CLI/CLI.hpp>

#include "common/agent/host/option_table.h"
#include "common/agent/host/program_options.h"
#include "common/transport/link/signals.h"
#include "common/transport/link/socket.h"
#include "tools/gateway/gateway_program.h"
#include "tools/league/client/bus_link.h"

namespace league::tools::gateway {
namespace {

void add_limits(CLI::App& command, GatewayProgramOptions& options) {
  constexpr std::uint32_t kLongest = 86'400'000;
  command
      .add_option("--call-timeout", options.call_timeout_ms,
                  "milliseconds for one request of a client (30000)")
      ->check(CLI::Range(1U, kLongest));
  command
      .add_option("--connect-timeout", options.connect_timeout_ms,
                  "milliseconds within which the backend must be reachable (5000)")
      ->check(CLI::Range(1U, kLongest));
  command
      .add_option("--probe-timeout", options.probe_timeout_ms,
                  "milliseconds to wait for an answer to server/discover before trying the "
                  "handshake (2000, at most a quarter of --connect-timeout)")
      ->check(CLI::Range(1U, kLongest));
  command
      .add_option("--max-request", options.max_request_mib,
                  "maximum size of one message of a client in MiB (4); a larger one is refused")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1024}));
  command
      .add_option("--max-result", options.max_result_mib,
                  "maximum size of one answer of the backend in MiB (16); a request with a larger "
                  "answer fails")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1024}));
  command
      .add_option("--max-own-sessions", options.max_own_sessions,
                  "maximum number of backend sessions that belong to one client (32 child "
                  "processes, otherwise 1000)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
}

int run_command_line(int argc, char** argv, transport::link::StopSignal& stop) {
  GatewayProgramOptions options;
  CLI::App command("Makes an MCP server available over another transport or revision.",
                   "league gateway");
  command.set_version_flag("--version", std::string(LEAGUE_VERSION));
  command
      .add_option("--backend", options.backend,
                  "sse+http(s)://, http(s)://, ws(s)://, tcp://, unix:PATH, stdio:COMMAND, "
                  "nats:manager or nats:SESSION")
      ->required();
  auto* port =
      command.add_option("--port", options.port, "port to serve HTTP on (0: any free port)");
  command.add_flag("--stdio", options.serves_stdio, "serve standard input and output instead")
      ->excludes(port);
  command.add_flag("--on-bus", options.serves_bus, "serve a session on the bus instead")
      ->excludes(port);
  add_bus_options(command, options.bus);
  command.add_option("--bind", options.bind, "address to listen on (127.0.0.1)");
  command.add_option("--allow-host", options.allow_hosts,
                     "additional host name under which clients may call; may be repeated");
  agent::host::add_allow_origin(command, options.allow_origins);
  command.add_option("--allow-tool", options.allow_tools,
                     "tool that clients may see and call (default: all tools); may be repeated");
  command.add_option("--credential", options.credential,
                     "for the backend: header:NAME=VARIABLE, bearer:VARIABLE, query:NAME=VARIABLE "
                     "or passthrough; VARIABLE names an environment variable, @FILE a file");
  add_limits(command, options);
  command.add_option("--logs", options.logs, "directory for the conversation log");
  command.add_flag("--json", options.json, "print the address as one JSON object for machines");
  command.footer(
      "Examples:\n"
      "  league gateway --backend sse+http://localhost:3001/sse --port 8090 --allow-tool echo\n"
      "  API_KEY=... league gateway --backend sse+https://api.example.org/sse --port 8090 "
      "--credential header:X-API-Key=API_KEY\n"
      "  league gateway --backend stdio:\"python3 server.py\" --port 8090\n"
      "  league gateway --backend http://localhost:8000/mcp --stdio\n"
      "  league gateway --backend nats:SESSION --bus nats://localhost:4222 --port 8090\n"
      "  league gateway --backend http://localhost:8101/mcp --bus nats://localhost:4222 --on-bus\n"
      "Exit codes: 0 it ran until it was stopped, 2 it could not start.");
  if (auto code = agent::host::parse_arguments(command, argc, argv)) return *code;
  return run_gateway(options, stop);
}

}  // namespace
}  // namespace league::tools::gateway

int main(int argc, char** argv) {
  league::transport::link::StopSignal stop;
  league::transport::link::raise_file_limit();
  return league::tools::gateway::run_command_line(argc, argv, stop);
}
