#include "tools/audit/export/backup.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "common/core/private_file.h"
#include "common/journal/journal_copy.h"
#include "common/rpc/json_text.h"
#include "tools/audit/export/export_source.h"
#include "tools/audit/rules/bundle.h"

namespace league::tools::auditor {
namespace {

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

}  // namespace

int back_up(const BackupOptions& options, std::ostream& out, std::ostream& err) {
  auto fail = [&err](const core::Error& error) {
    err << "error: " << error.message << '\n';
    return 2;
  };
  auto source = find_export_source(options.source, {});
  if (!source) return fail(source.error());
  auto target = fs::absolute(options.directory).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // DIR/
  auto book = make(source->data, target);
  if (!book) return fail(book.error());
  auto status = book->league().status();
  const std::string& id = book->league().settings().league_id.str();
  if (options.json) {
    const nlohmann::json summary = {{"league_id", id},
                                    {"out", target.string()},
                                    {"journal_entries", book->entries()},
                                    {"players", status.players},
                                    {"matches_completed", status.finished.total_matches},
                                    {"total_matches", status.total_matches}};
    out << rpc::to_json_text(summary) << '\n';
  } else {
    out << "league " << id << ": a copy with " << book->entries() << " entries and "
        << status.finished.total_matches << " of " << status.total_matches << " matches is in "
        << target.string() << '\n'
        << "To verify it, copy the logs before the backup is made, into LOGS:\n"
        << "  mkdir COPY && cp -a " << target.string() << " COPY/data && cp -a LOGS COPY/logs && "
        << verify_command("COPY", {}) << '\n';
  }
  return 0;
}

}  // namespace league::tools::auditor
