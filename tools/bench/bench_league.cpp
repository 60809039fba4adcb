#include "tools/bench/bench_league.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace league::tools::bench {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;

constexpr std::chrono::milliseconds kStartPatience{60'000};
constexpr std::chrono::milliseconds kBetweenLooks{100};
constexpr std::chrono::minutes kLeaguePatience{5};

/// `ready URL ID` → URL.
Result<std::string> ready_url(BenchChild& child) {
  auto line = child.read_line(kStartPatience);
  if (!line) return line.error();
  std::size_t begin = line->find(' ') + 1;
  return line->substr(begin, line->find(' ', begin) - begin);
}

/// Waits until the manager has told all agents that the league is over. Its state is COMPLETED
/// before that, and calls to programs that are stopped too early would count as failed.
Result<void> wait_for_end(transport::link::StopSignal& stop, BenchChild& manager) {
  const auto until = std::chrono::steady_clock::now() + kLeaguePatience;
  while (std::chrono::steady_clock::now() < until) {
    const auto line = manager.read_line(kBetweenLooks);
    if (line && line->starts_with("finished ")) return {};
    if (!line && line.error().code != ErrorCode::kTimeout) return line.error();
    if (stop.wait_for(std::chrono::milliseconds(0)) >= 0)
      return Error{ErrorCode::kShuttingDown, "stopped by a signal", {}};
  }
  return Error{ErrorCode::kTimeout, "the league did not end in time", {}};
}

CpuTime difference(const CpuTime& after, const CpuTime& before) {
  return {after.user_seconds - before.user_seconds, after.system_seconds - before.system_seconds};
}

class League {
 public:
  League(const BenchLeagueOptions& options, transport::link::StopSignal& stop)
      : options_(options), stop_(stop) {
    std::filesystem::create_directories(options.directory);
    limits_ = options.directory / "limits.json";
    nlohmann::json limits = {{"league", {{"broadcasts", options.broadcasts ? 1 : 0}}}};
    if (options.is_plain) limits["log"] = {{"verifiable", 0}};
    std::ofstream(limits_) << limits;
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
    std::vector<CpuTime> before{manager->cpu(), players->cpu()};
    // --drain, because the last GAME_OVERs may be on their way when the league is over: they would
    // count as failed calls.
    auto referee = start("referee", with_data({"--manager", *url, "--drain", "5", "--max-matches",
                                               std::to_string(options_.concurrent_matches)}));
    if (!referee) return referee.error();
    if (auto ready = ready_url(*referee); !ready) return ready.error();
    before.push_back(referee->cpu());

    if (auto ended = wait_for_end(stop_, *manager); !ended) return ended.error();
    return std::vector<ProcessCost>{
        {"league_manager", difference(manager->cpu(), before[0]), manager->peak_memory()},
        {"player", difference(players->cpu(), before[1]), players->peak_memory()},
        {"referee", difference(referee->cpu(), before[2]), referee->peak_memory()}};
  }

 private:
  /// Adds a data directory unless the league is plain, so that the program also writes its files.
  [[nodiscard]] std::vector<std::string> with_data(std::vector<std::string> words) const {
    if (!options_.is_plain)
      words.insert(words.end(), {"--data", (options_.directory / "data").string()});
    return words;
  }

  Result<BenchChild> start(const std::string& program, std::vector<std::string> arguments) {
    for (const auto& word :
         {std::string("--port"), std::string("0"), std::string("--limits"), limits_.string(),
          std::string("--logs"), (options_.directory / "logs").string()}) {
      arguments.push_back(word);
    }
    if (options_.transport != agent::host::Serving::kHttp) {
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
  std::filesystem::path limits_;
};

}  // namespace

Result<std::vector<ProcessCost>> play_bench_league(const BenchLeagueOptions& options,
                                                   transport::link::StopSignal& stop) {
  return League(options, stop).play();
}

}  // namespace league::tools::bench
