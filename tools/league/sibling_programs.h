#pragma once

#include <optional>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::tools {

// Commands of `league` that are programs of their own beside it, as `bench` is league-bench and
// `export` is in league-audit: nobody needs them while a league is played, so a first league does
// not wait until they are built.

/// Adds them to what --help lists. Their own --help says what they take.
void add_sibling_commands(CLI::App& app);

/// Becomes the program that the first argument names and hands it the others; returns only where
/// that fails, with an exit code, or where no program has that name, with nothing.
[[nodiscard]] std::optional<int> run_sibling(int argc, char** argv);

}  // namespace league::tools
