#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/core/result.h"

namespace league::tools::bench {

/// The options of one process of the floor (hidden command `league-bench floor`).
struct FloorPeerOptions {
  std::string role;  ///< `referee`; anything else: a server
  int players_port = 0;  ///< for a referee: where the players listen, and the manager
  int manager_port = 0;
  int players = 64;
  int concurrent_matches = 32;
  double seconds = 1;
};

/// A server prints `ready PORT` and answers every request with the same bytes. A referee prints
/// `ready` once it is connected, waits for a line on stdin, plays matches and prints `done MATCHES
/// CALLS NANOSECONDS`. Both end when stdin does. Returns the exit code.
[[nodiscard]] int run_floor_peer(const FloorPeerOptions& options);

/// The speed of matches that consist of bytes only.
struct FloorResult {
  std::uint64_t matches = 0;
  std::uint64_t calls = 0;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all three processes

  [[nodiscard]] double matches_per_second() const {
    return seconds > 0 ? static_cast<double>(matches) / seconds : 0;
  }
  [[nodiscard]] double cpu_us_per_match() const {
    return matches > 0 ? cpu_seconds * 1e6 / static_cast<double>(matches) : 0;
  }
};

/// The options of measure_floor.
struct FloorOptions {
  std::filesystem::path program;  ///< this executable
  std::filesystem::path directory;  ///< for the output of the processes; is created
  int players = 64;
  int concurrent_matches = 32;
  double seconds = 1;
};

/// Plays matches between three processes, as a league does, but each of their seven HTTP calls is
/// always the same bytes over a loopback connection that stays open: no JSON, no validation, no
/// log, and one thread for each process. A league server that makes these calls does this work as
/// well. Fails if a process cannot be started or ends early.
[[nodiscard]] core::Result<FloorResult> measure_floor(const FloorOptions& options);

}  // namespace league::tools::bench
