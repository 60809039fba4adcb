#pragma once

#include <functional>

namespace CLI {
class App;
}
namespace league::transport {
class StopSignal;
}

namespace league::tools {

/// Adds `league gateway`, which stands in front of an MCP server of another transport. When it is
/// given, `chosen` becomes what runs it and returns the exit code. `stop` outlives that.
void add_gateway_command(CLI::App& app, transport::StopSignal& stop, std::function<int()>& chosen);

}  // namespace league::tools
