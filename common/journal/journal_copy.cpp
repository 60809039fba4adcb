#include "common/journal/journal_copy.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include "common/core/draft_file.h"
#include "common/journal/sqlite_journal.h"

namespace league::journal {
namespace {

namespace fs = std::filesystem;

constexpr int kCopyBusyMilliseconds = 5000;

core::Result<void> check(const fs::path& journal) {
  return read_journal(journal, [](const Entry&) { return core::Result<void>{}; });
}

/// Copies all pages in one step, so that the copy is consistent. May throw, like all SQLite calls.
void copy_pages(const fs::path& journal, const fs::path& copy) {
  SQLite::Database from(journal.string(), SQLite::OPEN_READONLY, kCopyBusyMilliseconds);
  // Closing this connection must not checkpoint the write-ahead log that a killed manager left.
  sqlite3_db_config(from.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  SQLite::Database to(copy.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  SQLite::Backup(to, from).executeStep(-1);
  to.exec("PRAGMA journal_mode = DELETE");  // a single file, without a write-ahead log beside it
}

}  // namespace

core::Result<void> copy_journal(const fs::path& journal, const fs::path& copy) {
  std::error_code ignored;
  if (fs::exists(copy, ignored)) {
    return core::Error{core::ErrorCode::kInternalError,
                       "copy of the journal: " + copy.string() + " already exists", ""};
  }
  if (auto readable = check(journal); !readable) return readable;
  core::Result<void> copied;
  try {
    copy_pages(journal, copy);
    copied = check(copy);
    if (copied) copied = core::flush_directory(copy.parent_path());
  } catch (const SQLite::Exception& problem) {
    copied = core::Error{core::ErrorCode::kInternalError,
                         "copy of the journal " + copy.string() + ": " + problem.what(), ""};
  }
  if (!copied) fs::remove(copy, ignored);
  return copied;
}

}  // namespace league::journal
