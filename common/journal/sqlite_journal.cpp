#include "common/journal/sqlite_journal.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "common/core/crypto.h"
#include "common/journal/journal_mark.h"
#include "common/journal/lock_file.h"
#include "common/journal/lock_wait.h"
#include "common/journal/sqlite_errors.h"

namespace league::journal {
namespace {

namespace fs = std::filesystem;

/// Stored in the file's header to recognise our databases: "LgJ1".
constexpr int kApplicationId = 0x4c674a31;
/// SQL from version N to N + 1. Existing entries never change; a new version adds one.
constexpr std::array<const char*, 1> kMigrations = {
    "CREATE TABLE entries (sequence INTEGER PRIMARY KEY, type TEXT NOT NULL, "
    "payload TEXT NOT NULL, digest BLOB NOT NULL) STRICT"};
constexpr int kVersion = static_cast<int>(kMigrations.size());
constexpr int kBusyMilliseconds = 5000;
/// When the write-ahead log has this many pages of 4 KiB, SQLite moves them into the file at once;
/// fewer wait for Store::checkpoint.
constexpr int kCheckpointPages = 1000;

int pragma_number(SQLite::Database& database, const std::string& name) {
  return database.execAndGet("PRAGMA " + name).getInt();
}

using Digest = core::Digest;

/// Checks that the file, if it exists and is not empty, begins like an SQLite file.
core::Result<void> check_kind(const fs::path& file) {
  std::error_code ignored;
  if (fs::file_size(file, ignored) == 0 || !fs::exists(file, ignored)) return {};
  std::array<char, 16> head{};
  std::ifstream in(file, std::ios::binary);
  if (!in) return journal_error(file, "cannot be read");
  in.read(head.data(), head.size());
  if (std::memcmp(head.data(), "SQLite format 3", head.size()) == 0) return {};
  return journal_error(file, "is not a journal: use another directory");
}

/// Refuses a write-ahead log whose journal is missing: it holds all that is left of the league, and
/// SQLite would delete it.
core::Result<void> check_log(const fs::path& file) {
  std::error_code ignored;
  bool has_journal = fs::exists(file, ignored) && fs::file_size(file, ignored) > 0;
  fs::path log = file.string() + "-wal";
  if (has_journal || !fs::exists(log, ignored) || fs::file_size(log, ignored) == 0) return {};
  return journal_error(file, std::string(fs::exists(file, ignored) ? "is empty" : "is gone") +
                                 ", but its log " + log.filename().string() +
                                 " is there: restore both from a backup, or start a new league "
                                 "with --new, which archives the files");
}

core::Result<void> check_version(SQLite::Database& database, const fs::path& file, int newest) {
  int version = pragma_number(database, "user_version");
  bool is_empty = pragma_number(database, "page_count") == 0 ||
                  database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (is_empty) return {};
  if (pragma_number(database, "application_id") != kApplicationId)
    return journal_error(file, "is a database, but not a league's: use another directory");
  if (version >= 1 && version <= newest) return {};
  return journal_error(file, "has version " + std::to_string(version) +
                                 ", but this program knows only versions 1 to " +
                                 std::to_string(newest) +
                                 ": use the program that wrote it, or a later one");
}

/// Checks that the pages of the file are consistent. The table has no other index, so this covers
/// everything that PRAGMA integrity_check does; the digests protect the content.
core::Result<void> check_pages(SQLite::Database& database, const fs::path& file) {
  std::string verdict = database.execAndGet("PRAGMA quick_check(1)").getString();
  if (verdict == "ok") return {};
  return damaged(file, verdict);
}

/// Migrates an older journal, or an empty file, to the newest version, completely or not at all.
void migrate(SQLite::Database& database, const std::vector<std::string>& later) {
  std::vector<std::string> steps(kMigrations.begin(), kMigrations.end());
  steps.insert(steps.end(), later.begin(), later.end());
  auto version = static_cast<std::size_t>(pragma_number(database, "user_version"));
  if (version == steps.size()) return;
  SQLite::Transaction transaction(database);
  for (; version < steps.size(); ++version) database.exec(steps[version]);
  database.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
  database.exec("PRAGMA user_version = " + std::to_string(steps.size()));
  transaction.commit();
}

int newest_version(const SqliteJournalOptions& options) {
  return kVersion + static_cast<int>(options.later_migrations.size());
}

/// The last connection to close moves the write-ahead log into the file and deletes it, unless
/// `keep` is set.
void keep_log_on_close(SQLite::Database& database, bool keep) {
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

/// Opens the database and checks that it can be read; throws SQLite's reason otherwise.
SQLite::Database probed(const std::string& address, int flags, const std::string& vfs) {
  SQLite::Database database(address, flags, kBusyMilliseconds, vfs);
  keep_log_on_close(database, true);
  (void)database.execAndGet("SELECT count(*) FROM sqlite_master");
  return database;
}

/// The file as an SQLite URI that says that it does not change.
std::string immutable_address(const fs::path& file) {
  std::string address = "file:";
  for (char c : file.string()) {
    constexpr std::string_view kSpecial = "%?#";
    constexpr std::string_view kHex = "0123456789ABCDEF";
    auto byte = static_cast<unsigned char>(c);
    if (kSpecial.find(c) == std::string_view::npos) {
      address += c;
    } else {
      address.append("%").append(1, kHex[byte >> 4u]).append(1, kHex[byte & 15u]);
    }
  }
  return address + "?immutable=1";
}

/// Reads from a copy, whose names are deleted before this returns, because the journal contains
/// seeds.
SQLite::Database read_copy(const fs::path& file, const std::string& vfs) {
  std::string directory = (fs::temp_directory_path() / "league_journal_XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr)
    throw SQLite::Exception("no place for a copy of the journal", SQLITE_CANTOPEN);
  fs::path copy = fs::path(directory) / "journal.sqlite";
  std::error_code failed;
  fs::copy_file(file, copy, failed);
  if (!failed) fs::copy_file(file.string() + "-wal", copy.string() + "-wal", failed);
  fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add, failed);
  std::optional<SQLite::Database> database;
  std::optional<SQLite::Exception> problem;
  try {
    database.emplace(probed(copy.string(), SQLite::OPEN_READWRITE, vfs));
  } catch (const SQLite::Exception& thrown) {
    problem = thrown;
  }
  fs::remove_all(directory, failed);
  if (problem) throw *problem;
  return std::move(*database);
}

/// A connection for reading. In a directory that cannot be written, a properly closed journal is
/// opened as an immutable file, and one that a crash left behind is read from a copy.
SQLite::Database reading(const fs::path& file, const std::string& vfs) {
  try {
    return probed(file.string(), SQLite::OPEN_READONLY, vfs);
  } catch (const SQLite::Exception& problem) {
    std::error_code ignored;
    bool has_log = fs::exists(file.string() + "-wal", ignored);
    if (has_log && problem.getErrorCode() != SQLITE_CANTOPEN) throw;
    if (has_log) return read_copy(file, vfs);
  }
  return probed(immutable_address(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI, vfs);
}

core::Result<void> read_entries(SQLite::Database& database, const fs::path& file,
                                const Journal::Visitor& visit) {
  SQLite::Statement rows(database,
                         "SELECT sequence, type, payload, digest FROM entries ORDER BY sequence");
  Entry entry;
  Digest digest{};
  while (rows.executeStep()) {
    auto sequence = static_cast<std::uint64_t>(rows.getColumn(0).getInt64());
    ++entry.sequence;
    if (sequence != entry.sequence)
      return damaged(file, "entry " + std::to_string(entry.sequence) + " is missing");
    entry.record.type = rows.getColumn(1).getString();
    entry.record.payload = rows.getColumn(2).getString();
    digest = chained(digest, entry.record);
    auto stored = rows.getColumn(3);
    bool fits = stored.getBytes() == static_cast<int>(digest.size()) &&
                std::memcmp(stored.getBlob(), digest.data(), digest.size()) == 0;
    if (!fits)
      return damaged(file, "entry " + std::to_string(sequence) + " does not match its digest");
    if (auto seen = visit(entry); !seen) return seen;
  }
  return {};
}

core::Result<void> read_file(const SqliteJournalOptions& options, const Journal::Visitor& visit) {
  const fs::path& file = options.file;
  if (auto kind = check_kind(file); !kind) return kind;
  try {
    SQLite::Database database = reading(file, options.vfs);
    if (auto version = check_version(database, file, newest_version(options)); !version)
      return version;
    if (pragma_number(database, "user_version") == 0) return {};  // nothing has been written yet
    return read_entries(database, file, visit);
  } catch (const SQLite::Exception& problem) {
    return explained(file, problem);
  }
}

}  // namespace

/// The writing side: one connection, used by one thread.
class SqliteJournal::Store {
 public:
  Store(const SqliteJournalOptions& options, LockFile lock)
      : options_(options),
        file_(options.file),
        lock_(std::move(lock)),
        lock_wait_(options.on_busy),
        database_(options.file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                  kBusyMilliseconds, options.vfs),
        mark_(options.mark) {
    // If the journal is refused, it stays unchanged, including its write-ahead log.
    keep_log_on_close(database_, true);
  }

  /// May throw, like all SQLite calls.
  core::Result<void> prepare() {
    if (auto version = check_version(database_, file_, newest_version(options_)); !version)
      return version;
    if (auto pages = check_pages(database_, file_); !pages) return pages;
    std::string mode = database_.execAndGet("PRAGMA journal_mode = WAL").getString();
    if (mode != "wal")
      return journal_error(file_, "this file system has no shared memory: use a local disk");
    database_.exec("PRAGMA synchronous = FULL");
    database_.exec("PRAGMA wal_autocheckpoint = " + std::to_string(kCheckpointPages));
    migrate(database_, options_.later_migrations);
    insert_.emplace(database_,
                    "INSERT INTO entries (sequence, type, payload, digest) VALUES (?, ?, ?, ?)");
    return find_last();
  }

  core::Result<void> cut_after(std::uint64_t sequence) {
    try {
      SQLite::Transaction transaction(database_);
      database_.exec("DELETE FROM entries WHERE sequence > " + std::to_string(sequence));
      if (auto found = find_last(); !found) return found;
      write_mark();  // before the commit, since it must never name an entry that is not there
      transaction.commit();
      return {};
    } catch (const SQLite::Exception& problem) {
      return explained(file_, problem);
    }
  }

  core::Result<void> find_last() {
    sequence_ = 0;
    digest_ = {};
    SQLite::Statement last(database_,
                           "SELECT sequence, digest FROM entries ORDER BY sequence DESC LIMIT 1");
    if (!last.executeStep()) return {};
    sequence_ = last.getColumn(0).getInt64();
    if (last.getColumn(1).getBytes() != static_cast<int>(digest_.size()))
      return damaged(file_, "the last entry has no digest");
    std::memcpy(digest_.data(), last.getColumn(1).getBlob(), digest_.size());
    return {};
  }

  /// From now on a commit waits for whoever has locked the file, and tells it.
  void wait_when_busy() {
    if (options_.on_busy) lock_wait_.install(database_.getHandle());
  }
  void give_up_waiting() { lock_wait_.give_up(); }

  core::Result<void> store(const std::vector<EventRecord>& records) {
    try {
      SQLite::Transaction transaction(database_);
      for (const auto& record : records) {
        digest_ = chained(digest_, record);
        insert_->reset();
        insert_->bind(1, ++sequence_);
        insert_->bindNoCopy(2, record.type);
        insert_->bindNoCopy(3, record.payload);
        insert_->bindNoCopy(4, digest_.data(), static_cast<int>(digest_.size()));
        insert_->exec();
      }
      insert_->reset();
      transaction.commit();
      write_mark();
      return {};
    } catch (const SQLite::Exception& problem) {
      return explained(file_, problem);
    }
  }

  /// Moves the write-ahead log into the file, except for what readers still need. What fails is
  /// tried again after the next commit.
  void checkpoint() {
    sqlite3_wal_checkpoint_v2(database_.getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                              nullptr);
  }
  /// The journal is valid, so closing it may checkpoint the write-ahead log.
  void close_in_order() { keep_log_on_close(database_, false); }

 private:
  void write_mark() {
    if (!options_.mark.empty()) mark_.write({static_cast<std::uint64_t>(sequence_), digest_});
  }

  const SqliteJournalOptions options_;
  const fs::path file_;
  LockFile lock_;
  LockWait lock_wait_;
  SQLite::Database database_;
  JournalMark mark_;
  std::optional<SQLite::Statement> insert_;
  std::int64_t sequence_ = 0;
  Digest digest_{};
};

core::Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(SqliteJournalOptions options) {
  auto lock = LockFile::acquire(options.file.string() + ".lock");
  if (!lock) return lock.error();
  if (auto kind = check_kind(options.file); !kind) return kind.error();
  if (auto log = check_log(options.file); !log) return log.error();
  if (options.check) {
    if (auto wanted = options.check(); !wanted) return wanted.error();
  }
  try {
    auto store = std::make_unique<Store>(options, std::move(*lock));
    if (auto ready = store->prepare(); !ready) return ready.error();
    store->wait_when_busy();
    return std::unique_ptr<SqliteJournal>(new SqliteJournal(std::move(options), std::move(store)));
  } catch (const SQLite::Exception& problem) {
    return explained(options.file, problem);
  }
}

SqliteJournal::SqliteJournal(SqliteJournalOptions options, std::unique_ptr<Store> store)
    : options_(std::move(options)),
      store_(std::move(store)),
      commits_(std::make_unique<GroupCommit>(GroupCommitOptions{
          .store =
              [this](const std::vector<EventRecord>& records) { return store_->store(records); },
          .on_failure = options_.on_failure,
          .fault_point = options_.fault_point,
          .tidy = [this] { store_->checkpoint(); },
          .tidy_when_idle = options_.checkpoint_when_idle,
          .tidy_at_latest = options_.checkpoint_at_latest})) {
  if (!options_.check) accept();
}

SqliteJournal::~SqliteJournal() {
  store_->give_up_waiting();
  commits_->stop();
  if (is_accepted_) store_->close_in_order();
}

void SqliteJournal::close() {
  store_->give_up_waiting();
  commits_->stop();
}

void SqliteJournal::append(std::vector<EventRecord> records, Durable durable) {
  commits_->append(std::move(records), std::move(durable));
}

core::Result<void> SqliteJournal::replay(const Visitor& visit) const {
  return read_file(options_, visit);
}

core::Result<void> SqliteJournal::cut_after(std::uint64_t sequence) {
  auto settled = append_and_wait(*this, {});
  return settled ? store_->cut_after(sequence) : settled;
}

core::Result<void> read_journal(const fs::path& file, const Journal::Visitor& visit) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return journal_error(file, "does not exist");
  SqliteJournalOptions options;
  options.file = file;
  return read_file(options, visit);
}

}  // namespace league::journal
