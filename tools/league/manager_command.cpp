#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
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

struct StatusOptions {
  std::string url;
  bool json = false;
  bool all = false;
};

int status(const StatusOptions& options) {
  auto client = ManagerClient::connect(options.url);
  if (!client) return fail(client.error());
  auto answer = client->call("get_league_status", json::object());
  if (!answer) return fail(answer.error());
  LeagueProgress progress = parse_progress(*answer);
  // People get the top of the table, JSON contains all of it.
  core::Result<json> agents = json::array();
  if (options.all) agents = client->agents();
  if (!agents) return fail(agents.error());
  auto rows = client->standings(options.json || options.all
                                    ? static_cast<std::size_t>(std::max(progress.players, 1))
                                    : kRows);
  if (!rows) return fail(rows.error());
  if (options.json) {
    (*answer)["standings"] = *rows;
    if (options.all) (*answer)["agents"] = *agents;
    print_json(*answer);
    return 0;
  }
  core::SystemClock clock;
  std::string state = progress.is_completed() ? "completed" : "";
  std::cout << safe_text(progress.league_id) << ": " << (state.empty() ? "" : state + ", ")
            << progress_line(progress, progress.seconds(clock.utc_now())) << '\n';
  if (const std::string line = replication_line(*answer); !line.empty()) std::cout << line << '\n';
  std::cout << '\n';
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
  if (!progress.luck_sentence.empty())
    std::cout << (progress.champion ? "" : "\n") << safe_text(progress.luck_sentence) << '\n';
  return 0;
}

}  // namespace

void add_status_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = app.add_subcommand("status", "show the progress and the table of a league");
  add_manager_url(*command, options->url);
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->add_flag("--all", options->all,
                    "show the complete table, and the state of every agent with its reason");
  command->footer(
      "Examples:\n"
      "  league status http://localhost:8000/mcp\n"
      "  league status --all http://localhost:8000/mcp\n"
      "Exit codes: 0 the manager answered, 2 it did not.");
  agent::host::when_given(*command, chosen, [options] { return status(*options); });
}

}  // namespace league::tools
