#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/league/commands.h"
#include "tools/league/up/lose_after.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

struct LeadOptions {
  std::filesystem::path data;
  std::string last;
  bool json = false;
};

int lead(const LeadOptions& options) {
  const auto file = request_lead(options.data, options.last);
  if (!file) return fail(file.error());
  if (options.json) {
    print_json(nlohmann::json{{"file", file->string()}, {"lose_after", std::stoull(options.last)}});
    return 0;
  }
  std::cout << safe_text(file->string()) << " tells the manager of this directory to lead with the "
            << "events up to " << options.last << ".\n"
            << "It reads the file within a second, removes it, and says on stderr that it leads, "
               "or why it does not.\n"
            << "Events that only other managers have are lost: if such a manager is started later, "
               "it moves them into its put_aside/ and stands by. The audit reports this as the "
               "incident journal.given_up."
            << std::endl;
  return 0;
}

}  // namespace

void add_lead_command(CLI::App& admin, ChosenCommand& chosen) {
  auto options = std::make_shared<LeadOptions>();
  CLI::App* command = admin.add_subcommand(
      "lead",
      "let a manager that waits for other managers lead, although events that they have may be "
      "lost");
  command->add_option("DATA_DIR", options->data, "the manager's data directory, on its machine")
      ->required();
  command
      ->add_option("--lose-after", options->last,
                   "number of the last event of this manager, which its line on stderr names")
      ->required();
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->footer(
      "Example:\n"
      "  league admin lead data --lose-after 4211\n"
      "Start the managers that it waits for instead, if you can. Needs no operator's key, but the "
      "user that runs the manager.\n"
      "Exit codes: 0 the manager is told, 2 this is not its directory, or it cannot be written.");
  agent::host::when_given(*command, chosen, [options] { return lead(*options); });
}

}  // namespace league::tools
