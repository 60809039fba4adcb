#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/agent/bus/bus_options.h"
#include "common/transport/link/signals.h"

namespace league::tools::gateway {

/// The options of `league gateway`.
struct GatewayProgramOptions {
  std::string backend;
  std::string credential;  ///< empty: headers are passed on unchanged
  std::string bind = "127.0.0.1";
  std::uint16_t port = 0;
  bool serves_stdio = false;  ///< instead of the port
  agent::bus::BusOptions bus;  ///< for a backend on a message bus, and for serves_bus
  bool serves_bus = false;  ///< a session on the bus instead of the port
  std::vector<std::string> allow_hosts;
  std::vector<std::string> allow_origins;  ///< of web pages that may call
  std::vector<std::string> allow_tools;  ///< empty: all
  std::uint32_t call_timeout_ms = 30'000;
  std::uint32_t connect_timeout_ms = 5'000;
  std::uint32_t probe_timeout_ms = 2'000;
  std::size_t max_request_mib = 4;  ///< of one message of a client
  std::size_t max_result_mib = 16;  ///< of one message of the backend
  std::size_t max_own_sessions =
      0;  ///< see GatewayLinksOptions::most_own; 0: 32 for child processes, otherwise 1000
  std::filesystem::path logs;  ///< directory of gateway.log.jsonl; empty: no log
  bool json = false;
};

/// Runs a gateway until a signal arrives or, on stdio, until its client has gone. Returns the exit
/// code: 2 if it could not run, otherwise 0.
[[nodiscard]] int run_gateway(const GatewayProgramOptions& options,
                              transport::link::StopSignal& stop);

}  // namespace league::tools::gateway
