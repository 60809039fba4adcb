#pragma once

#include <functional>

namespace CLI {
class App;
}
namespace league::transport {
class StopSignal;
}

namespace league::tools {

/// Adds `league up`, which plays a whole league on this machine. When it is given, `chosen` becomes
/// what runs it and returns the exit code. `stop` outlives that.
void add_up_command(CLI::App& app, transport::StopSignal& stop, std::function<int()>& chosen);

}  // namespace league::tools
