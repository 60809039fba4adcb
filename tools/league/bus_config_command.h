#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace league::tools {

/// Adds `league bus-config`, which writes a broker's configuration with one user per agent. When it
/// is given, `chosen` becomes what runs it and returns the exit code.
void add_bus_config_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools
