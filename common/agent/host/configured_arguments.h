#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/agent/runtime/config_file.h"
#include "common/core/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::agent::host {

/// A command line completed by the configuration file that it names with `--config`: the file's
/// options for the program (or for the command of `league`) are added as if they had been typed,
/// except those that were typed. Source: docs/settings.md, "One file".
class ConfiguredArguments {
 public:
  /// `words` are a command line including the program's name. Fails with the place and the rule if
  /// the file is invalid or names an unknown option.
  [[nodiscard]] static core::Result<ConfiguredArguments> complete(CLI::App& app,
                                                                  std::vector<std::string> words);

  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  /// What the file contains; empty if none was named.
  [[nodiscard]] const runtime::ConfigFile& file() const { return file_; }
  /// The option of the file, such as `--port`, that `message`, an error text of the parser, is
  /// about; empty if it is about none of them.
  [[nodiscard]] std::string option_in(const std::string& message) const;
  /// Takes an option of the file out of the words, and adds `why` to the faults.
  void refuse(const std::string& option, const std::string& why);
  /// What is wrong with the options of the file, each text with its place.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
  /// The options of the program or command and their values, as a JSON array of {"name", "value",
  /// "from"}; `from` is a place in the file, `command line` or `default`. Only after parsing.
  [[nodiscard]] std::string settings() const;

 private:
  core::Result<void> add(const runtime::ConfiguredOption& option);
  /// What is said of an option of the file that the program does not have.
  [[nodiscard]] std::string unknown(const runtime::ConfiguredOption& option) const;

  CLI::App* command_ = nullptr;  ///< the program, or the command of `league`
  runtime::ConfigFile file_;
  std::vector<std::string> words_;
  std::vector<std::string> added_;
  std::map<std::string, std::string> places_;  ///< keyed by option, including its dashes
  std::vector<std::string> faults_;
};

}  // namespace league::agent::host
