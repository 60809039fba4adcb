#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tools/league/export/backup.h"

namespace league::tools {
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
      app.add_subcommand("backup", "copy a league, also one that runs, so that it can be restored");
  command
      ->add_option("DIR", words->directories,
                   "[SOURCE] DIR: SOURCE is the --data of a manager or the directory of a run that "
                   "holds it (default: data); DIR, missing or empty, becomes the copy")
      ->required()
      ->expected(1, 2);
  command->add_flag("--json", words->json, "print one JSON object for machines");
  command->footer(
      "Examples:\n"
      "  league backup /backup/cup-tuesday                 (of the league in data/)\n"
      "  league backup runs/2025-01-15T10-30-00Z copy\n"
      "The copy is a data directory with secrets: journal, keys and identities; keep it as secret\n"
      "as the original. Tables, matches and histories are not in it, since `league export` makes\n"
      "them again; logs/ is copied with ordinary means.\n"
      "To restore it: end the manager, move its data directory away, `cp -a COPY data`, and start\n"
      "the manager on it. If the league went on after the copy was made, the manager says what\n"
      "would be lost; with --accept-loss it goes on without.\n"
      "Exit codes: 0 the copy is made, 2 it could not be.");
  command->callback([words, &chosen] { chosen = [words] { return run(*words); }; });
}

}  // namespace league::tools
