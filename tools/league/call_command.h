#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace league::tools {

/// Adds `league call URL TOOL [ARGS]`: calls a tool of any MCP server. When it is given, `chosen`
/// becomes what runs it and returns the exit code.
void add_call_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools
