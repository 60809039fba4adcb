#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/agent/runtime/config_file.h"
#include "common/core/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::agent {

/// A command line, completed by the configuration file that it names with `--config`: what the file
/// says of the program (or of the command of `league`) stands in it as if it had been typed, except
/// for options that were. `[limits]` becomes `--limits FILE`. Source: docs/settings.md, "One file".
class ConfiguredArguments {
 public:
  /// `words` are a command line with the program's name. Fails with the place and the rule where
  /// the file is wrong, or names an option that there is not.
  [[nodiscard]] static core::Result<ConfiguredArguments> complete(CLI::App& app,
                                                                  std::vector<std::string> words);

  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  /// The place of the option of the file that `message`, a parser's, is about; empty where it is
  /// about none of them.
  [[nodiscard]] std::string place_in(const std::string& message) const;
  /// The options of the program or command with their values, as the text of a JSON array of
  /// {"name", "value", "from"}; `from` is a place, `command line` or `default`. After parsing.
  [[nodiscard]] std::string settings() const;

 private:
  core::Result<void> add(const ConfiguredOption& option);

  CLI::App* command_ = nullptr;  ///< the program, or the command of `league`
  std::vector<std::string> words_;
  std::vector<std::string> added_;
  std::map<std::string, std::string> places_;  ///< by option, with its dashes
};

}  // namespace league::agent
