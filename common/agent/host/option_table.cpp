#include "common/agent/host/option_table.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "common/agent/host/configured_arguments.h"
#include "common/agent/runtime/operations_log.h"

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

}  // namespace

std::string option_table(const CLI::App& app) {
  OrderedJson table = command_table(app);
  table["version"] = LEAGUE_VERSION;
  return table.dump();
}

std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--options-as-json") {
    std::printf("%s\n", option_table(app).c_str());
    return 0;
  }
  std::vector<std::string> words(argv, argv + argc);
  const bool shows_settings = words.size() > 1 && words.back() == kShowSettings;
  if (shows_settings) words.pop_back();
  auto arguments = ConfiguredArguments::complete(app, std::move(words));
  if (!arguments) {
    std::fprintf(stderr, "error: %s\n", runtime::printable_line(arguments.error().message).c_str());
    return 2;
  }
  std::vector<const char*> texts;
  for (const auto& word : arguments->words()) texts.push_back(word.c_str());
  try {
    app.parse(static_cast<int>(texts.size()), texts.data());
  } catch (const CLI::ParseError& stop) {
    const std::string place = arguments->place_in(stop.what());
    if (stop.get_exit_code() == 0 || place.empty()) return app.exit(stop) == 0 ? 0 : 2;
    std::fprintf(stderr, "error: %s: %s\n", runtime::printable_line(place).c_str(),
                 runtime::printable_line(stop.what()).c_str());
    return 2;
  }
  if (!shows_settings) return std::nullopt;
  std::printf("%s\n", arguments->settings().c_str());
  return 0;
}

void when_given(CLI::App& command, std::function<int()>& chosen, std::function<int()> run) {
  command.callback([&chosen, run = std::move(run)] { chosen = run; });
}

}  // namespace league::agent::host
