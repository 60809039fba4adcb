#include "tools/league/manager_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/league/league_progress.h"
#include "tools/league/live_view.h"
#include "tools/league/manager_client.h"
#include "tools/league/table_text.h"

namespace league::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kWidth = 120;
constexpr std::size_t kRows = 20;

struct ManagerOptions {
  std::string url;
  std::string key_file;
  bool json = false;
};

int fail(const core::Error& error, int exit_code) {
  std::cerr << "error: " << safe_text(error.message) << '\n';
  return exit_code;
}

void print_json(const json& object) {
  std::cout << object.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
}

int status(const ManagerOptions& options) {
  auto client = ManagerClient::connect(options.url);
  if (!client) return fail(client.error(), 2);
  auto answer = client->call("get_league_status", json::object());
  if (!answer) return fail(answer.error(), 2);
  LeagueProgress progress = parse_progress(*answer);
  // For people the top of the table, for machines all of it.
  auto rows = client->standings(
      options.json ? static_cast<std::size_t>(std::max(progress.players, 1)) : kRows);
  if (!rows) return fail(rows.error(), 2);
  if (options.json) {
    (*answer)["standings"] = *rows;
    print_json(*answer);
    return 0;
  }
  core::SystemClock clock;
  std::string state = progress.is_completed() ? "completed" : "";
  std::cout << safe_text(progress.league_id) << ": " << (state.empty() ? "" : state + ", ")
            << progress_line(progress, progress.seconds(clock.utc_now())) << "\n\n";
  for (const auto& line :
       table_lines(parse_rows(*rows), kWidth, kRows, static_cast<std::size_t>(progress.players)))
    std::cout << line << '\n';
  if (progress.champion) {
    std::cout << "\nchampion: " << safe_text(progress.champion->display_name) << " ("
              << progress.champion->player_id << ") with " << progress.champion->points
              << " points\n";
  }
  return 0;
}

int start(const ManagerOptions& options) {
  std::ifstream file(options.key_file);
  std::string key;
  if (!std::getline(file, key) || key.empty()) {
    return fail({core::ErrorCode::kInternalError,
                 "no key in the first line of " + options.key_file +
                     "; it is the file behind the manager's --operator-key (default: "
                     "DATA/operator.key)",
                 {}},
                2);
  }
  if (key.back() == '\r') key.pop_back();
  auto client = ManagerClient::connect(options.url);
  if (!client) return fail(client.error(), 2);
  auto answer = client->call("start_league", {{"operator_key", key}});
  if (!answer) {
    auto code = answer.error().code;
    bool nobody = code == core::ErrorCode::kConnectionError || code == core::ErrorCode::kTimeout;
    return fail(answer.error(), nobody ? 2 : 1);
  }
  if (options.json) {
    print_json(*answer);
  } else {
    std::cout << "the league has started\n";
  }
  return 0;
}

void add_url(CLI::App& command, ManagerOptions& options) {
  command
      .add_option("URL", options.url, "of the league manager, such as http://localhost:8000/mcp")
      ->required();
  command.add_flag("--json", options.json, "print one JSON object for machines");
}

}  // namespace

void add_status_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<ManagerOptions>();
  CLI::App* command = app.add_subcommand("status", "how far is the league of a manager?");
  add_url(*command, *options);
  command->footer(
      "Example:\n  league status http://localhost:8000/mcp\n"
      "Exit codes: 0 it answered, 2 it did not.");
  command->callback([options, &chosen] { chosen = [options] { return status(*options); }; });
}

void add_start_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<ManagerOptions>();
  CLI::App* command =
      app.add_subcommand("start", "start a league now, with whoever has registered");
  add_url(*command, *options);
  command->add_option("--operator-key", options->key_file, "file with the operator's key")
      ->required();
  command->footer(
      "Example:\n  league start http://localhost:8000/mcp --operator-key data/operator.key\n"
      "Exit codes: 0 it has started, 1 the manager refused, 2 it did not answer or there is no "
      "key.");
  command->callback([options, &chosen] { chosen = [options] { return start(*options); }; });
}

}  // namespace league::tools
