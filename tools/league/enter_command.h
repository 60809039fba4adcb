#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace league::tools {

/// Adds `league enter URL`: registers a player that cannot do it itself. When it is given, `chosen`
/// becomes what runs it and returns the exit code.
void add_enter_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools
