#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/journal/group_commit.h"
#include "common/journal/journal.h"

namespace league::journal {

struct SqliteJournalOptions {
  std::filesystem::path file;  ///< its directory exists; beside it stand FILE.lock and FILE-wal
  /// Told once when a commit fails (a full disk): the process has to stop. Runs on the writing
  /// thread; may be empty.
  std::function<void(const core::Error&)> on_failure;
  /// For tests: see GroupCommitOptions.
  std::function<void(FaultPoint)> fault_point;
  /// For tests: SQLite's name of the file layer to use; empty: the system's.
  std::string vfs;
  /// For tests: what a later program would add to the versions that this one knows, as SQL.
  std::vector<std::string> later_migrations = {};
  /// See JournalMark; empty: there is none.
  std::filesystem::path mark = {};
  /// Called when this process has the lock, before SQLite opens (and perhaps makes) the file: with
  /// an error everything stays as it is. May be empty.
  std::function<core::Result<void>()> check = {};
  /// What commits leave in the write-ahead log is moved into the file when nothing has come for so
  /// long, and at the latest so long after the first of them: the file, not its log, holds the
  /// league.
  std::chrono::milliseconds checkpoint_when_idle{100};
  std::chrono::milliseconds checkpoint_at_latest{1000};
};

/// A journal in one SQLite file: write-ahead log, a flush of the disk for every commit, many
/// appends per commit. One process writes it, others may read it at the same time with
/// `read_journal`.
///
/// Each entry holds SHA-256 of (digest of the entry before, type, newline, payload), so that an
/// entry that is damaged, missing or exchanged is found when the journal is read. Thread-safe.
/// docs/operating.md says what the files are; docs/decisions.md why.
class SqliteJournal final : public Journal {
 public:
  /// Opens the journal, which is made if it is missing, and checks it. Fails, changing nothing,
  /// when another process writes it, when it is damaged, no journal at all, or of a later version,
  /// and when the system refuses the files.
  [[nodiscard]] static core::Result<std::unique_ptr<SqliteJournal>> open(
      SqliteJournalOptions options);
  /// Stores what has been appended, and closes.
  ~SqliteJournal() override;
  /// Stores what has been appended and tells its callers; what is appended later is refused. For
  /// an orderly end, while those whom `durable` reaches are still there.
  void close();
  /// The content is what it should be: from now on the end of this object removes the write-ahead
  /// log, when all of it is in the file. Until then, where there is a `check`, it stays.
  void accept() { is_accepted_ = true; }

  /// `durable` runs on a thread of the journal, in the order of the appends, and must not take
  /// long.
  void append(std::vector<EventRecord> records, Durable durable) override;
  [[nodiscard]] core::Result<void> replay(const Visitor& visit) const override;

 private:
  class Store;
  explicit SqliteJournal(SqliteJournalOptions options, std::unique_ptr<Store> store);

  const SqliteJournalOptions options_;
  std::unique_ptr<Store> store_;
  std::atomic<bool> is_accepted_ = false;
  std::unique_ptr<GroupCommit> commits_;  // last: it uses the store
};

/// Shows every entry of a journal in order, and checks its digest and number; ends with the first
/// error of `visit`. Works beside the journal's writer and in a directory that cannot be written.
[[nodiscard]] core::Result<void> read_journal(const std::filesystem::path& file,
                                              const Journal::Visitor& visit);

}  // namespace league::journal
