#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/agent/host/serving.h"
#include "common/core/result.h"
#include "tools/bench/bench_traffic.h"

namespace league::tools::bench {

/// The options of one process of the echo (hidden command `league-bench echo`).
struct EchoPeerOptions {
  std::string transport = "http";  ///< a name of agent::host::Serving
  std::string socket;  ///< path of the Unix socket; with several servers, each adds its number
  std::string bus;  ///< URL of the broker, instead of a transport
  /// `player`, `manager`, `referee`; empty: a child of a caller, which speaks stdio.
  std::string role;
  int ports = 1;  ///< number of servers; each answers every call with the same bytes
  std::uint64_t reply_bytes = 0;
  std::vector<std::string> targets;  ///< called in turn; none: only serve
  std::string seventh;  ///< every seventh call goes here, as a match's report does
  std::uint64_t calls = 0;
  std::uint64_t request_bytes = 0;
  int in_flight = 1;
};

/// With stdio: answers lines until stdin ends. Otherwise: serves, prints `ready URL ...`; with
/// targets, waits for a line on stdin, makes the calls and prints `done CALLS FIRST_NS LAST_NS`.
/// Ends when stdin does. Returns the exit code.
[[nodiscard]] int run_echo_peer(const EchoPeerOptions& options);

/// The speed of an empty JSON-RPC echo in place of the league's three processes.
struct EchoResult {
  std::uint64_t calls = 0;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all three processes

  [[nodiscard]] double calls_per_second() const {
    return seconds > 0 ? static_cast<double>(calls) / seconds : 0;
  }
};

/// The options of measure_echo.
struct EchoOptions {
  std::filesystem::path program;  ///< this executable
  std::filesystem::path directory;  ///< for the output of the processes
  agent::host::Serving transport = agent::host::Serving::kHttp;
  int players = 64;  ///< number of addresses that are called
  std::string bus = {};  ///< URL of the broker, for Serving::kNats
};

/// Repeats the calls of `traffic` without their meaning: the same caller and server, processes,
/// number of calls and mean sizes, and as many calls in flight as the league had on average.
[[nodiscard]] core::Result<EchoResult> measure_echo(const EchoOptions& options,
                                                    const LeagueTraffic& traffic);

}  // namespace league::tools::bench
