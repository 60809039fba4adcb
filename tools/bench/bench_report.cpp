#include "tools/bench/bench_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace league::tools::bench {
namespace {

using nlohmann::json;

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

/// `value` of all calls of a run, for one of them.
double per_call(const BenchRun& run, double value) {
  const auto calls = run.traffic.calls();
  return calls > 0 ? value / static_cast<double>(calls) : 0;
}

double per_match(const BenchRun& run, double value) {
  return run.traffic.matches > 0 ? value / static_cast<double>(run.traffic.matches) : 0;
}

std::uint64_t samples_of(const BenchRun& run) {
  std::uint64_t sum = 0;
  for (const auto& process : run.processes) {
    for (const auto& [kind, count] : process.samples) sum += count;
  }
  return sum;
}

/// Of all programs together.
WorkSeconds work_of_all(const BenchRun& run) {
  WorkSeconds sum;
  for (const auto& process : run.processes) {
    for (const auto& [kind, seconds] : process.work()) sum[kind] += seconds;
  }
  return sum;
}

json process_json(const BenchRun& run, const ProcessCost& process) {
  json work = json::object();
  for (const auto& [kind, seconds] : process.work())
    work[std::string(work_name(kind))] = rounded(per_call(run, seconds * 1e6), 0.01);
  const auto switches = [&](std::uint64_t count) {
    return rounded(per_call(run, static_cast<double>(count)), 0.001);
  };
  return {{"user_seconds", rounded(process.cpu.user_seconds, 0.01)},
          {"system_seconds", rounded(process.cpu.system_seconds, 0.01)},
          {"peak_memory_bytes", process.peak_memory},
          {"cpu_us_per_call", rounded(per_call(run, process.cpu.total() * 1e6), 0.01)},
          {"work_us_per_call", std::move(work)},
          {"voluntary_switches_per_call", switches(process.switches.voluntary)},
          {"involuntary_switches_per_call", switches(process.switches.involuntary)}};
}

json section(const BenchRun& run) {
  const auto& traffic = run.traffic;
  const double cpu = run.cpu_seconds();
  json out = {
      {"players", run.players},
      {"leagues", run.leagues},
      {"seconds", rounded(traffic.seconds, 0.001)},
      {"matches", traffic.matches},
      {"matches_per_second", rounded(traffic.matches_per_second(), 0.1)},
      {"calls", traffic.calls()},
      {"failed_calls", traffic.manager.failures + traffic.referee.failures},
      {"calls_per_second", rounded(traffic.calls_per_second(), 0.1)},
      {"floor_before_matches_per_second", rounded(run.floor_before.matches_per_second(), 0.1)},
      {"floor_after_matches_per_second", rounded(run.floor_after.matches_per_second(), 0.1)},
      {"ratio_to_floor", rounded(run.ratio_to_floor(), 0.0001)},
      {"echo_calls_per_second", rounded(run.echo.calls_per_second(), 0.1)},
      {"ratio", rounded(run.ratio(), 0.0001)},
      {"call_p50_us", traffic.call_p50_us},
      {"call_p99_us", traffic.call_p99_us},
      {"match_p50_us", traffic.match_p50_us},
      {"match_p99_us", traffic.match_p99_us},
      {"log_bytes_per_match", std::round(traffic.log_bytes_per_match())},
      {"cpu_seconds", rounded(cpu, 0.001)},
      {"cpu_us_per_call", rounded(per_call(run, cpu * 1e6), 0.01)},
      {"cpu_us_per_match", rounded(per_match(run, cpu * 1e6), 0.1)},
      {"floor_cpu_us_per_match", rounded(run.floor_cpu_us_per_match(), 0.1)},
      {"echo_cpu_seconds", rounded(run.echo.cpu_seconds, 0.001)},
      {"code_samples", samples_of(run)}};
  for (const auto& process : run.processes)
    out["processes"][process.name] = process_json(run, process);
  for (const auto& [kind, seconds] : work_of_all(run))
    out["cpu_share"][std::string(work_name(kind))] = cpu > 0 ? rounded(seconds / cpu, 0.0001) : 0;
  return out;
}

json single_match_json(const LeagueTraffic& traffic) {
  return {{"matches", traffic.matches},
          {"calls", traffic.referee.calls},
          {"call_p50_us", traffic.referee.p50_us},
          {"call_p99_us", traffic.referee.p99_us},
          {"match_p50_us", traffic.match_p50_us},
          {"match_p99_us", traffic.match_p99_us}};
}

template <typename... Values>
std::string line(const char* format, Values... values) {
  int size = std::snprintf(nullptr, 0, format, values...);
  std::string text(static_cast<std::size_t>(size), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

/// A row of the table: a name, a number for each process and their sum.
std::string row(std::string_view name, const std::vector<double>& values) {
  std::string text = line("  %-46s", std::string(name).c_str());
  double sum = 0;
  for (double value : values) {
    text += line(" %14.2f", value);
    sum += value;
  }
  return text + line(" %9.2f", sum);
}

/// Processor time and context switches per call, by process.
std::string cost_table(const BenchRun& run) {
  const auto values = [&](auto value_of) {
    std::vector<double> out;
    for (const auto& process : run.processes) out.push_back(per_call(run, value_of(process)));
    return out;
  };
  std::string text = line("  %-46s", "microseconds of processor time per call");
  for (const auto& process : run.processes) text += line(" %14s", process.name.c_str());
  text += "       all\n";
  const double all = run.cpu_seconds();
  for (const auto& [kind, seconds] : work_of_all(run)) {
    text += row(work_text(kind), values([kind = kind](const ProcessCost& process) {
                  auto work = process.work();
                  return work[kind] * 1e6;
                }));
    text += line(" %4.0f%%\n", all > 0 ? 100 * seconds / all : 0.0);
  }
  text += row("all", values([](const auto& process) { return process.cpu.total() * 1e6; })) + '\n';
  text += row("switches of a thread that waits, per call", values([](const auto& process) {
                return static_cast<double>(process.switches.voluntary);
              })) +
          '\n';
  text += row("switches of a thread that is interrupted", values([](const auto& process) {
                return static_cast<double>(process.switches.involuntary);
              })) +
          '\n';
  text += line("  %-46s", "most memory at any time, MB");
  for (const auto& process : run.processes) {
    text += line(" %14ld", process.peak_memory / 1'000'000);
  }
  return text + '\n';
}

std::string run_text(const std::string& title, const BenchRun& run) {
  const auto& traffic = run.traffic;
  std::string text = line("%d players, %s, %d %s\n", run.players, title.c_str(), run.leagues,
                          run.leagues == 1 ? "league" : "leagues");
  text += line("  %.0f matches/s (%llu matches in %.2f s), %.0f calls/s\n",
               traffic.matches_per_second(), static_cast<unsigned long long>(traffic.matches),
               traffic.seconds, traffic.calls_per_second());
  text += line("  floor %.0f matches/s before, %.0f after: ratio %.4f\n",
               run.floor_before.matches_per_second(), run.floor_after.matches_per_second(),
               run.ratio_to_floor());
  text += line("  echo %.0f calls/s: ratio %.2f\n", run.echo.calls_per_second(), run.ratio());
  text += line(
      "  a call: p50 %lld us, p99 %lld us; a match: p50 %lld us, p99 %lld us\n",
      static_cast<long long>(traffic.call_p50_us), static_cast<long long>(traffic.call_p99_us),
      static_cast<long long>(traffic.match_p50_us), static_cast<long long>(traffic.match_p99_us));
  text += line("  a match: %.0f us of processor time (floor: %.0f us), %.0f bytes of logs\n",
               per_match(run, run.cpu_seconds() * 1e6), run.floor_cpu_us_per_match(),
               traffic.log_bytes_per_match());
  return text + cost_table(run);
}

}  // namespace

json bench_json(const BenchReport& report) {
  json sizes = json::array();
  for (const auto& size : report.sizes) {
    sizes.push_back({{"players", size.league.players},
                     {"match_path", section(size.match_path)},
                     {"league", section(size.league)}});
  }
  const auto& first = report.sizes.front();
  json out = {{"transport", "http"},
              {"echo_calls_per_second", rounded(first.match_path.echo.calls_per_second(), 0.1)},
              {"match_path", section(first.match_path)},
              {"league", section(first.league)},
              {"single_match", single_match_json(report.single_match)},
              {"sizes", std::move(sizes)}};
  if (!report.no_samples.empty()) out["no_samples"] = report.no_samples;
  return out;
}

std::string bench_text(const BenchReport& report) {
  std::string text;
  for (const auto& size : report.sizes) {
    text += run_text("match path alone (no broadcasts)", size.match_path);
    text += run_text("whole league (all broadcasts)", size.league);
  }
  const auto& single = report.single_match;
  text += line(
      "one match at a time\n  a call of the referee: p50 %lld us, p99 %lld us (%llu calls)\n"
      "  a match: p50 %lld us, p99 %lld us\n",
      static_cast<long long>(single.referee.p50_us), static_cast<long long>(single.referee.p99_us),
      static_cast<unsigned long long>(single.referee.calls),
      static_cast<long long>(single.match_p50_us), static_cast<long long>(single.match_p99_us));
  if (report.no_samples.empty()) return text;
  return text + "what the programs do outside the kernel is not divided: " + report.no_samples +
         '\n';
}

}  // namespace league::tools::bench
