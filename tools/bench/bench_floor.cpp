#include "tools/bench/bench_floor.h"

#include <sstream>
#include <vector>

#include "tools/bench/bench_child.h"

namespace league::tools::bench {
namespace {

constexpr std::chrono::milliseconds kFloorPatience{30'000};

class Floor {
 public:
  explicit Floor(const FloorOptions& options) : options_(options) {
    std::filesystem::create_directories(options.directory);
  }

  core::Result<FloorResult> run() {
    auto players = start({"--role", "players"});
    if (!players) return players.error();
    auto players_port = read_port(*players);
    if (!players_port) return players_port.error();
    auto manager = start({"--role", "manager"});
    if (!manager) return manager.error();
    auto manager_port = read_port(*manager);
    if (!manager_port) return manager_port.error();
    auto referee = start({"--role", "referee", "--players-port", *players_port, "--manager-port",
                          *manager_port, "--players", std::to_string(options_.players),
                          "--matches-at-once", std::to_string(options_.concurrent_matches),
                          "--seconds", std::to_string(options_.seconds)});
    if (!referee) return referee.error();
    if (auto ready = referee->read_line(kFloorPatience); !ready) return ready.error();
    const auto cpu = [&] {
      return players->cpu().total() + manager->cpu().total() + referee->cpu().total();
    };
    const double before = cpu();
    referee->write_line("go");
    auto line = referee->read_line(kFloorPatience);
    if (!line) return line.error();
    FloorResult result;
    result.cpu_seconds = cpu() - before;
    std::string done;
    double nanoseconds = 0;
    std::istringstream(*line) >> done >> result.matches >> result.calls >> nanoseconds;
    result.seconds = nanoseconds * 1e-9;
    if (result.matches == 0)
      return core::Error{core::ErrorCode::kInternalError, "the floor played no match", {}};
    return result;
  }

 private:
  core::Result<BenchChild> start(std::vector<std::string> words) {
    words.insert(words.begin(), "floor");
    return BenchChild::start(options_.program, words, options_.directory / "floor.err");
  }

  /// `ready PORT` → the port.
  static core::Result<std::string> read_port(BenchChild& child) {
    auto line = child.read_line(kFloorPatience);
    if (!line) return line.error();
    return line->substr(line->find(' ') + 1);
  }

  const FloorOptions& options_;
};

}  // namespace

core::Result<FloorResult> measure_floor(const FloorOptions& options) {
  return Floor(options).run();
}

}  // namespace league::tools::bench
