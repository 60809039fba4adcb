#include "tools/audit/program/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "tools/audit/export/export_league.h"

namespace league::tools::auditor {

void add_export_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand(
      "export",
      "recreate a league's files from its journal and logs, or write tables, grades or a site");
  command
      ->add_option("DIR", options->directory,
                   "directory that contains data/ and logs/, or the --data of a manager")
      ->required()
      ->check(CLI::ExistingDirectory);
  command->add_option("--logs", options->logs, "directory of the logs (default: DIR/logs)")
      ->check(CLI::ExistingDirectory);
  command
      ->add_option("--format", options->format,
                   "json: the files of the data directory; csv: tables for spreadsheets; html: a "
                   "site for people; grades: grades.csv, a row for each player; gradescope: a "
                   "results.json for each player")
      ->check(CLI::IsMember({"json", "csv", "html", "grades", "gradescope"}))
      ->capture_default_str();
  command->add_option(
      "--out", options->out,
      "directory to write to (default: the data directory for json, else DIR/export)");
  command->add_option_function<std::string>(
      "--site",
      [options](const std::string& directory) {
        options->format = "html";
        options->out = directory;
      },
      "the same as --format html --out");
  command
      ->add_option(
          "--names", options->grades.names,
          "for grades: CSV of the course with a column `name`; its other columns are copied")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--check-report", options->grades.checks,
                   "for grades: output of `league check --format json`, for the column check_level")
      ->check(CLI::ExistingFile);
  command->add_flag("--force", options->may_overwrite,
                    "overwrite files that do not come from a league with this name");
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->footer(
      "Examples:\n"
      "  league export runs/2025-01-15T10-30-00Z\n"
      "  league export runs/2025-01-15T10-30-00Z --site pages\n"
      "  league export runs/2025-01-15T10-30-00Z --format grades --names course.csv --out grades\n"
      "  league export data --logs logs --format csv --out tables\n"
      "Works while the manager is running, and on a read-only directory (with --out).\n"
      "Exit codes: 0 the files were written, 2 they could not be written.");
  agent::host::when_given(*command, chosen,
                          [options] { return export_league(*options, std::cout, std::cerr); });
}

}  // namespace league::tools::auditor
