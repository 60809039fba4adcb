#pragma once

#include <chrono>
#include <string>

#include "common/transport/link/signals.h"

namespace league::tools {

/// What `league bench bots` plays with.
struct BenchBotsOptions {
  std::string bus;  ///< URLs of brokers
  std::string league;  ///< empty: whichever answers first
  std::string name = "bot";  ///< each bot's has its number behind
  int count = 64;
  std::chrono::milliseconds think{0};  ///< before each answer to a game call
};

/// Bots on a bus that cost the machine next to nothing, for whoever loads a league: they register
/// by docs/distributed.md, answer what they are asked, check nothing and keep nothing, unlike
/// `player`. Says `ready` on stdout when all are registered; plays until a signal comes. The exit
/// code.
[[nodiscard]] int run_bench_bots(const BenchBotsOptions& options, transport::StopSignal& stop);

}  // namespace league::tools
