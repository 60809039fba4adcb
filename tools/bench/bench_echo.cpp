#include "tools/bench/bench_echo.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tools/bench/bench_child.h"
#include "tools/league/up/run_directory.h"

namespace league::tools::bench {
namespace {

using core::Result;

constexpr std::chrono::milliseconds kReadyPatience{30'000};
constexpr std::chrono::milliseconds kDonePatience{120'000};
constexpr std::chrono::milliseconds kCallPatience{10};  // for each call in addition

/// The average number of calls in flight (Little's law).
int mean_in_flight(const CallerTraffic& caller, double seconds) {
  return seconds > 0 ? std::max(1, static_cast<int>(std::lround(caller.busy_seconds / seconds)))
                     : 1;
}

struct Done {
  std::uint64_t calls = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};

Result<Done> read_done(BenchChild& child, std::uint64_t calls) {
  auto line = child.read_line(kDonePatience + calls * kCallPatience);
  if (!line) return line.error();
  Done done;
  std::string word;
  std::istringstream(*line) >> word >> done.calls >> done.first_ns >> done.last_ns;
  return done;
}

/// The URLs after `ready`, separated by tabs.
Result<std::string> read_urls(BenchChild& child) {
  auto line = child.read_line(kReadyPatience);
  if (!line) return line.error();
  return line->substr(line->find('\t') + 1);
}

std::string joined_by_commas(std::string words) {
  std::replace(words.begin(), words.end(), '\t', ',');
  return words;
}

class Echo {
 public:
  Echo(const EchoOptions& options, const LeagueTraffic& traffic)
      : options_(options), traffic_(traffic) {}

  Result<EchoResult> run() {
    auto made = SocketDirectory::make_if(options_.transport == agent::host::Serving::kUnix);
    if (!made) return made.error();
    sockets_ = std::move(*made);
    auto player = start("player", {"--ports", std::to_string(options_.players)});
    if (!player) return player.error();
    auto urls = read_urls(*player);
    if (!urls) return urls.error();
    std::string targets = joined_by_commas(*urls);
    auto manager = start("manager", call_words(traffic_.manager, targets));
    if (!manager) return manager.error();
    auto manager_url = read_urls(*manager);
    if (!manager_url) return manager_url.error();
    auto words = call_words(traffic_.referee, targets);
    words.insert(words.end(), {"--seventh", *manager_url});
    auto referee = start("referee", words);
    if (!referee) return referee.error();
    if (auto ready = read_urls(*referee); !ready) return ready.error();
    return measure({&*player, &*manager, &*referee});
  }

 private:
  std::vector<std::string> call_words(const CallerTraffic& caller, const std::string& targets) {
    return {"--targets",       targets,
            "--calls",         std::to_string(caller.calls),
            "--request-bytes", std::to_string(caller.mean_request()),
            "--in-flight",     std::to_string(mean_in_flight(caller, traffic_.seconds))};
  }

  Result<BenchChild> start(const std::string& name, std::vector<std::string> words) {
    std::uint64_t replies = traffic_.manager.reply_bytes + traffic_.referee.reply_bytes;
    words.insert(words.begin(), "echo");
    words.insert(words.end(),
                 {"--role", name, "--reply-bytes",
                  std::to_string(replies / std::max<std::uint64_t>(1, traffic_.calls())),
                  "--transport", std::string(agent::host::serving_name(options_.transport)),
                  "--socket", (sockets_.path() / (name + ".sock")).string()});
    if (!options_.bus.empty()) words.insert(words.end(), {"--bus", options_.bus});
    return BenchChild::start(options_.program, words, options_.directory / "echo.err");
  }

  [[nodiscard]] Result<EchoResult> measure(const std::vector<BenchChild*>& children) const {
    auto cpu = [&] {
      double sum = 0;
      for (const auto* child : children) sum += child->cpu().total();
      return sum;
    };
    EchoResult result;
    double before = cpu();
    children[1]->write_line("go");
    children[2]->write_line("go");
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (int i : {1, 2}) {
      auto done = read_done(*children[static_cast<std::size_t>(i)], traffic_.calls());
      if (!done) return done.error();
      result.calls += done->calls;
      if (done->calls == 0) continue;
      first = first == 0 ? done->first_ns : std::min(first, done->first_ns);
      last = std::max(last, done->last_ns);
    }
    result.cpu_seconds = cpu() - before;
    result.seconds = static_cast<double>(last - first) * 1e-9;
    return result;
  }

  const EchoOptions& options_;
  const LeagueTraffic& traffic_;
  SocketDirectory sockets_;
};

}  // namespace

Result<EchoResult> measure_echo(const EchoOptions& options, const LeagueTraffic& traffic) {
  return Echo(options, traffic).run();
}

}  // namespace league::tools::bench
