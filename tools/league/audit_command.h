#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace league::tools {

/// Adds `league audit`, which explains what happened from the conversation logs. When one of its
/// commands is given, `chosen` becomes what runs it and returns the exit code.
void add_audit_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools
