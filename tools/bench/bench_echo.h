#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/agent/host/serving.h"
#include "common/core/result.h"
#include "tools/bench/bench_traffic.h"

namespace league::tools {

/// What one process of the echo does (hidden command `league-bench echo`).
struct EchoPeerOptions {
  std::string transport = "http";  ///< a name of agent::Serving
  std::string socket;  ///< of unix; several servers number theirs
  std::string bus;  ///< URL of the broker, in place of a transport
  /// `player`, `manager`, `referee`; empty: a child of a caller, which speaks stdio.
  std::string role;
  int ports = 1;  ///< so many servers, each answering every call with the same bytes
  std::uint64_t reply_bytes = 0;
  std::vector<std::string> targets;  ///< called in turn; none: only serve
  std::string seventh;  ///< every seventh call goes here, as a match's report does
  std::uint64_t calls = 0;
  std::uint64_t request_bytes = 0;
  int in_flight = 1;
};

/// Over stdio: answers lines until they end. Else: serves, says `ready URL ...`, and with targets
/// waits for a line on stdin, calls and says `done CALLS FIRST_NS LAST_NS`. Ends when stdin does.
/// The exit code.
[[nodiscard]] int run_echo_peer(const EchoPeerOptions& options);

/// What an empty JSON-RPC echo achieves where the league's three processes were.
struct EchoResult {
  std::uint64_t calls = 0;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all three processes

  [[nodiscard]] double calls_per_second() const {
    return seconds > 0 ? static_cast<double>(calls) / seconds : 0;
  }
};

/// How echoes are made.
struct EchoOptions {
  std::filesystem::path program;  ///< this executable
  std::filesystem::path directory;  ///< for what the processes say
  agent::Serving transport = agent::Serving::kHttp;
  int players = 64;  ///< addresses that are called
  std::string bus = {};  ///< URL of the broker, for Serving::kNats
};

/// Repeats the calls of `traffic` without their meaning: the same caller and server, processes,
/// number of calls and mean sizes, and as many calls in flight as the league had on average.
[[nodiscard]] core::Result<EchoResult> measure_echo(const EchoOptions& options,
                                                    const LeagueTraffic& traffic);

}  // namespace league::tools
