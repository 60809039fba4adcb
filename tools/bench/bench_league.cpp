#include "tools/bench/bench_league.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/agent/runtime/config_file.h"
#include "tools/bench/bench_sampler.h"

namespace league::tools::bench {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;

constexpr std::chrono::milliseconds kStartPatience{60'000};
constexpr std::chrono::milliseconds kBetweenLooks{100};
constexpr std::chrono::minutes kLeaguePatience{5};
constexpr std::chrono::milliseconds kMatchPatience{100};  // for each match in addition

/// `ready URL ID` → URL.
Result<std::string> ready_url(BenchChild& child) {
  auto line = child.read_line(kStartPatience);
  if (!line) return line.error();
  std::size_t begin = line->find(' ') + 1;
  return line->substr(begin, line->find(' ', begin) - begin);
}

/// What a program has used since this object was made.
class Meter {
 public:
  /// `sampler` may be null.
  Meter(const BenchChild& child, CodeSampler* sampler)
      : child_(child), sampler_(sampler), cpu_(child.cpu()), switches_(child.switches()) {
    if (sampler_ != nullptr) sampler_->restart(child.pid());
  }

  [[nodiscard]] ProcessCost cost(std::string name) const {
    const CpuTime cpu = child_.cpu();
    const ThreadSwitches switches = child_.switches();
    return {.name = std::move(name),
            .cpu = {cpu.user_seconds - cpu_.user_seconds, cpu.system_seconds - cpu_.system_seconds},
            .peak_memory = child_.peak_memory(),
            .switches = {since(switches_.voluntary, switches.voluntary),
                         since(switches_.involuntary, switches.involuntary)},
            .samples = sampler_ != nullptr ? sampler_->work_of(child_.pid()) : WorkCounts{}};
  }

 private:
  /// Not negative, though the switches of a thread that has ended are not counted any more.
  static std::uint64_t since(std::uint64_t before, std::uint64_t now) {
    return now - std::min(before, now);
  }

  const BenchChild& child_;
  CodeSampler* const sampler_;
  const CpuTime cpu_;
  const ThreadSwitches switches_;
};

class League {
 public:
  League(const BenchLeagueOptions& options, transport::link::StopSignal& stop)
      : options_(options), stop_(stop) {
    std::filesystem::create_directories(options.directory);
    config_ = options.directory / "league.toml";
    nlohmann::json limits = {{"league", {{"broadcasts", options.broadcasts ? 1 : 0}}}};
    if (options.is_plain) limits["log"] = {{"verifiable", 0}};
    std::ofstream(config_) << agent::runtime::config_text(limits);
    if (options.sample_seconds <= 0) return;
    if (auto sampler = CodeSampler::start()) sampler_.emplace(*std::move(sampler));
  }

  Result<std::vector<ProcessCost>> play() {
    std::vector<std::string> words{"--players", std::to_string(options_.players), "--referees",
                                   "1"};
    // Even an ephemeral league writes its keys, which must not go to the current directory.
    if (options_.is_plain)
      words.insert(words.end(), {"--ephemeral", "--data", (options_.directory / "data").string()});
    if (options_.transport == agent::host::Serving::kUnix)
      words.insert(words.end(), {"--endpoints", "local,unix:" + options_.sockets.string() + "/"});
    auto manager = start("league_manager", with_data(std::move(words)));
    if (!manager) return manager.error();
    auto url = ready_url(*manager);
    if (!url) return url.error();
    words = {"--count",    std::to_string(options_.players),
             "--manager",  *url,
             "--strategy", "random,even,odd,alternate,frequency,opposite"};
    if (!options_.commits) words.emplace_back("--no-commitments");
    auto players = start("player", with_data(std::move(words)));
    if (!players) return players.error();
    for (int i = 0; i < options_.players; ++i) {
      if (auto ready = ready_url(*players); !ready) return ready.error();
    }
    const Meter manager_meter(*manager, sampler());
    const Meter player_meter(*players, sampler());
    // --drain, because the last GAME_OVERs may be on their way when the league is over: they would
    // count as failed calls.
    auto referee = start("referee", with_data({"--manager", *url, "--drain", "5", "--max-matches",
                                               std::to_string(options_.concurrent_matches)}));
    if (!referee) return referee.error();
    if (auto ready = ready_url(*referee); !ready) return ready.error();
    const Meter referee_meter(*referee, sampler());
    if (auto ended = wait_for_end(*manager); !ended) return ended.error();
    return std::vector<ProcessCost>{manager_meter.cost("league_manager"),
                                    player_meter.cost("player"), referee_meter.cost("referee")};
  }

 private:
  [[nodiscard]] CodeSampler* sampler() { return sampler_ ? &*sampler_ : nullptr; }

  /// Waits until the manager has told all agents that the league is over, or until there are enough
  /// samples. Its state is COMPLETED before that, and calls to programs that are stopped too early
  /// would count as failed.
  Result<void> wait_for_end(BenchChild& manager) {
    const auto matches = options_.players * (options_.players - 1) / 2;
    const auto now = std::chrono::steady_clock::now();
    const auto until = now + kLeaguePatience + matches * kMatchPatience;
    const auto enough = sampler_ ? now + std::chrono::nanoseconds(static_cast<std::int64_t>(
                                             options_.sample_seconds * 1e9))
                                 : until;
    while (std::chrono::steady_clock::now() < until) {
      const auto line = manager.read_line(kBetweenLooks);
      if (sampler_) sampler_->collect();
      if (std::chrono::steady_clock::now() >= enough) return {};
      if (line && line->starts_with("finished ")) return {};
      if (!line && line.error().code != ErrorCode::kTimeout) return line.error();
      if (stop_.wait_for(std::chrono::milliseconds(0)) >= 0)
        return Error{ErrorCode::kShuttingDown, "stopped by a signal", {}};
    }
    return Error{ErrorCode::kTimeout, "the league did not end in time", {}};
  }

  /// Adds a data directory unless the league is plain, so that the program also writes its files.
  [[nodiscard]] std::vector<std::string> with_data(std::vector<std::string> words) const {
    if (!options_.is_plain)
      words.insert(words.end(), {"--data", (options_.directory / "data").string()});
    return words;
  }

  Result<BenchChild> start(const std::string& program, std::vector<std::string> arguments) {
    for (const auto& word :
         {std::string("--port"), std::string("0"), std::string("--config"), config_.string(),
          std::string("--logs"), (options_.directory / "logs").string()}) {
      arguments.push_back(word);
    }
    const bool is_outward = options_.transport == agent::host::Serving::kOutward;
    if (is_outward && program == "player") {
      arguments.insert(arguments.end(), {"--transport", "outward"});
    } else if (!is_outward && options_.transport != agent::host::Serving::kHttp) {
      arguments.insert(arguments.end(),
                       {"--transport", std::string(agent::host::serving_name(options_.transport)),
                        "--socket", (options_.sockets / (program + ".sock")).string()});
      if (program == "referee")
        arguments.insert(arguments.end(),
                         {"--endpoints", "any,unix:" + options_.sockets.string() + "/"});
    }
    return BenchChild::start(options_.programs / program, arguments,
                             options_.directory / (program + ".err"));
  }

  const BenchLeagueOptions& options_;
  transport::link::StopSignal& stop_;
  std::filesystem::path config_;
  std::optional<CodeSampler> sampler_;
};

}  // namespace

void ProcessCost::add(const ProcessCost& other) {
  cpu.user_seconds += other.cpu.user_seconds;
  cpu.system_seconds += other.cpu.system_seconds;
  peak_memory = std::max(peak_memory, other.peak_memory);
  switches.voluntary += other.switches.voluntary;
  switches.involuntary += other.switches.involuntary;
}

WorkSeconds ProcessCost::work() const {
  WorkSeconds seconds{{WorkKind::kKernel, cpu.system_seconds}};
  std::uint64_t all = 0;
  for (const auto& [kind, count] : samples) all += count;
  if (all == 0) seconds[WorkKind::kOther] = cpu.user_seconds;
  for (const auto& [kind, count] : samples)
    seconds[kind] += cpu.user_seconds * static_cast<double>(count) / static_cast<double>(all);
  return seconds;
}

Result<std::vector<ProcessCost>> play_bench_league(const BenchLeagueOptions& options,
                                                   transport::link::StopSignal& stop) {
  return League(options, stop).play();
}

}  // namespace league::tools::bench
