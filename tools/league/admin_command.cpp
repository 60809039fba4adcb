#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/agent/identity/secret_file.h"
#include "common/core/private_file.h"
#include "tools/league/up/manager_client.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using nlohmann::json;

struct AdminOptions {
  std::string url;
  std::string agent_id;
  std::filesystem::path key_file;
  std::filesystem::path token_file;
  bool json = false;
};

void print_new_token(const AdminOptions& options, const json& answer) {
  const std::string token = answer.value("auth_token", "");
  if (options.json) {
    json object = {{"agent_id", options.agent_id}, {"league_id", answer.value("league_id", "")}};
    if (options.token_file.empty()) object["auth_token"] = token;
    return print_json(object);
  }
  std::cout << safe_text(options.agent_id) << " has a new token; the old one is invalid.\n";
  if (options.token_file.empty()) {
    std::cout << safe_text(token) << '\n';
  } else {
    std::cout << "It is in " << options.token_file.string()
              << "; give that file to the agent's owner (player --token FILE)\n";
  }
  std::cout.flush();
}

int new_token(const AdminOptions& options) {
  auto key = agent::identity::read_secret_file(options.key_file);
  if (!key) {
    auto error = key.error();
    error.message += "; use the file of the manager's --operator-key (default: DATA/operator.key)";
    return fail(error);
  }
  auto client = ManagerClient::connect(options.url);
  if (!client) return fail(client.error());
  auto answer = client->call("new_agent_token",
                             {{"operator_key", key->reveal()}, {"agent_id", options.agent_id}});
  if (!answer) return fail(answer.error(), exit_code_of(answer.error()));
  if (!options.token_file.empty()) {
    auto written =
        core::write_private_file(options.token_file, answer->value("auth_token", "") + "\n");
    if (!written) return fail(written.error());
  }
  print_new_token(options, *answer);
  return 0;
}

}  // namespace

void add_admin_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* admin = app.add_subcommand("admin",
                                       "pause, resume and end a league, void matches, shut agents "
                                       "down, make codes, choose a manager");
  admin->require_subcommand(1);
  add_agent_acts(*admin, chosen);
  add_league_acts(*admin, chosen);
  add_codes_commands(*admin, chosen);
  add_lead_command(*admin, chosen);
  auto options = std::make_shared<AdminOptions>();
  CLI::App* command =
      admin->add_subcommand("new-token", "give an agent that has lost its token a new one");
  add_manager_url(*command, options->url);
  command->add_option("AGENT", options->agent_id, "the seat, such as P07 or REF01")->required();
  command->add_option("--operator-key", options->key_file, "file with the operator's key")
      ->required();
  command->add_option("--token-file", options->token_file,
                      "write the token to this file (mode 0600) instead of printing it");
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->footer(
      "Example:\n"
      "  league admin new-token http://localhost:8000/mcp P07 --operator-key data/operator.key "
      "--token-file p07.token\n"
      "  player --manager http://localhost:8000/mcp --name alpha --token p07.token\n"
      "Exit codes: 0 the seat has a new token, 1 the manager refused, 2 it did not answer or there "
      "is no key.");
  agent::host::when_given(*command, chosen, [options] { return new_token(*options); });
}

}  // namespace league::tools
