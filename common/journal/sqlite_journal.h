#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/journal/group_commit.h"
#include "common/journal/journal.h"

namespace league::journal {

struct SqliteJournalOptions {
  std::filesystem::path file;  ///< its directory must exist; FILE.lock and FILE-wal are beside it
  /// Called once when a commit fails (a full disk): the process has to stop. Runs on the writing
  /// thread; may be empty.
  std::function<void(const core::Error&)> on_failure;
  /// Called every few seconds while a commit waits because another program has locked the file,
  /// with the time so far. Runs on the writing thread. Empty: such a commit fails after five
  /// seconds.
  std::function<void(std::chrono::seconds)> on_busy = {};
  /// For tests: see GroupCommitOptions.
  std::function<void(FaultPoint)> fault_point;
  /// For tests: the name of the SQLite VFS; empty: the default.
  std::string vfs;
  /// For tests: migrations of a future version, as SQL.
  std::vector<std::string> later_migrations = {};
  /// See JournalMark; empty: no mark.
  std::filesystem::path mark = {};
  /// Called when this process holds the lock, before SQLite opens (and possibly creates) the file;
  /// an error leaves everything unchanged. May be empty.
  std::function<core::Result<void>()> check = {};
  /// The write-ahead log is moved into the file when no append has come for this long, and at the
  /// latest the second duration after the first commit since: the file itself should hold the
  /// league.
  std::chrono::milliseconds checkpoint_when_idle{100};
  std::chrono::milliseconds checkpoint_at_latest{1000};
};

/// A journal in one SQLite file: write-ahead log, a flush of the disk for every commit, many
/// appends per commit. One process writes it, others may read it at the same time with
/// `read_journal`.
///
/// Each entry stores the SHA-256 of (digest of the previous entry, type, newline, payload), so that
/// a damaged, missing or exchanged entry is detected when the journal is read. Thread-safe.
/// docs/recovery.md describes the files; docs/decisions.md gives the reasons.
class SqliteJournal final : public Journal {
 public:
  /// Opens the journal, creating it if it is missing, and checks it. Fails without changing
  /// anything if another process writes it, if it is damaged, not a journal, or of a later version,
  /// and if the system refuses access to the files.
  [[nodiscard]] static core::Result<std::unique_ptr<SqliteJournal>> open(
      SqliteJournalOptions options);
  /// Stores everything that was appended, and closes.
  ~SqliteJournal() override;
  /// Stores everything that was appended and calls `durable`; later appends are refused. For an
  /// orderly end while the objects that `durable` uses still exist.
  void close();
  /// The content is as expected: from now on the destructor may checkpoint the write-ahead log and
  /// delete it. If there is a `check`, the log is kept until this is called.
  void accept() { is_accepted_ = true; }

  /// `durable` runs on a thread of the journal, in the order of the appends, and must be short.
  void append(std::vector<EventRecord> records, Durable durable) override;
  [[nodiscard]] core::Result<void> replay(const Visitor& visit) const override;
  /// Removes all entries after `sequence`, which never counted: another manager's journal does not
  /// have them. Waits for what was appended before; the caller appends nothing meanwhile.
  [[nodiscard]] core::Result<void> cut_after(std::uint64_t sequence);

 private:
  class Store;
  explicit SqliteJournal(SqliteJournalOptions options, std::unique_ptr<Store> store);

  const SqliteJournalOptions options_;
  std::unique_ptr<Store> store_;
  std::atomic<bool> is_accepted_ = false;
  std::unique_ptr<GroupCommit> commits_;  // last: it uses the store
};

/// Passes every entry of a journal to `visit` in order, and checks its digest and number; stops at
/// the first error of `visit`. Works while another process writes the journal, and in a directory
/// that cannot be written.
[[nodiscard]] core::Result<void> read_journal(const std::filesystem::path& file,
                                              const Journal::Visitor& visit);

}  // namespace league::journal
