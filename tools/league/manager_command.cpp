#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/schema/json_fields.h"
#include "tools/league/up/league_progress.h"
#include "tools/league/up/live_view.h"
#include "tools/league/up/manager_client.h"
#include "tools/league/up/table_text.h"
#include "tools/league/up/watch_view.h"

namespace league::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kWidth = 120;
constexpr std::size_t kRows = 20;

struct ManagerOptions {
  std::string url;
  std::string key_file;
  bool json = false;
  bool all = false;
  std::string agent;
  std::string reason;
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
  core::Result<json> agents = json::array();
  if (options.all) agents = client->agents();
  if (!agents) return fail(agents.error(), 2);
  auto rows = client->standings(options.json || options.all
                                    ? static_cast<std::size_t>(std::max(progress.players, 1))
                                    : kRows);
  if (!rows) return fail(rows.error(), 2);
  if (options.json) {
    (*answer)["standings"] = *rows;
    if (options.all) (*answer)["agents"] = *agents;
    print_json(*answer);
    return 0;
  }
  core::SystemClock clock;
  std::string state = progress.is_completed() ? "completed" : "";
  std::cout << safe_text(progress.league_id) << ": " << (state.empty() ? "" : state + ", ")
            << progress_line(progress, progress.seconds(clock.utc_now())) << "\n\n";
  const auto shown = parse_rows(*rows);
  for (const auto& line : table_lines(shown, kWidth, options.all ? shown.size() : kRows,
                                      static_cast<std::size_t>(progress.players)))
    std::cout << line << '\n';
  if (options.all) {
    std::cout << '\n';
    for (const auto& line : agent_lines(*agents)) std::cout << line << '\n';
  }
  if (progress.champion) {
    std::cout << '\n' << champion_line(progress) << '\n';
  }
  return 0;
}

/// Calls a tool that only the operator may call, and says `done`.
int act(const ManagerOptions& options, const std::string& tool, json arguments,
        const std::string& done) {
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
  arguments["operator_key"] = key;
  auto answer = client->call(tool, arguments);
  if (!answer) {
    auto code = answer.error().code;
    bool nobody = code == core::ErrorCode::kConnectionError || code == core::ErrorCode::kTimeout;
    return fail(answer.error(), nobody ? 2 : 1);
  }
  if (options.json) {
    print_json(*answer);
  } else {
    std::cout << done << '\n';
  }
  return 0;
}

int start(const ManagerOptions& options) {
  return act(options, "start_league", json::object(), "the league has started");
}

int change_agent(const ManagerOptions& options, bool shuts_down) {
  return act(options, shuts_down ? "shut_down_agent" : "restore_agent",
             {{"agent_id", options.agent}, {"reason", options.reason}},
             safe_text(options.agent) + (shuts_down ? " is shut down" : " is ACTIVE again"));
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
  CLI::App* command = app.add_subcommand("status", "show how far a league is, and its table");
  add_url(*command, *options);
  command->add_flag("--all", options->all,
                    "the whole table, and the state of every agent with its reason");
  command->footer(
      "Examples:\n  league status http://localhost:8000/mcp\n"
      "  league status --all http://localhost:8000/mcp\n"
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

void add_state_commands(CLI::App& admin, std::function<int()>& chosen) {
  for (const bool shuts_down : {true, false}) {
    auto options = std::make_shared<ManagerOptions>();
    CLI::App* act = admin.add_subcommand(
        shuts_down ? "shut-down" : "restore",
        shuts_down ? "shut an agent down until it is restored: a player loses its matches, a "
                     "referee gets none"
                   : "let an agent that was shut down play again; also ends a suspension");
    add_url(*act, *options);
    act->add_option("ID", options->agent, "such as P07 or REF02")->required();
    act->add_option("--operator-key", options->key_file, "file with the operator's key")
        ->required();
    act->add_option("--reason", options->reason, "a reason, shown to people and to the agent");
    act->footer(
        std::string("Example:\n  league admin ") + (shuts_down ? "shut-down" : "restore") +
        " http://localhost:8000/mcp P07 --operator-key data/operator.key\n"
        "Exit codes: 0 done, 1 the manager refused, 2 it did not answer or there is no key.");
    act->callback([options, shuts_down, &chosen] {
      chosen = [options, shuts_down] { return change_agent(*options, shuts_down); };
    });
  }
}

}  // namespace league::tools
