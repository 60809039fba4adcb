// `league`, the command-line tool: plays a league, sends commands to a manager, reads logs.
#include <csignal>

#include "common/transport/link/socket.h"
#include "tools/league/command_line.h"
#include "tools/league/sibling_programs.h"

int main(int argc, char** argv) {
  if (auto code = league::tools::run_sibling(argc, argv)) return *code;
  std::signal(SIGPIPE, SIG_IGN);
  league::transport::raise_file_limit();
  return league::tools::run_command_line(argc, argv);
}
