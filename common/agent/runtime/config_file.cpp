#include "common/agent/runtime/config_file.h"

#include <toml++/toml.h>

#include <algorithm>

namespace league::agent::runtime {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

constexpr std::string_view kLimits = "limits";

std::string names_of_tables() {
  std::string text;
  for (const auto& name : ConfigFile::table_names()) text += "[" + name + "], ";
  return text + "[limits.SECTION]";
}

/// The value as text for a command line; nothing for a table, an array, a date or a fraction, since
/// no option takes one.
std::optional<std::string> word_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* yes_or_no = node.as_boolean())
    return std::string(yes_or_no->get() ? "true" : "false");
  return std::nullopt;
}

}  // namespace

/// Builds a ConfigFile, and collects all errors, one line each.
class ConfigReader {
 public:
  explicit ConfigReader(std::string name) { file_.name_ = std::move(name); }

  Result<ConfigFile> read(const toml::table& document) {
    for (const auto& [key, node] : document) {
      const std::string name(key.str());
      const auto& names = ConfigFile::table_names();
      const bool is_program = std::ranges::find(names, name) != names.end();
      if (!node.is_table()) {
        refuse(place_of(key.source()),
               name + " is in no table; the tables are " + names_of_tables());
      } else if (name == kLimits) {
        read_limits(*node.as_table());
      } else if (is_program) {
        read_options(name, *node.as_table());
      } else {
        refuse(place_of(node.source()),
               "there is no table [" + name + "]; the tables are " + names_of_tables());
      }
    }
    if (error_) return *error_;
    return std::move(file_);
  }

  [[nodiscard]] std::string place_of(const toml::source_region& region) const {
    return file_.name_ + ":" + std::to_string(region.begin.line) + ":" +
           std::to_string(region.begin.column);
  }

 private:
  void refuse(const std::string& place, const std::string& why) {
    const std::string line = place + ": " + why;
    error_ =
        Error{ErrorCode::kInvalidFieldValue, error_ ? error_->message + "\n" + line : line, {}};
  }

  void read_options(const std::string& table, const toml::table& options) {
    auto& out = file_.tables_[table];
    for (const auto& [key, node] : options) {
      ConfiguredOption option{.key = std::string(key.str()),
                              .values = {},
                              .is_switch = node.is_boolean(),
                              .place = place_of(key.source())};
      const auto add = [&](const toml::node& value) {
        if (auto word = word_of(value)) {
          option.values.push_back(std::move(*word));
        } else {
          refuse(option.place,
                 option.key + " in [" + table +
                     "] must be a string, a whole number, true, false, or an array of these");
        }
      };
      if (const auto* array = node.as_array()) {
        for (const auto& value : *array) add(value);
      } else {
        add(node);
      }
      out.push_back(std::move(option));
    }
  }

  void read_limits(const toml::table& limits) {
    for (const auto& [section, node] : limits) {
      const std::string name(section.str());
      if (!node.is_table()) {
        refuse(
            place_of(section.source()),
            name + " is in [limits] itself; put limits into its sections, such as [limits.retry]");
        continue;
      }
      json& out = file_.limits_[name] = json::object();
      for (const auto& [key, value] : *node.as_table()) {
        const std::string pointer = "/" + name + "/" + std::string(key.str());
        file_.limit_places_[pointer] = place_of(key.source());
        if (const auto* number = value.as_integer()) {
          out[std::string(key.str())] = number->get();
        } else if (const auto* yes_or_no = value.as_boolean()) {
          out[std::string(key.str())] = yes_or_no->get();
        } else {
          refuse(place_of(key.source()), "a limit must be a whole number, true or false");
        }
      }
    }
  }

  ConfigFile file_;
  std::optional<Error> error_;
};

std::string config_text(const json& limits) {
  std::string text;
  for (const auto& [section, keys] : limits.items()) {
    text += "[limits." + section + "]\n";
    for (const auto& [key, value] : keys.items()) text += key + " = " + value.dump() + "\n";
  }
  return text;
}

const std::vector<std::string>& ConfigFile::table_names() {
  static const std::vector<std::string> kNames{"league_manager", "referee", "player", "up"};
  return kNames;
}

const std::vector<ConfiguredOption>& ConfigFile::options(const std::string& table) const {
  static const std::vector<ConfiguredOption> kNone;
  const auto found = tables_.find(table);
  return found != tables_.end() ? found->second : kNone;
}

std::string ConfigFile::place_of_limit(const std::string& pointer) const {
  const auto found = limit_places_.find(pointer);
  return found != limit_places_.end() ? found->second : name_;
}

Result<ConfigFile> ConfigFile::load(const std::filesystem::path& file) {
  ConfigReader reader(file.string());
  if (std::filesystem::is_directory(file)) {
    return Error{ErrorCode::kInvalidFieldValue,
                 file.string() + " is a directory; name the file, such as " +
                     (file / "league.toml").string(),
                 {}};
  }
  try {
    return reader.read(toml::parse_file(file.string()));
  } catch (const toml::parse_error& error) {
    const std::string place =
        error.source().begin.line > 0 ? reader.place_of(error.source()) : file.string();
    return Error{ErrorCode::kMalformedMessage, place + ": " + std::string(error.description()), {}};
  }
}

}  // namespace league::agent::runtime
