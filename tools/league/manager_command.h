#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace league::tools {

/// Adds `league status URL`: how far a league is. When it is given, `chosen` becomes what runs it
/// and returns the exit code.
void add_status_command(CLI::App& app, std::function<int()>& chosen);
/// Adds `league start URL`: starts a league with whoever is in. `chosen` as above.
void add_start_command(CLI::App& app, std::function<int()>& chosen);

/// Adds `shut-down` and `restore` to `league admin`. `chosen` as above.
void add_state_commands(CLI::App& admin, std::function<int()>& chosen);

}  // namespace league::tools
