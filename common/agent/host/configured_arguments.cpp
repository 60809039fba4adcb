#include "common/agent/host/configured_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/agent/host/suggestion.h"

namespace league::agent::host {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;

constexpr std::string_view kConfig = "--config";

bool has_option(const CLI::App& app, std::string_view name) {
  return app.get_option_no_throw(std::string(name)) != nullptr;
}

/// Whether the option is on the command line, as `--name VALUE` or as `--name=VALUE`.
bool is_given(const std::vector<std::string>& words, const std::string& name) {
  return std::ranges::any_of(words, [&name](const std::string& word) {
    return word == name || word.starts_with(name + "=");
  });
}

/// The value of an option in `words`; empty where it is missing.
std::string value_of(const std::vector<std::string>& words, std::string_view name) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(std::string(name) + "=")) return words[i].substr(name.size() + 1);
  }
  return {};
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : " ") + value;
  return text;
}

}  // namespace

std::string ConfiguredArguments::unknown(const runtime::ConfiguredOption& option) const {
  std::vector<std::string> names;
  for (const auto* one : command_->get_options()) {
    if (!one->get_group().empty())
      names.insert(names.end(), one->get_lnames().begin(), one->get_lnames().end());
  }
  const auto near = nearest(option.key, names);
  return option.place + ": there is no option " + option.key + " in [" + command_->get_name() +
         "]; " +
         (near ? "did you mean " + *near + "?"
               : "`" + command_->get_name() + " --help` lists them, without the dashes");
}

Result<void> ConfiguredArguments::add(const runtime::ConfiguredOption& option) {
  const std::string name = "--" + option.key;
  const auto* known = command_->get_option_no_throw(name);
  const std::string table = "[" + command_->get_name() + "]";
  if (known == nullptr || known->get_group().empty() || name == kConfig || name == "--help" ||
      name == "--version") {
    return Error{ErrorCode::kInvalidFieldValue, unknown(option), {}};
  }
  if (is_given(words_, name)) return {};
  places_[name] = option.place;
  if (option.is_switch) {
    if (known->get_items_expected_min() > 0)
      return Error{ErrorCode::kInvalidFieldValue,
                   option.place + ": " + option.key + " in " + table + " needs a value",
                   {}};
    if (option.values.front() == "true") added_.push_back(name);
    return {};
  }
  if (known->get_items_expected_max() == 0)
    return Error{ErrorCode::kInvalidFieldValue,
                 option.place + ": " + option.key + " in " + table + " must be true or false",
                 {}};
  for (const auto& value : option.values) {
    // To CLI11, `--name=` is a name without a value.
    if (value.empty())
      return Error{ErrorCode::kInvalidFieldValue,
                   option.place + ": " + option.key + " in " + table + " is empty",
                   {}};
    added_.push_back(name + "=" + value);
  }
  return {};
}

Result<ConfiguredArguments> ConfiguredArguments::complete(CLI::App& app,
                                                          std::vector<std::string> words) {
  ConfiguredArguments result;
  result.command_ = &app;
  std::size_t at = 1;
  for (auto* command : app.get_subcommands({})) {
    if (words.size() < 2 || command->get_name() != words[1]) continue;
    result.command_ = command;
    at = 2;
  }
  result.words_ = std::move(words);
  const std::string path = value_of(result.words_, kConfig);
  if (path.empty() || !has_option(*result.command_, kConfig)) return result;
  auto file = runtime::ConfigFile::load(path);
  if (!file) return file.error();
  for (const auto& option : file->options(result.command_->get_name())) {
    if (auto added = result.add(option); !added) result.faults_.push_back(added.error().message);
  }
  result.file_ = std::move(*file);
  result.words_.insert(result.words_.begin() + static_cast<std::ptrdiff_t>(at),
                       result.added_.begin(), result.added_.end());
  return result;
}

std::string ConfiguredArguments::option_in(const std::string& message) const {
  std::string found;
  for (const auto& [name, place] : places_) {
    if (name.size() > found.size() && message.find(name) != std::string::npos) found = name;
  }
  return found;
}

void ConfiguredArguments::refuse(const std::string& option, const std::string& why) {
  faults_.push_back(places_.at(option) + ": " + why);
  places_.erase(option);
  std::erase_if(words_, [&option](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

std::string ConfiguredArguments::settings() const {
  auto rows = nlohmann::ordered_json::array();
  for (const auto* option : command_->get_options()) {
    if (option->get_group().empty() || option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames().front();
    if (name == "--help" || name == "--version") continue;
    const bool is_set = option->count() > 0;
    const bool is_switch = option->get_items_expected_max() == 0;
    const auto place = places_.find(name);
    std::string from = "default";
    if (is_set) from = place != places_.end() ? place->second : "command line";
    std::string value = option->get_default_str();
    if (is_set) value = is_switch ? "true" : joined(option->results());
    if (!is_set && is_switch) value = "false";
    rows.push_back({{"name", name.substr(2)}, {"value", value}, {"from", from}});
  }
  return rows.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace league::agent::host
