#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "common/agent/host/program_options.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::player {

struct ProgramOptions {
  agent::host::ProgramOptions common;
  std::string manager;  ///< URL; empty: the default of ProgramOptions::manager_url
  std::string name = "player";
  std::string strategy =
      "random";  ///< or several, separated by commas, assigned in rotation with --count
  int count = 1;
  std::optional<std::uint64_t> seed;
  bool standalone = false;
  bool is_registered_by_caller = false;  ///< see PlayerOptions; with --transport stdio and --data
  bool commits = true;  ///< see PlayerOptions
  std::filesystem::path token_file;  ///< of the seat to return to; empty: the token of the stored
                                     ///< identity
  std::filesystem::path registration_code_file;  ///< empty: no code is shown
  std::filesystem::path data;  ///< empty: neither identity nor history is kept
  std::string game;  ///< the file of a game whose words are strategies; empty: none
};

/// The options of a command line; an exit code when there is nothing to run.
[[nodiscard]] std::variant<ProgramOptions, int> read_command_line(int argc, char** argv);

/// Registers and plays until a signal comes. Returns the exit code.
int run(const ProgramOptions& options, transport::link::StopSignal& stop);

}  // namespace league::player
