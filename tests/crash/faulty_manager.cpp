// The league manager with places at which it dies or its disk fails. LEAGUE_FAULT=POINT:COUNT ends
// it with SIGKILL when it comes to POINT for the COUNT-th time (before_write, after_write,
// before_answer, after_answer), or lets its journal fail from the COUNT-th write on (disk_full,
// torn_write, sync_error). Without LEAGUE_FAULT it is the program itself.
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "common/transport/link/signals.h"
#include "common/transport/link/socket.h"
#include "league_manager/program/program.h"
#include "tests/support/failing_vfs.h"

namespace {

using league::journal::FaultPoint;
using league::testing::FailingVfs;

struct Plan {
  std::string point;
  int count = 0;
};

Plan read_plan() {
  const char* text = std::getenv("LEAGUE_FAULT");
  if (text == nullptr) return {};
  std::string all = text;
  auto colon = all.find(':');
  Plan plan{all.substr(0, colon), 1};
  if (colon != std::string::npos)
    std::from_chars(all.data() + colon + 1, all.data() + all.size(), plan.count);
  return plan;
}

/// Ends the process as a crash does when it has been called often enough.
class Death {
 public:
  explicit Death(int count) : remaining_(count) {}
  void come_closer() {
    if (--remaining_ == 0) std::raise(SIGKILL);
  }

 private:
  std::atomic<int> remaining_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, FaultPoint> kDeaths = {{"before_write", FaultPoint::kBeforeWrite},
                                                     {"after_write", FaultPoint::kAfterWrite},
                                                     {"before_answer", FaultPoint::kBeforeAnswer}};
  const std::map<std::string, FailingVfs::Fault> kDisks = {
      {"disk_full", FailingVfs::Fault::kDiskFull},
      {"torn_write", FailingVfs::Fault::kTornWrite},
      {"sync_error", FailingVfs::Fault::kSyncError}};
  league::transport::link::StopSignal stop;
  league::transport::link::raise_file_limit();
  auto options = league::league_manager::read_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&options)) return *code;

  Plan plan = read_plan();
  Death death(plan.count);
  FailingVfs disk("faulty");
  league::league_manager::FaultHooks hooks;
  hooks.vfs = disk.name();
  if (auto point = kDeaths.find(plan.point); point != kDeaths.end()) {
    hooks.journal = [&death, wanted = point->second](FaultPoint reached) {
      if (reached == wanted) death.come_closer();
    };
  } else if (auto fault = kDisks.find(plan.point); fault != kDisks.end()) {
    disk.fail(fault->second, plan.count - 1);
  } else if (plan.point == "after_answer") {
    hooks.after_answer = [&death] { death.come_closer(); };
  } else if (!plan.point.empty()) {
    std::fprintf(stderr, "error: LEAGUE_FAULT=%s is not known\n", plan.point.c_str());
    return 2;
  }
  return league::league_manager::run(std::get<league::league_manager::ProgramOptions>(options),
                                     stop, hooks);
}
