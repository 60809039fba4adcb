#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/core/result.h"

namespace league::agent {

/// One option of a program as a configuration file gives it.
struct ConfiguredOption {
  std::string key;  ///< as on the command line, without dashes: `allow-host`
  std::vector<std::string> values;  ///< several where the file has an array
  bool is_switch = false;  ///< true or false; then `values` is {"true"} or {"false"}
  std::string place;  ///< `league.toml:4:1`
};

/// A configuration file (TOML): a table of options for each program, and `[limits]`. Which options
/// and limits there are is not known here, but every table is one of those that exist.
/// Source: docs/settings.md, "One file". A value type.
class ConfigFile {
 public:
  /// Fails with the place and the rule: no TOML, a value outside of any table, an unknown table, a
  /// value that no option can have.
  [[nodiscard]] static core::Result<ConfigFile> load(const std::filesystem::path& file);

  /// The programs and commands that have a table.
  [[nodiscard]] static const std::vector<std::string>& table_names();
  /// The options in `table`, in the order of their names; none where the file has no such table.
  [[nodiscard]] const std::vector<ConfiguredOption>& options(const std::string& table) const;
  /// `[limits]` as parse_settings reads it; null where the file has none.
  [[nodiscard]] const nlohmann::json& limits() const { return limits_; }
  /// The place of a limit by its JSON pointer, `/retry/max_attempts`; that of the file if it has
  /// no such limit.
  [[nodiscard]] std::string place_of_limit(const std::string& pointer) const;

 private:
  std::string name_;
  std::map<std::string, std::vector<ConfiguredOption>> tables_;
  nlohmann::json limits_;
  std::map<std::string, std::string> limit_places_;

  friend class ConfigReader;
};

/// Whether `file` is a configuration file by its name (`.toml`).
[[nodiscard]] bool is_config_file(const std::filesystem::path& file);

}  // namespace league::agent
