// The league manager: registration, schedule, standings, and the course of a league.
#include "common/transport/link/signals.h"
#include "common/transport/link/socket.h"
#include "league_manager/program/manager_reload.h"
#include "league_manager/program/program.h"

int main(int argc, char** argv) {
  league::transport::link::StopSignal stop;
  league::league_manager::ManagerReload reload(
      [argc, argv] { return league::league_manager::read_command_line(argc, argv); });
  league::transport::link::raise_file_limit();
  auto options = league::league_manager::read_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&options)) return *code;
  return league::league_manager::run(std::get<league::league_manager::ProgramOptions>(options),
                                     stop, {}, &reload);
}
