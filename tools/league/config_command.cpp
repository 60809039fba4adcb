#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "common/agent/runtime/config_file.h"
#include "common/agent/runtime/settings.h"
#include "common/transport/link/socket.h"
#include "tools/league/commands.h"
#include "tools/league/up/process.h"
#include "tools/league/up/process_group.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using core::Result;
using nlohmann::json;

constexpr const char* kLimits = "limits";

/// A temporary file for a program's stderr, removed by the destructor.
class Complaints {
 public:
  Complaints() {
    std::string name = (std::filesystem::temp_directory_path() / "league_config_XXXXXX").string();
    descriptor_ = core::FileDescriptor(::mkstemp(name.data()));
    path_ = name;
  }
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;
  ~Complaints() {
    std::error_code ignored;  // a temporary file that remains does no harm
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

 private:
  core::FileDescriptor descriptor_;
  std::filesystem::path path_;
};

/// The settings that the program, or the command of `league`, reads from the file: rows of {"name",
/// "value", "from"}. Null if the program has refused the file, with the reason on stderr.
Result<json> ask_program(const std::string& name, const std::string& file,
                         const std::vector<std::string>& more) {
  const bool is_program = name != "up";
  const Complaints complaints;
  ProcessOptions process{.program = own_directory() / (is_program ? name : "league"),
                         .arguments = {},
                         .stderr_file = complaints.path()};
  if (!is_program) process.arguments.push_back(name);
  process.arguments.insert(process.arguments.end(), {"--config", file});
  process.arguments.insert(process.arguments.end(), more.begin(), more.end());
  process.arguments.emplace_back("--settings-as-json");
  auto child = ChildProcess::start(process);
  if (!child) return child.error();
  std::string text;
  std::optional<ProcessEnd> end;
  while (true) {
    end = child->poll_end();
    for (const auto& line : child->read_lines()) text += line;
    if (end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::cerr << complaints.text();
  if (end->exit_code != 0 || end->signal != 0) return json();
  json rows = json::parse(text, nullptr, false);
  return rows.is_array() ? rows : json();
}

/// Every limit, in the form of ask_program.
Result<json> limits_of(const std::string& file) {
  auto config = agent::runtime::ConfigFile::load(file);
  if (!config) return config.error();
  auto settings = agent::runtime::settings_of(*config);
  if (!settings) return settings.error();
  json rows = json::array();
  const json all = agent::runtime::to_json(*settings);
  for (const auto& [section, limits] : all.items()) {
    for (const auto& [key, value] : limits.items()) {
      const std::string pointer = "/" + section + "/" + key;
      const bool is_set = config->limits().contains(json::json_pointer(pointer));
      rows.push_back({{"name", section + "." + key},
                      {"value", value.dump()},
                      {"from", is_set ? config->place_of_limit(pointer) : "default"}});
    }
  }
  return rows;
}

Result<json> rows_of(const std::string& table, const std::string& file,
                     const std::vector<std::string>& more) {
  return table == kLimits ? limits_of(file) : ask_program(table, file, more);
}

void print_rows(const std::string& table, const json& rows) {
  std::size_t longest = 0;
  for (const json& row : rows)
    longest = std::max(longest, row.at("name").get_ref<const std::string&>().size() +
                                    row.at("value").get_ref<const std::string&>().size());
  std::cout << "[" << table << "]\n";
  for (const json& row : rows) {
    const std::string text =
        safe_text(row.at("name").get<std::string>() + " = " + row.at("value").get<std::string>());
    std::cout << std::left << std::setw(static_cast<int>(std::min<std::size_t>(longest, 60)) + 5)
              << text << "# " << safe_text(row.at("from").get<std::string>()) << '\n';
  }
}

int show(const std::string& file, const std::string& table, const std::vector<std::string>& more,
         bool as_json) {
  auto tables = agent::runtime::ConfigFile::table_names();
  tables.emplace_back(kLimits);
  if (!table.empty()) tables = {table};
  json all = json::object();
  for (const auto& name : tables) {
    auto rows = rows_of(name, file, more);
    if (!rows) return fail(rows.error());
    if (rows->is_null()) return 1;
    if (!as_json) {
      if (name != tables.front()) std::cout << '\n';
      print_rows(name, *rows);
    }
    all[name] = std::move(*rows);
  }
  if (as_json) print_json(all);
  return 0;
}

/// Checks the file table by table, and prints all errors.
int check(const std::string& file) {
  auto config = agent::runtime::ConfigFile::load(file);
  if (!config) {
    fail(config.error());
    return 1;
  }
  bool is_right = true;
  for (const auto& table : agent::runtime::ConfigFile::table_names()) {
    if (config->options(table).empty()) continue;
    auto rows = ask_program(table, file, {});
    if (!rows) return fail(rows.error());
    is_right = is_right && !rows->is_null();
  }
  if (auto settings = agent::runtime::settings_of(*config); !settings) {
    fail(settings.error());
    is_right = false;
  }
  if (is_right) std::cout << safe_text(file) << " has no errors\n";
  return is_right ? 0 : 1;
}

}  // namespace

void add_config_command(CLI::App& app, ChosenCommand& chosen) {
  CLI::App* config = app.add_subcommand("config", "check or show a configuration file");
  config->require_subcommand(1);
  auto file = std::make_shared<std::string>();

  CLI::App* checks = config->add_subcommand(
      "check", "list all errors of a configuration file, with their positions");
  checks->add_option("FILE", *file, "such as league.toml")->required();
  checks->footer(
      "Example:\n"
      "  league config check league.toml\n"
      "Exit codes: 0 the file has no errors, 1 it has, 2 wrong usage or environment.");
  agent::host::when_given(*checks, chosen, [file] { return check(*file); });

  CLI::App* shows = config->add_subcommand(
      "show", "show the settings of a program, and where each one comes from");
  auto table = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  shows->add_option("FILE", *file, "such as league.toml")->required();
  shows
      ->add_option(
          "TABLE", *table,
          "show only this table; options of the program may follow, as on its command line")
      ->check(CLI::IsMember({"league_manager", "referee", "player", "up", kLimits}));
  shows->add_flag("--json", *as_json, "print one JSON object for machines");
  shows->allow_extras();
  shows->footer(
      "Examples:\n"
      "  league config show league.toml\n"
      "  league config show league.toml league_manager --players 4\n"
      "A default that depends on other things, such as the time, is not shown.\n"
      "Exit codes: 0 shown, 1 the file has errors, 2 wrong usage or environment.");
  agent::host::when_given(*shows, chosen, [=] {
    const auto more = shows->remaining();
    if (table->empty() && !more.empty())
      return fail({core::ErrorCode::kInvalidFieldValue,
                   "say which program " + more.front() + " is for",
                   {}});
    return show(*file, *table, more, *as_json);
  });
}

}  // namespace league::tools
