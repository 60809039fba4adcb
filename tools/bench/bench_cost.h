#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/core/result.h"
#include "tools/bench/bench_echo.h"

namespace league::tools::bench {

/// The cost of one call over one transport.
struct CallCost {
  double calls_per_second = 0;  ///< with 32 calls in flight
  double cpu_us = 0;  ///< processor time of both sides, in the same run
  double sequential_us = 0;  ///< one call after the other

  [[nodiscard]] double wall_us() const { return calls_per_second > 0 ? 1e6 / calls_per_second : 0; }
};

/// The comparison of one transport with HTTP and JSON.
struct CostComparison {
  CallCost http;
  CallCost other;

  /// The time per call relative to HTTP, with many calls in flight.
  [[nodiscard]] double ratio() const { return other.wall_us() / http.wall_us(); }
  [[nodiscard]] double cpu_ratio() const { return other.cpu_us / http.cpu_us; }
  [[nodiscard]] double sequential_ratio() const { return other.sequential_us / http.sequential_us; }
};

/// Measures echoes over HTTP and over `options.transport` in turn, `repeat` times each, with one
/// address and bodies of the usual size; returns the medians. The directory must exist.
[[nodiscard]] core::Result<CostComparison> compare_cost(EchoOptions options, int repeat);

[[nodiscard]] nlohmann::json cost_json(const CostComparison& cost);
[[nodiscard]] std::string cost_text(const CostComparison& cost, const std::string& transport);

}  // namespace league::tools::bench
