// A player, or many in one process.
#include "common/transport/link/signals.h"
#include "common/transport/link/socket.h"
#include "player/program.h"

int main(int argc, char** argv) {
  league::transport::link::StopSignal stop;
  league::transport::link::raise_file_limit();
  auto options = league::player::read_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&options)) return *code;
  return league::player::run(std::get<league::player::ProgramOptions>(options), stop);
}
