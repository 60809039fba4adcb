#include "tools/audit/program/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/core/private_file.h"
#include "common/journal/journal_copy.h"
#include "common/rpc/json_text.h"
#include "tools/audit/export/export_source.h"
#include "tools/audit/rules/bundle.h"

namespace league::tools::auditor {
namespace {

struct BackupWords {
  std::vector<std::string> directories;  ///< [SOURCE] DIR
  bool json = false;
};

namespace fs = std::filesystem;

core::Error backup_error(const std::string& why) {
  return {core::ErrorCode::kInternalError, "backup: " + why, ""};
}

/// The files besides the journal that a restart needs; all are for their owner only.
std::vector<fs::path> private_files(const fs::path& data) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const char* name : {"secret.key", "operator.key", "referee.key", "log.key", "bus.session",
                           "league_up.json", "league_up.limits.json"}) {
    if (fs::exists(data / name, ignored)) files.emplace_back(name);
  }
  for (const auto& entry : fs::directory_iterator(data / "agents", ignored)) {
    auto extension = entry.path().extension();
    if (entry.is_regular_file(ignored) && extension != ".lock" && extension != ".new")
      files.push_back(fs::path("agents") / entry.path().filename());
  }
  return files;
}

core::Result<void> copy_private(const fs::path& from, const fs::path& to) {
  auto content = core::read_private_file(from);
  if (!content) return content.error();
  if (!*content) return {};  // removed meanwhile
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  if (failed) return backup_error(to.parent_path().string() + ": " + failed.message());
  return core::write_private_file(to, **content);
}

/// Fills an empty directory. The journal is copied last, so that it contains everything to which
/// the other files refer.
core::Result<void> fill(const fs::path& data, const fs::path& draft) {
  for (const auto& name : private_files(data)) {
    if (auto copied = copy_private(data / name, draft / name); !copied) return copied;
  }
  std::error_code failed;
  fs::create_directory(draft / "journal", failed);
  if (!failed) fs::permissions(draft / "journal", fs::perms::owner_all, failed);
  if (failed) return backup_error((draft / "journal").string() + ": " + failed.message());
  auto copied = journal::copy_journal(data / "journal" / "journal.sqlite",
                                      draft / "journal" / "journal.sqlite");
  return copied ? core::flush_directory(draft) : copied;
}

core::Result<void> check_target(const fs::path& target) {
  std::error_code failed;
  if (fs::exists(target, failed) &&
      (!fs::is_directory(target, failed) || !fs::is_empty(target, failed)))
    return backup_error(target.string() + " already exists, and is not empty: choose another DIR");
  return {};
}

/// Creates `target`: fills a temporary directory next to it, which is renamed when it is complete.
core::Result<league_manager::files::LeagueBook> make(const fs::path& data, const fs::path& target) {
  if (auto is_free = check_target(target); !is_free) return is_free.error();
  fs::path draft = target.string() + ".new";
  std::error_code failed;
  fs::remove_all(draft, failed);
  fs::create_directories(draft, failed);
  if (!failed) fs::permissions(draft, fs::perms::owner_all, failed);
  if (failed) return backup_error(draft.string() + ": " + failed.message());
  auto done = fill(data, draft);
  auto book = done ? league_manager::files::read_book(draft)
                   : core::Result<league_manager::files::LeagueBook>(done.error());
  if (book) fs::rename(draft, target, failed);
  std::error_code ignored;
  if (!book || failed) fs::remove_all(draft, ignored);
  if (failed) return backup_error(target.string() + ": " + failed.message());
  return book;
}

/// Makes a data directory with which a league can be continued: its journal as it is at one moment,
/// whether its manager runs or not, and the keys and identities that are stored with it. The copy
/// is complete, or there is none. Returns 0, or 2 if the copy could not be made.
int run(const BackupWords& words) {
  auto fail = [](const core::Error& error) {
    std::cerr << "error: " << error.message << '\n';
    return 2;
  };
  auto source = find_export_source(
      words.directories.size() > 1 ? fs::path(words.directories.front()) : "data", {});
  if (!source) return fail(source.error());
  auto target = fs::absolute(fs::path(words.directories.back())).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // DIR/
  auto book = make(source->data, target);
  if (!book) return fail(book.error());
  auto status = book->league().status();
  const std::string& id = book->league().settings().league_id.str();
  if (words.json) {
    const nlohmann::json summary = {{"league_id", id},
                                    {"out", target.string()},
                                    {"journal_entries", book->entries()},
                                    {"players", status.players},
                                    {"matches_completed", status.finished.total_matches},
                                    {"total_matches", status.total_matches}};
    std::cout << rpc::to_json_text(summary) << '\n';
  } else {
    std::cout << "league " << id << ": a copy with " << book->entries() << " entries and "
              << status.finished.total_matches << " of " << status.total_matches
              << " matches is in " << target.string() << '\n'
              << "To verify it, copy the logs before the backup is made, into LOGS:\n"
              << "  mkdir COPY && cp -a " << target.string()
              << " COPY/data && cp -a LOGS COPY/logs && " << verify_command("COPY", {}) << '\n';
  }
  return 0;
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
