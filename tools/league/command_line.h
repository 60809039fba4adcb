#pragma once

namespace league::tools {

/// Runs the command that `argv` names. Returns the exit code: 0 yes, 1 no, 2 wrong usage or
/// environment.
int run_command_line(int argc, char** argv);

}  // namespace league::tools
