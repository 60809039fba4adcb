#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace league::tools {

/// Adds `bench` and its hidden `bench-echo` to the commands of `league`. When one of them is given,
/// `chosen` becomes what runs it: it returns the exit code (0; 2 when something could not be
/// measured).
void add_bench_commands(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools
