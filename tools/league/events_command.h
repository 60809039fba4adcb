#pragma once

#include <functional>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}
namespace league::transport {
class StopSignal;
}

namespace league::tools {

/// Adds `league events`, which prints what a league on a bus tells everybody.
void add_events_command(CLI::App& app, transport::StopSignal& stop, std::function<int()>& chosen);

}  // namespace league::tools
