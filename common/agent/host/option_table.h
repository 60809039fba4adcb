#pragma once

#include <optional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::agent {

/// What `app` takes, as the text of one JSON object: {"name", "version", "description", "footer",
/// "options": [...], "commands": [the same again]}, where an option is {"names": ["--port"],
/// "positional": "", "description", "type": "TEXT:{open,strict}", "least_values", "most_values",
/// "default", "required"}. What --help hides is left out. Man pages and shell completions are made
/// from it (packaging/reference.py), so that they cannot disagree with --help.
[[nodiscard]] std::string option_table(const CLI::App& app);

/// Reads a command line: an exit code where that was all (0 after --help, --version or, as the only
/// argument, `--options-as-json`, which prints option_table; 2 after a mistake), else nothing.
[[nodiscard]] std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv);

}  // namespace league::agent
