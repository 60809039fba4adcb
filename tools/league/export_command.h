#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace league::tools {

/// Adds `league export`, which makes the files of a league again from its journal and its logs.
void add_export_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools
