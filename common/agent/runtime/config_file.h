#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/core/result.h"

namespace league::agent::runtime {

/// One option of a program as a configuration file gives it.
struct ConfiguredOption {
  std::string key;  ///< as on the command line, without dashes: `allow-host`
  std::vector<std::string> values;  ///< several if the file has an array
  bool is_switch = false;  ///< true or false; then `values` is {"true"} or {"false"}
  std::string place;  ///< `league.toml:4:1`
};

/// A configuration file (TOML) with one table of options per program, and `[limits]`. Checks that
/// every table is a known one, but does not know which options and limits exist. Source:
/// docs/settings.md, "One file". A value type.
class ConfigFile {
 public:
  /// Fails with the place and the rule: invalid TOML, a value outside of any table, an unknown
  /// table, or a value that no option can have.
  [[nodiscard]] static core::Result<ConfigFile> load(const std::filesystem::path& file);

  /// The programs and commands that have a table.
  [[nodiscard]] static const std::vector<std::string>& table_names();
  /// The options in `table`, sorted by name; empty if the file has no such table.
  [[nodiscard]] const std::vector<ConfiguredOption>& options(const std::string& table) const;
  /// `[limits]` in the form that parse_settings reads; empty if the file has none.
  [[nodiscard]] const nlohmann::json& limits() const { return limits_; }
  /// The place of a limit by its JSON pointer, `/retry/max_attempts`; the file itself if it has no
  /// such limit.
  [[nodiscard]] std::string place_of_limit(const std::string& pointer) const;

 private:
  std::string name_;
  std::map<std::string, std::vector<ConfiguredOption>> tables_;
  nlohmann::json limits_ = nlohmann::json::object();
  std::map<std::string, std::string> limit_places_;

  friend class ConfigReader;
};

/// The text of a file that has these limits as ConfigFile::limits() returns them.
[[nodiscard]] std::string config_text(const nlohmann::json& limits);

}  // namespace league::agent::runtime
