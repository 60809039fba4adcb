#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/agent/bus/bus_options.h"
#include "common/agent/host/agent_host.h"
#include "common/agent/host/serving.h"
#include "common/agent/runtime/config_file.h"
#include "common/agent/runtime/settings.h"
#include "common/core/result.h"
#include "common/envelope/mode.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::agent::host {

/// The options that all programs of the league share (docs/operating_in_a_network.md).
struct ProgramOptions {
  std::uint16_t port = 0;
  std::string bind_address = "127.0.0.1";
  std::string advertise;  ///< URL under which peers reach this program, whose host is served;
                          ///< empty: from bind address and port
  std::vector<std::string> allow_hosts;
  std::vector<std::string> allow_origins;  ///< origins of other web pages that may call us
  std::string mode = "open";
  runtime::ConfigFile config;  ///< given with --config; parse_command_line reads it
  std::string log_level = "info";
  std::string log_format = "text";  ///< or `json`
  std::filesystem::path logs = "logs";
  std::string schema_directory;
  std::string transport = "http";  ///< a name of Serving
  std::filesystem::path socket;  ///< of Serving::kUnix
  bus::BusOptions bus;
  bool may_be_child = false;  ///< --transport stdio: only for players, as all others are called
  bool listens_beside_bus = false;  ///< only for a manager: on a bus it also accepts other calls

  /// How others can reach this program; the command line accepts no other names.
  [[nodiscard]] Serving serving() const;
  [[nodiscard]] envelope::Mode parsed_mode() const;
  /// The limits of the configuration file; the defaults for all that it does not name.
  [[nodiscard]] core::Result<runtime::Settings> settings() const;
  [[nodiscard]] AgentHostOptions host_options() const;
  /// The URL of the manager: `given`, or, on a bus, the URL that stands for discovery.
  [[nodiscard]] std::string manager_url(const std::string& given) const;
  /// Where to listen, and with which limits; `at_socket` as in contact_endpoint.
  [[nodiscard]] ListenOptions listen_options(const runtime::Settings& settings,
                                             std::uint16_t at_port,
                                             const std::filesystem::path& at_socket = {}) const;
  /// `http://localhost:PORT/mcp`, the corresponding URL of another transport, or the URL given with
  /// --advertise. `at_socket` is the agent's own socket if a process has several.
  [[nodiscard]] std::string contact_endpoint(std::uint16_t actual_port,
                                             const std::filesystem::path& at_socket = {}) const;
  /// Whether `count` ports are free, from `port` on; always true where they may be any ports.
  [[nodiscard]] core::Result<void> check_ports(int count) const;
};

/// Adds the shared options to a program's command line.
void add_program_options(CLI::App& app, ProgramOptions& options);

/// Adds `--config`, the file with which parse_arguments completes a command line.
void add_config(CLI::App& app);

/// Adds `--allow-origin`, which stores origins in the form that transport::http::parse_origin
/// returns.
void add_allow_origin(CLI::App& app, std::vector<std::string>& origins);

/// Parses the command line, with the configuration file that it names, into `options`, and sets up
/// the operations log on stderr. Returns an exit code (0 after --help or --version, 2 after a
/// mistake), or nothing if the program should run.
[[nodiscard]] std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv,
                                                    ProgramOptions& options);

/// Prints to stderr why the program ends, and returns the exit code 2.
int fail(const core::Error& error);

/// Tells the process that started this program that it now serves: one line on stdout, `ready
/// http://localhost:8101/mcp P01`.
void announce_ready(const std::string& endpoint, const std::string& id);

}  // namespace league::agent::host
