#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "common/agent/host/program_options.h"
#include "game/games.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::referee {

struct ProgramOptions {
  agent::host::ProgramOptions common;
  std::string manager;  ///< URL; empty: the default of ProgramOptions::manager_url
  std::string name = "referee";
  int max_matches = 32;
  std::string endpoints = "any";
  std::filesystem::path token_file;  ///< of the seat to return to; empty: the token of the stored
                                     ///< identity
  std::filesystem::path admission_key_file;  ///< the manager's referee.key; empty: none is shown
  std::filesystem::path players_file;  ///< players' addresses, see GuestAssignments; empty: none
  int drain_seconds = 0;  ///< how long running matches may take when the program is about to end
  std::filesystem::path data;  ///< empty: the identity is not kept
  std::string game;  ///< the file of a game that it knows; empty: only those that come along
};

/// The options of a command line; an exit code when there is nothing to run.
[[nodiscard]] std::variant<ProgramOptions, int> read_command_line(int argc, char** argv);

/// Registers and referees matches until a signal comes. Returns the exit code.
int run(const ProgramOptions& options, transport::link::StopSignal& stop);

}  // namespace league::referee
