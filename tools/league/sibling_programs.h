#pragma once

#include <optional>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::tools {

// Commands of `league` that are programs of their own beside it, as `bench` is league-bench and
// `export` is in league-audit: they are not needed to play a league, so a first league does not
// have to wait until they are built.

/// Adds these commands to the list of --help. Their options are in their own --help.
void add_sibling_commands(CLI::App& app);

/// Replaces this process with the program that the first argument names, and passes it the other
/// arguments. Returns only on failure, with an exit code, or with nothing if there is no such
/// program.
[[nodiscard]] std::optional<int> run_sibling(int argc, char** argv);

}  // namespace league::tools
