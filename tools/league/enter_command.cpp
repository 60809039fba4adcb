#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/agent/identity/secret_file.h"
#include "common/core/private_file.h"
#include "tools/league/up/enter.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

struct EnterOptions {
  std::string url;
  Entrant entrant;
  std::filesystem::path token_file;
  std::filesystem::path code_file;
  bool json = false;
};

int enter(EnterOptions options) {
  auto code = agent::identity::read_secret_file(options.code_file);
  if (!code) return fail(code.error());
  options.entrant.registration_code = std::move(*code);
  auto manager = ManagerClient::connect(options.url);
  if (!manager) return fail(manager.error());
  core::SystemClock clock;
  core::CryptoRandom random;
  auto entry = enter_player(*manager, options.entrant, clock, random);
  if (!entry) return fail(entry.error(), exit_code_of(entry.error()));
  if (!options.token_file.empty() && entry->token.empty())
    std::cerr << "note: this league manager gives no tokens; no token file was written\n";
  if (!options.token_file.empty() && !entry->token.empty()) {
    auto written = core::write_private_file(options.token_file, entry->token.reveal() + "\n");
    if (!written) return fail(written.error());
  }
  if (options.json) {
    nlohmann::json object = {{"player_id", entry->player_id},
                             {"league_id", entry->league_id},
                             {"display_name", options.entrant.display_name},
                             {"contact_endpoint", options.entrant.endpoint}};
    print_json(object);
  } else {
    std::cout << safe_text(options.entrant.display_name) << " is " << safe_text(entry->player_id);
    if (!entry->league_id.empty()) std::cout << " of " << safe_text(entry->league_id);
    std::cout << std::endl;
  }
  return 0;
}

}  // namespace

void add_enter_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<EnterOptions>();
  CLI::App* command = app.add_subcommand(
      "enter", "register a player that cannot register itself, such as an MCP server");
  add_manager_url(*command, options->url);
  command->add_option("--name", options->entrant.display_name, "the player's name")->required();
  command
      ->add_option("--endpoint", options->entrant.endpoint,
                   "address at which the player can be called; stdio:COMMAND if the operator "
                   "allows the command")
      ->required();
  command->add_option("--game", options->entrant.game_types, "a game that it plays (even_odd)");
  command->add_option(
      "--token-file", options->token_file,
      "store the player's token in this file (mode 0600); by default it is not stored");
  command->add_option("--registration-code", options->code_file,
                      "file (mode 0600) with the registration code, if the league requires one");
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->footer(
      "Examples:\n"
      "  league enter http://localhost:8000/mcp --name clever --endpoint stdio:\"python3 bot.py\"\n"
      "  league enter localhost:8000 --name far --endpoint http://10.0.0.7:3001/mcp\n"
      "Exit codes: 0 the player is registered, 1 the manager refused it, 2 the manager did not "
      "answer.");
  agent::host::when_given(*command, chosen, [options] { return enter(*options); });
}

}  // namespace league::tools
