#pragma once

#include <functional>

namespace CLI {
class App;
}
namespace league::transport {
class StopSignal;
}

namespace league::tools {

/// Adds `bench` and its hidden `bench-echo` to the commands of `league`. When one of them is given,
/// `chosen` becomes what runs it: it returns the exit code (0; 2 when something could not be
/// measured). `stop` outlives that.
void add_bench_commands(CLI::App& app, transport::StopSignal& stop, std::function<int()>& chosen);

}  // namespace league::tools
