#include "common/agent/host/option_table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "common/agent/host/configured_arguments.h"
#include "common/agent/host/suggestion.h"
#include "common/agent/runtime/operations_log.h"
#include "common/core/text.h"

namespace league::agent::host {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kShowSettings = "--settings-as-json";

OrderedJson option_row(const CLI::Option& option) {
  OrderedJson names = OrderedJson::array();
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return {{"names", names},
          {"positional", option.get_name(true)},
          {"description", option.get_description()},
          {"type", option.get_type_name()},
          {"least_values", option.get_items_expected_min()},
          {"most_values", option.get_items_expected_max()},
          {"default", option.get_default_str()},
          {"required", option.get_required()}};
}

OrderedJson command_table(const CLI::App& app) {
  OrderedJson options = OrderedJson::array();
  for (const auto* option : app.get_options()) {
    if (!option->get_group().empty()) options.push_back(option_row(*option));
  }
  OrderedJson commands = OrderedJson::array();
  for (const auto* command : app.get_subcommands(nullptr)) {
    if (!command->get_group().empty()) commands.push_back(command_table(*command));
  }
  return {{"name", app.get_name()},
          {"description", app.get_description()},
          {"footer", app.get_footer()},
          {"options", options},
          {"commands", commands}};
}

/// The command that was named last: of `league admin pause` it is `pause`.
const CLI::App& named_command(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : named_command(*named.back());
}

/// What is wrong with a word that `app` knows as neither an option nor a command, and what was
/// probably meant; empty if the mistake is another one.
std::string unknown_word(const CLI::App& app) {
  const auto words = app.remaining(true);
  if (words.empty()) return {};
  const CLI::App& command = named_command(app);
  const bool is_option = words.front().starts_with("-");
  std::vector<std::string> names;
  if (is_option) {
    for (const auto* option : command.get_options()) {
      if (!option->get_group().empty())
        names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
    }
  } else {
    for (const auto* one : command.get_subcommands(nullptr)) names.push_back(one->get_name());
    if (names.empty()) return {};  // a value too many
  }
  const std::string word = words.front().substr(0, words.front().find('='));
  std::string text =
      std::string("there is no ") + (is_option ? "option " : "command ") + core::excerpt(word);
  const std::size_t dashes = is_option ? std::min(word.find_first_not_of('-'), word.size()) : 0;
  if (const auto near = nearest(word.substr(dashes), names))
    text += std::string("; did you mean ") + (is_option ? "--" : "") + *near + "?";
  return text;
}

/// `league admin pause`.
std::string full_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return (parent == nullptr ? "" : full_name(*parent) + " ") + command.get_name();
}

}  // namespace

int refuse(const std::string& message) {
  for (std::size_t begin = 0; begin <= message.size();) {
    const auto end = std::min(message.find('\n', begin), message.size());
    const auto line = runtime::printable_line(message.substr(begin, end - begin));
    std::fprintf(stderr, "error: %s\n", line.c_str());
    begin = end + 1;
  }
  return 2;
}

std::string option_table(const CLI::App& app) {
  OrderedJson table = command_table(app);
  table["version"] = LEAGUE_VERSION;
  return table.dump();
}

std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv,
                                   runtime::ConfigFile* file) {
  if (argc == 2 && std::string_view(argv[1]) == "--options-as-json") {
    std::printf("%s\n", option_table(app).c_str());
    return 0;
  }
  std::vector<std::string> words(argv, argv + argc);
  const bool shows_settings = words.size() > 1 && words.back() == kShowSettings;
  if (shows_settings) words.pop_back();
  auto arguments = ConfiguredArguments::complete(app, std::move(words));
  if (!arguments) return refuse(arguments.error().message);
  while (true) {
    std::vector<const char*> texts;
    for (const auto& word : arguments->words()) texts.push_back(word.c_str());
    try {
      app.parse(static_cast<int>(texts.size()), texts.data());
      break;
    } catch (const CLI::ParseError& stop) {
      if (stop.get_exit_code() == 0) return app.exit(stop);
      const std::string option = arguments->option_in(stop.what());
      if (!option.empty()) {
        arguments->refuse(option, stop.what());  // and see what else is wrong
        continue;
      }
      if (!arguments->faults().empty()) break;  // perhaps a consequence of what was refused
      const std::string unknown = unknown_word(app);
      const int code = refuse(unknown.empty() ? stop.what() : unknown);
      std::fprintf(stderr, "Run `%s --help` for more information.\n",
                   full_name(named_command(app)).c_str());
      return code;
    }
  }
  for (const auto& fault : arguments->faults()) refuse(fault);
  if (!arguments->faults().empty()) return 2;
  if (file != nullptr) *file = arguments->file();
  if (!shows_settings) return std::nullopt;
  std::printf("%s\n", arguments->settings().c_str());
  return 0;
}

void when_given(CLI::App& command, std::function<int()>& chosen, std::function<int()> run) {
  command.callback([&chosen, run = std::move(run)] { chosen = run; });
}

}  // namespace league::agent::host
