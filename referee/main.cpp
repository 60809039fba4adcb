// A referee: plays the matches that its league manager assigns to it.
#include "common/transport/link/signals.h"
#include "common/transport/link/socket.h"
#include "referee/program.h"

int main(int argc, char** argv) {
  league::transport::link::StopSignal stop;
  league::transport::link::raise_file_limit();
  auto options = league::referee::read_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&options)) return *code;
  return league::referee::run(std::get<league::referee::ProgramOptions>(options), stop);
}
