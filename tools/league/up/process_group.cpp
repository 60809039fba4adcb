#include "tools/league/up/process_group.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>

#include "common/core/own_program.h"
#include "common/transport/link/signals.h"

namespace league::tools {
namespace {

/// Interprets the lines `ready URL ID` and `finished LEAGUE`.
void understand(const std::string& line, Member& member) {
  std::istringstream words(line);
  std::string verb;
  std::string url;
  std::string id;
  words >> verb >> url >> id;
  if (verb == "finished") member.has_finished = true;
  if (verb != "ready") return;
  member.url = url;
  member.ready_ids.push_back(id);
}

bool have_ended(std::vector<Member>& members, ProgramSpec::Role role) {
  return std::all_of(members.begin(), members.end(), [role](Member& member) {
    return member.spec.role != role || member.process.poll_end().has_value();
  });
}

void signal_all(std::vector<Member>& members, ProgramSpec::Role role, int number) {
  for (auto& member : members) {
    if (member.spec.role == role) member.process.signal(number);
  }
}

/// Waits until a child ends, at most until `deadline`: SIGCHLD is blocked, so that sigtimedwait can
/// receive it.
void wait_for_a_death(std::chrono::steady_clock::time_point deadline) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
      deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0) return;
  constexpr std::int64_t kSecond = 1'000'000'000;
  timespec limit{static_cast<time_t>(left.count() / kSecond), left.count() % kSecond};
  ::sigtimedwait(&wanted, nullptr, &limit);
}

/// Blocks SIGCHLD during its lifetime.
class ChildSignalsBlocked {
 public:
  ChildSignalsBlocked() {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  }
  ~ChildSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  ChildSignalsBlocked(const ChildSignalsBlocked&) = delete;
  ChildSignalsBlocked& operator=(const ChildSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

core::Result<void> ProcessGroup::start(ProgramSpec spec) {
  std::filesystem::path file = logs_ / (spec.name + ".stderr.log");
  std::error_code is_new;
  auto begin = std::filesystem::file_size(file, is_new);
  auto process = ChildProcess::start(
      {.program = programs_ / spec.program, .arguments = spec.arguments, .stderr_file = file});
  if (!process) return process.error();
  members_.push_back(Member{.spec = std::move(spec),
                            .process = std::move(*process),
                            .stderr_file = std::move(file),
                            .stderr_begin = is_new ? 0 : begin,
                            .ready_ids = {},
                            .url = {}});
  return {};
}

void ProcessGroup::listen() {
  for (auto& member : members_) {
    for (const auto& line : member.process.read_lines()) understand(line, member);
  }
}

Member* ProcessGroup::manager() {
  auto found = std::find_if(members_.begin(), members_.end(), [](const Member& member) {
    return member.spec.role == ProgramSpec::Role::kManager;
  });
  return found == members_.end() ? nullptr : &*found;
}

bool ProcessGroup::is_ready() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.is_ready(); });
}

std::vector<std::string> ProcessGroup::ids() const {
  std::vector<std::string> ids;
  for (const auto& member : members_)
    ids.insert(ids.end(), member.ready_ids.begin(), member.ready_ids.end());
  return ids;
}

void ProcessGroup::stop() {
  stop(ProgramSpec::Role::kManager);
  stop(ProgramSpec::Role::kReferee);
  stop(ProgramSpec::Role::kPlayers);
}

void ProcessGroup::stop(ProgramSpec::Role role) {
  constexpr std::chrono::seconds kPatience{2};
  ChildSignalsBlocked blocked;
  signal_all(members_, role, SIGTERM);
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!have_ended(members_, role) && std::chrono::steady_clock::now() < deadline)
    wait_for_a_death(deadline);
  signal_all(members_, role, SIGKILL);
  deadline += kPatience;
  while (!have_ended(members_, role) && std::chrono::steady_clock::now() < deadline)
    wait_for_a_death(deadline);
}

std::filesystem::path own_directory() { return core::own_program().parent_path(); }

}  // namespace league::tools
