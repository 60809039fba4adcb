#pragma once

namespace CLI {
class App;
}
namespace league::transport {
class StopSignal;
}

namespace league::tools {

/// Adds `league up`, which plays a whole league on this machine. `stop` and `exit_code` outlive the
/// parsing of the command line, which runs the command.
void add_up_command(CLI::App& app, transport::StopSignal& stop, int& exit_code);

}  // namespace league::tools
