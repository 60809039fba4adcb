#pragma once

#include <functional>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::tools {

/// `league admin`: what the operator of a running league can have done to its agents; each command
/// shows the operator's key.
void add_admin_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools
