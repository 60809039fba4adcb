#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <variant>

#include "common/agent/program_options.h"

namespace league::transport {
class StopSignal;
}

namespace league::league_manager {

struct ProgramOptions {
  agent::ProgramOptions common;
  int players = 2;
  int referees = 1;
  std::string league_id;  ///< empty: league_YEAR_even_odd
  std::string game_type = "even_odd";
  std::filesystem::path config;  ///< directory that may hold limits.json
  std::filesystem::path data = "data";
  std::string operator_key_file;  ///< empty: DATA/operator.key
  int registration_window_seconds = 0;
  std::string endpoints = "local";
};

/// The options of a command line; an exit code when there is nothing to run.
[[nodiscard]] std::variant<ProgramOptions, int> read_command_line(int argc, char** argv);

/// Runs a league until a signal comes. Returns the exit code.
int run(const ProgramOptions& options, transport::StopSignal& stop);

}  // namespace league::league_manager
