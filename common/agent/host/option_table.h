#pragma once

#include <functional>
#include <optional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::agent::runtime {
class ConfigFile;
}

namespace league::agent::host {

/// The options and commands of `app` as the text of a JSON object: {"name", "version",
/// "description", "footer", "options": [...], "commands": [the same again]}, where an option is
/// {"names": ["--port"], "positional": "", "description", "type": "TEXT:{open,strict}",
/// "least_values", "most_values", "default", "required"}. What --help hides is left out. Man pages
/// and shell completions are generated from it (packaging/reference.py), so that they cannot
/// disagree with --help.
[[nodiscard]] std::string option_table(const CLI::App& app);

/// Prints `error: …` on stderr for each line of `message`, made safe for a terminal, and returns
/// the exit code 2.
int refuse(const std::string& message);

/// Reads a command line and the configuration file that it names (ConfiguredArguments), and puts
/// the file into `file`; its limits are not checked. Returns nothing if the program should run,
/// otherwise its exit code: 0 after --help, --version, `--options-as-json` as the only argument
/// (prints option_table) or `--settings-as-json` as the last one (prints the options' values and
/// where they come from); 2 after a mistake.
[[nodiscard]] std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv,
                                                 runtime::ConfigFile* file = nullptr);

/// If `command` is given, parse_arguments sets `chosen` to `run`, which returns the exit code.
void when_given(CLI::App& command, std::function<int()>& chosen, std::function<int()> run);

}  // namespace league::agent::host
