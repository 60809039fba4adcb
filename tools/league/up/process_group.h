#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/league/up/league_plan.h"
#include "tools/league/up/process.h"

namespace league::tools {

/// One program of a league that was started.
struct Member {
  ProgramSpec spec;
  ChildProcess process;
  std::filesystem::path stderr_file;
  std::uintmax_t stderr_begin = 0;  ///< where in the file this process began to write
  std::vector<std::string> ready_ids;  ///< `P01`, as its `ready URL ID` lines said
  std::string url;  ///< of the last of them
  bool has_finished = false;  ///< a manager: everybody has been told the end of the league
  bool end_was_noted = false;

  /// Whether all its agents are registered.
  [[nodiscard]] bool is_ready() const {
    return ready_ids.size() >= static_cast<std::size_t>(spec.agents);
  }
};

/// The programs of one league. Not thread-safe.
class ProcessGroup {
 public:
  /// `programs` holds the executables; stderr of each goes to a file in `logs`.
  ProcessGroup(std::filesystem::path programs, std::filesystem::path logs)
      : programs_(std::move(programs)), logs_(std::move(logs)) {}

  [[nodiscard]] core::Result<void> start(ProgramSpec spec);
  /// Reads what the programs say. Never blocks.
  void listen();
  [[nodiscard]] std::vector<Member>& members() { return members_; }
  [[nodiscard]] Member* manager();
  /// Whether all agents of all programs are registered.
  [[nodiscard]] bool is_ready() const;
  /// Ids of the agents in our own programs.
  [[nodiscard]] std::vector<std::string> ids() const;
  /// Ends the manager, then referees, then players, so that nobody loses a match for a program that
  /// was ended before the one that judges it: SIGTERM, after two seconds SIGKILL.
  void stop();

 private:
  void stop(ProgramSpec::Role role);

  std::filesystem::path programs_;
  std::filesystem::path logs_;
  std::vector<Member> members_;
};

/// The directory of the executable that is running.
[[nodiscard]] std::filesystem::path own_directory();

}  // namespace league::tools
