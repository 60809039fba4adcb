#include "tools/bench/bench_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace league::tools::bench {
namespace {

using nlohmann::json;

double cpu_of(const BenchRun& run) {
  double sum = 0;
  for (const auto& process : run.processes) sum += process.cpu.total();
  return sum;
}

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

json section(const BenchRun& run) {
  const auto& traffic = run.traffic;
  json out = {{"matches", traffic.matches},
              {"matches_per_second", rounded(traffic.matches_per_second(), 0.1)},
              {"calls", traffic.calls()},
              {"failed_calls", traffic.manager.failures + traffic.referee.failures},
              {"calls_per_second", rounded(traffic.calls_per_second(), 0.1)},
              {"echo_calls_per_second", rounded(run.echo.calls_per_second(), 0.1)},
              {"ratio", rounded(run.ratio(), 0.0001)},
              {"call_p50_us", traffic.call_p50_us},
              {"call_p99_us", traffic.call_p99_us},
              {"match_p50_us", traffic.match_p50_us},
              {"match_p99_us", traffic.match_p99_us},
              {"cpu_seconds", rounded(cpu_of(run), 0.001)},
              {"echo_cpu_seconds", rounded(run.echo.cpu_seconds, 0.001)}};
  for (const auto& process : run.processes) {
    out["processes"][process.name] = {{"user_seconds", process.cpu.user_seconds},
                                      {"system_seconds", process.cpu.system_seconds},
                                      {"peak_memory_bytes", process.peak_memory}};
  }
  double all = cpu_of(run);
  for (const auto& stage : all_stages(run)) {
    out["cpu_share"][stage.name] = all > 0 ? rounded(stage.cpu_seconds / all, 0.0001) : 0;
  }
  return out;
}

template <typename... Values>
std::string line(const char* format, Values... values) {
  int size = std::snprintf(nullptr, 0, format, values...);
  std::string text(static_cast<std::size_t>(size), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

}  // namespace

std::vector<StageCost> all_stages(const BenchRun& run) {
  std::vector<StageCost> stages = run.stages;
  double echo_per_call =
      run.echo.calls > 0 ? run.echo.cpu_seconds / static_cast<double>(run.echo.calls) : 0;
  stages.push_back({"transport", echo_per_call * static_cast<double>(run.traffic.calls())});
  double left = cpu_of(run);
  for (const auto& stage : stages) left -= stage.cpu_seconds;
  stages.push_back({"other", std::max(0.0, left)});
  return stages;
}

json bench_json(const BenchRun& match_path, const BenchRun& league) {
  return {{"transport", "http"},
          {"echo_calls_per_second", rounded(match_path.echo.calls_per_second(), 0.1)},
          {"match_path", section(match_path)},
          {"league", section(league)}};
}

std::string bench_text(const std::string& title, const BenchRun& run) {
  const auto& traffic = run.traffic;
  std::string text = title + "\n";
  text += line("  %.0f matches/s (%llu matches in %.2f s), %.0f calls/s\n",
               traffic.matches_per_second(), static_cast<unsigned long long>(traffic.matches),
               traffic.seconds, traffic.calls_per_second());
  text += line("  echo %.0f calls/s, ratio %.2f\n", run.echo.calls_per_second(), run.ratio());
  text += line(
      "  a call: p50 %lld us, p99 %lld us; a match: p50 %lld us, p99 %lld us\n",
      static_cast<long long>(traffic.call_p50_us), static_cast<long long>(traffic.call_p99_us),
      static_cast<long long>(traffic.match_p50_us), static_cast<long long>(traffic.match_p99_us));
  double all = cpu_of(run);
  for (const auto& process : run.processes) {
    text +=
        line("  %-15s %6.2f s user %6.2f s system, at most %ld MB\n", process.name.c_str(),
             process.cpu.user_seconds, process.cpu.system_seconds, process.peak_memory / 1'000'000);
  }
  text += "  share of the CPU:";
  for (const auto& stage : all_stages(run)) {
    text += line(" %s %.0f%%", stage.name.c_str(), all > 0 ? 100 * stage.cpu_seconds / all : 0.0);
  }
  return text +
         "\n  (processes: counted by the system; stages: measured alone, times how often they "
         "occurred;\n   transport: the echo's; other: the rest)\n";
}

}  // namespace league::tools::bench
