#include "tools/bench/bench_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace league::tools::bench {
namespace {

constexpr std::uint64_t kCalls = 20'000;
constexpr std::uint64_t kSequentialCalls = 4'000;
constexpr std::uint64_t kBodyBytes = 468;  // of a CHOOSE_PARITY_CALL
constexpr int kInFlight = 32;

LeagueTraffic calls(std::uint64_t count, int in_flight) {
  LeagueTraffic traffic;
  traffic.seconds = 1;
  traffic.referee.calls = count;
  traffic.referee.request_bytes = count * kBodyBytes;
  traffic.referee.reply_bytes = count * kBodyBytes;
  traffic.referee.busy_seconds = in_flight;  // so that the echo has this many in flight
  return traffic;
}

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Samples {
  std::vector<double> calls_per_second;
  std::vector<double> cpu_us;
  std::vector<double> sequential_us;

  core::Result<void> add(const EchoOptions& options) {
    auto busy = measure_echo(options, calls(kCalls, kInFlight));
    if (!busy) return busy.error();
    calls_per_second.push_back(busy->calls_per_second());
    cpu_us.push_back(busy->cpu_seconds * 1e6 / static_cast<double>(busy->calls));
    auto single = measure_echo(options, calls(kSequentialCalls, 1));
    if (!single) return single.error();
    sequential_us.push_back(single->seconds * 1e6 / static_cast<double>(single->calls));
    return {};
  }

  [[nodiscard]] CallCost medians() const {
    return {median(calls_per_second), median(cpu_us), median(sequential_us)};
  }
};

double to_hundredths(double value) { return std::round(value * 100) / 100; }

nlohmann::json side(const CallCost& cost) {
  return {{"calls_per_second", std::round(cost.calls_per_second)},
          {"call_us", to_hundredths(cost.wall_us())},
          {"cpu_us", to_hundredths(cost.cpu_us)},
          {"sequential_us", to_hundredths(cost.sequential_us)}};
}

}  // namespace

core::Result<CostComparison> compare_cost(EchoOptions options, int repeat) {
  const agent::host::Serving other = options.transport;
  options.players = 1;
  Samples http;
  Samples compared;
  for (int i = 0; i < repeat; ++i) {
    options.transport = agent::host::Serving::kHttp;
    auto bus = std::exchange(options.bus, "");
    if (auto added = http.add(options); !added) return added.error();
    options.transport = other;
    options.bus = std::move(bus);
    if (auto added = compared.add(options); !added) return added.error();
  }
  return CostComparison{http.medians(), compared.medians()};
}

nlohmann::json cost_json(const CostComparison& cost) {
  return {{"http", side(cost.http)},
          {"transport", side(cost.other)},
          {"ratio", to_hundredths(cost.ratio())},
          {"cpu_ratio", to_hundredths(cost.cpu_ratio())},
          {"sequential_ratio", to_hundredths(cost.sequential_ratio())}};
}

std::string cost_text(const CostComparison& cost, const std::string& transport) {
  constexpr std::size_t kLongest = 400;
  std::string text(kLongest, '\0');
  int size = std::snprintf(text.data(), text.size(),
                           "cost of a call over %s, and over http\n"
                           "  with 32 in flight %.1f us (%.0f calls/s), http %.1f us: ratio %.2f\n"
                           "  processor time of both sides %.1f us, http %.1f us: ratio %.2f\n"
                           "  one after the other %.1f us, http %.1f us: ratio %.2f\n",
                           transport.c_str(), cost.other.wall_us(), cost.other.calls_per_second,
                           cost.http.wall_us(), cost.ratio(), cost.other.cpu_us, cost.http.cpu_us,
                           cost.cpu_ratio(), cost.other.sequential_us, cost.http.sequential_us,
                           cost.sequential_ratio());
  text.resize(std::min(kLongest - 1, static_cast<std::size_t>(std::max(size, 0))));
  return text;
}

}  // namespace league::tools::bench
