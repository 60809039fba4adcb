#include "tools/audit/program/commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "common/agent/host/terminal.h"
#include "tools/audit/inspect/audit_commands.h"
#include "tools/audit/rules/audit_verify.h"

namespace league::tools::auditor {
namespace {

struct AuditOptions {
  std::filesystem::path directory;
  std::string what;
  bool json = false;

  [[nodiscard]] AuditOutput output() const {
    return {.json = json, .colour = !json && agent::host::may_colour(STDOUT_FILENO)};
  }
};

void add_directory(CLI::App& command, AuditOptions& options) {
  command.add_option("DIR", options.directory, "directory that contains data/ and logs/")
      ->required()
      ->check(CLI::ExistingDirectory);
}

void add_json(CLI::App& command, AuditOptions& options) {
  command.add_flag("--json", options.json, "print one JSON object for machines");
}

void add_show(CLI::App& audit, std::function<int()>& chosen) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command =
      audit.add_subcommand("show", "show one conversation, merged from the logs of all agents");
  add_directory(*command, *options);
  command->add_option("CONVERSATION_ID", options->what, "such as convr1m1001")->required();
  add_json(*command, *options);
  command->footer(
      "Example:\n  league audit show runs/2025-01-15T10-30-00Z convr1m1001\n"
      "Exit codes: 0 found, 1 there is no such conversation, 2 DIR contains no logs.");
  agent::host::when_given(*command, chosen, [options] {
    return audit_show(options->directory, options->what, options->output(), std::cout, std::cerr);
  });
}

void add_verify(CLI::App& audit, std::function<int()>& chosen) {
  auto options = std::make_shared<AuditOptions>();
  auto verify = std::make_shared<VerifyOptions>();
  CLI::App* command = audit.add_subcommand("verify",
                                           "verify that every log is complete and sealed, and "
                                           "agrees with the protocol, the draws and the table");
  add_directory(*command, *options);
  add_json(*command, *options);
  command->add_flag(
      "--chain-only", verify->chain_only,
      "check only hashes, numbers and seals: fast, but ignores the contents of the records");
  command
      ->add_option("--without", verify->without,
                   "logs that are kept elsewhere: ids of agents, league_manager, journal")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->footer(
      "Examples:\n  league audit verify runs/2025-01-15T10-30-00Z\n"
      "  league audit verify runs                       each league in it\n"
      "  league audit verify DIR --without P03,journal\n"
      "Exit codes: 0 nothing is wrong, 1 there are faults or evidence is missing, 2 DIR contains "
      "no logs.");
  agent::host::when_given(*command, chosen, [options, verify] {
    verify->json = options->json;
    return audit_verify(options->directory, *verify, std::cout, std::cerr);
  });
}

void add_explain(CLI::App& audit, std::function<int()>& chosen) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command = audit.add_subcommand("explain",
                                           "show what happened in a match, which calls were "
                                           "repeated, and who was at fault for each failure");
  add_directory(*command, *options);
  auto html = std::make_shared<std::filesystem::path>();
  command->add_option("MATCH", options->what, "such as R1M1 or convr1m1001")->required();
  add_json(*command, *options);
  command->add_option("--html", *html, "write a page with a sequence diagram to this file");
  command->footer(
      "Examples:\n  league audit explain runs/2025-01-15T10-30-00Z R1M1\n"
      "  league audit explain runs/2025-01-15T10-30-00Z R1M1 --html R1M1.html\n"
      "Exit codes: 0 found, 1 there is no such match, 2 DIR contains no logs or the file cannot be "
      "written.");
  agent::host::when_given(*command, chosen, [options, html] {
    return audit_explain(options->directory, options->what,
                         {.output = options->output(), .html = *html}, std::cout, std::cerr);
  });
}

void add_find(CLI::App& audit, std::function<int()>& chosen) {
  auto options = std::make_shared<AuditOptions>();
  auto query = std::make_shared<FindQuery>();
  CLI::App* command =
      audit.add_subcommand("find", "find records by player, type, error, match or time");
  add_directory(*command, *options);
  add_json(*command, *options);
  command->add_option("--player", query->player,
                      "sent or received by this agent, such as P01 or REF01");
  command->add_option("--type", query->type, "message type, such as GAME_OVER");
  command->add_option("--error", query->error, "code, such as E004; `any` for all faults");
  command->add_option("--match", query->match, "such as R1M1");
  command->add_option("--since", query->since, "UTC, such as 2025-01-15T10:30");
  command->add_option("--until", query->until, "UTC, such as 2025-01-15T10:31");
  command->add_flag(
      "--hearsay", query->hearsay,
      "with --player: also messages that somebody sent in its name without its token");
  command->footer(
      "Example:\n  league audit find runs/2025-01-15T10-30-00Z --error any\n"
      "Exit codes: 0 found, 1 no record matches, 2 DIR contains no logs.");
  agent::host::when_given(*command, chosen, [options, query] {
    return audit_find(options->directory, *query, options->output(), std::cout, std::cerr);
  });
}

void add_bundle(CLI::App& audit, std::function<int()>& chosen) {
  auto options = std::make_shared<AuditOptions>();
  auto archive = std::make_shared<std::filesystem::path>();
  CLI::App* command =
      audit.add_subcommand("bundle", "pack logs and results without secrets, to share with others");
  add_directory(*command, *options);
  command->add_option("OUT", *archive, "such as league.tar.gz; must not exist")->required();
  command->footer(
      "Example:\n"
      "  league audit bundle runs/2025-01-15T10-30-00Z league.tar.gz\n"
      "Exit codes: 0 written, 1 written, but a log contained secrets (now masked; stderr lists the "
      "lines), 2 not written.");
  agent::host::when_given(*command, chosen, [options, archive] {
    return audit_bundle(options->directory, *archive, std::cout, std::cerr);
  });
}

void add_log(CLI::App& audit, std::function<int()>& chosen) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command = audit.add_subcommand(
      "log", "show what a player or referee received and answered, and its faults");
  add_directory(*command, *options);
  command->add_option("AGENT", options->what, "an id, such as P01 or REF01, or a name")->required();
  add_json(*command, *options);
  command->footer(
      "Example:\n"
      "  league audit log runs/2025-01-15T10-30-00Z P01\n"
      "Exit codes: 0 the agent has no faults, 1 it has, or it is in no log, 2 DIR contains no "
      "logs.");
  agent::host::when_given(*command, chosen, [options] {
    return audit_log(options->directory, options->what, options->output(), std::cout, std::cerr);
  });
}

}  // namespace

void add_audit_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* audit = app.add_subcommand(
      "audit", "show what happened according to the conversation logs, and verify them");
  audit->require_subcommand(1);
  add_show(*audit, chosen);
  add_log(*audit, chosen);
  add_verify(*audit, chosen);
  add_explain(*audit, chosen);
  add_find(*audit, chosen);
  add_bundle(*audit, chosen);
}

}  // namespace league::tools::auditor
