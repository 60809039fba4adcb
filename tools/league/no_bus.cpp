// The commands for the message bus in a build without the folder bus/, or with -DLEAGUE_BUS=OFF.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/league/commands.h"

namespace league::tools {
namespace {

void add_refused(CLI::App& app, const char* name, ChosenCommand& chosen) {
  CLI::App* command = app.add_subcommand(name, "not in this build, which has no message bus");
  command->allow_extras();
  agent::host::when_given(*command, chosen, [name] {
    std::cerr << "error: league " << name << ": this build has no message bus\n";
    return 2;
  });
}

}  // namespace

void add_events_command(CLI::App& app, ChosenCommand& chosen) {
  add_refused(app, "events", chosen);
}

void add_bus_config_command(CLI::App& app, ChosenCommand& chosen) {
  add_refused(app, "bus-config", chosen);
}

}  // namespace league::tools
