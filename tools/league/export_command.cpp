#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "tools/league/export/export_league.h"

namespace league::tools {

void add_export_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand(
      "export",
      "make a league's files again from its journal and logs, or CSV tables, or HTML pages");
  command
      ->add_option("DIR", options->directory,
                   "directory that holds data/ and logs/, or the --data of a manager")
      ->required()
      ->check(CLI::ExistingDirectory);
  command->add_option("--logs", options->logs, "directory of the logs (default: DIR/logs)")
      ->check(CLI::ExistingDirectory);
  command
      ->add_option("--format", options->format,
                   "json: the files of the data directory; csv: tables for spreadsheets; html: "
                   "pages for people")
      ->check(CLI::IsMember({"json", "csv", "html"}))
      ->capture_default_str();
  command->add_option(
      "--out", options->out,
      "directory to write to (default: the data directory for json, else DIR/export)");
  command->add_flag("--force", options->may_overwrite,
                    "overwrite files that this command has not made");
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->footer(
      "Examples:\n"
      "  league export runs/2025-01-15T10-30-00Z\n"
      "  league export runs/2025-01-15T10-30-00Z --format html --out pages\n"
      "  league export data --logs logs --format csv --out tables\n"
      "Works while the manager runs, and on a directory that cannot be written (with --out).\n"
      "Exit codes: 0 the files are written, 2 they could not be.");
  command->callback([options, &chosen] {
    chosen = [options] { return export_league(*options, std::cout, std::cerr); };
  });
}

}  // namespace league::tools
