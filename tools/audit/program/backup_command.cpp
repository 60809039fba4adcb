#include "tools/audit/program/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tools/audit/export/backup.h"

namespace league::tools::auditor {
namespace {

struct BackupWords {
  std::vector<std::string> directories;
  bool json = false;
};

int run(const BackupWords& words) {
  BackupOptions options;
  options.json = words.json;
  options.directory = words.directories.back();
  if (words.directories.size() > 1) options.source = words.directories.front();
  return back_up(options, std::cout, std::cerr);
}

}  // namespace

void add_backup_command(CLI::App& app, std::function<int()>& chosen) {
  auto words = std::make_shared<BackupWords>();
  CLI::App* command =
      app.add_subcommand("backup", "make a backup of a league, which may be running");
  command
      ->add_option("DIRS", words->directories,
                   "one or two: [SOURCE] DIR. SOURCE is the --data of a manager, or the directory "
                   "of a run that contains it (default: data); DIR is the directory of the copy, "
                   "which must be missing or empty")
      ->required()
      ->expected(1, 2);
  command->add_flag("--json", words->json, "print one JSON object for machines");
  command->footer(
      "Examples:\n"
      "  league backup /backup/cup-tuesday                 (of the league in data/)\n"
      "  league backup runs/2025-01-15T10-30-00Z copy\n"
      "The copy is a data directory with secrets (journal, keys and identities); keep it as "
      "secret\n"
      "as the original. It does not contain tables, matches and histories, because `league "
      "export`\n"
      "recreates them. Copy logs/ with ordinary tools.\n"
      "To restore it: stop the manager, move its data directory away, run `cp -a COPY data`, and\n"
      "start the manager. It refuses to start if the league's logs say that the league continued\n"
      "after the backup: restore the logs of that time, too (docs/recovery.md).\n"
      "Exit codes: 0 the copy was made, 2 it could not be made.");
  agent::host::when_given(*command, chosen, [words] { return run(*words); });
}

}  // namespace league::tools::auditor
