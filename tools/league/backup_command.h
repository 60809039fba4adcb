#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace league::tools {

/// Adds `league backup`; `chosen` becomes what it does when it is on the command line.
void add_backup_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools
