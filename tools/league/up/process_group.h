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
  std::uintmax_t stderr_begin = 0;  ///< the size of the file when this process was started
  std::vector<std::string> ready_ids;  ///< `P01`, from its `ready URL ID` lines
  std::string url;  ///< from the last of these lines
  bool has_finished = false;  ///< a manager: all agents have been notified of the end of the league
  bool end_was_noted = false;

  /// Whether all its agents are registered.
  [[nodiscard]] bool is_ready() const {
    return ready_ids.size() >= static_cast<std::size_t>(spec.agents);
  }
};

/// The programs of one league. Not thread-safe.
class ProcessGroup {
 public:
  /// `programs`: the directory of the executables; the stderr of each goes to a file in `logs`.
  ProcessGroup(std::filesystem::path programs, std::filesystem::path logs)
      : programs_(std::move(programs)), logs_(std::move(logs)) {}

  [[nodiscard]] core::Result<void> start(ProgramSpec spec);
  /// Reads the output of the programs. Never blocks.
  void listen();
  [[nodiscard]] std::vector<Member>& members() { return members_; }
  [[nodiscard]] Member* manager();
  /// Whether all agents of all programs are registered.
  [[nodiscard]] bool is_ready() const;
  /// Ids of the agents in our own programs.
  [[nodiscard]] std::vector<std::string> ids() const;
  /// Ends the manager, then the referees, then the players, so that no player loses a match because
  /// its program was ended first. Sends SIGTERM, and SIGKILL after two seconds.
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
