#include <gtest/gtest.h>

#include <algorithm>

#include "common/journal/sqlite_journal.h"
#include "tests/support/failing_vfs.h"
#include "tests/support/temporary_directory.h"

namespace league::journal {
namespace {

namespace fs = std::filesystem;
using testing::FailingVfs;
using testing::TemporaryDirectory;

std::vector<std::string> types_in(const fs::path& file) {
  std::vector<std::string> types;
  auto read = read_journal(file, [&](const Entry& entry) {
    types.push_back(entry.record.type);
    return core::Result<void>{};
  });
  EXPECT_TRUE(read) << read.error().message;
  return types;
}

/// A journal in `file` on a disk that can fail.
core::Result<std::unique_ptr<SqliteJournal>> open_on(const FailingVfs& disk, const fs::path& file,
                                                     std::string* told = nullptr) {
  SqliteJournalOptions options;
  options.file = file;
  options.vfs = disk.name();
  if (told != nullptr)
    options.on_failure = [told](const core::Error& error) { *told = error.message; };
  return SqliteJournal::open(std::move(options));
}

class FailingDisk : public ::testing::TestWithParam<FailingVfs::Fault> {};

TEST_P(FailingDisk, EndsTheJournalAndKeepsWhatWasAcknowledged) {
  TemporaryDirectory directory;
  FailingVfs disk("failing");
  fs::path file = directory.path() / "journal.sqlite";
  std::string told;
  {
    auto journal = open_on(disk, file, &told);
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(append_and_wait(**journal, {{"KEPT", "1"}}));
    disk.fail(GetParam());
    auto failed = append_and_wait(**journal, {{"LOST", "2"}});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, told);
    EXPECT_NE(told.find(file.string()), std::string::npos) << told;
    disk.fail(FailingVfs::Fault::kNone);
    EXPECT_FALSE(append_and_wait(**journal, {{"TOO LATE", "3"}}));
  }
  auto types = types_in(file);
  ASSERT_FALSE(types.empty());
  EXPECT_EQ(types[0], "KEPT");
  EXPECT_EQ(std::ranges::count(types, "TOO LATE"), 0);
  auto again = open_on(disk, file);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(append_and_wait(**again, {{"GOES ON", "4"}}));
}

INSTANTIATE_TEST_SUITE_P(Faults, FailingDisk,
                         ::testing::Values(FailingVfs::Fault::kDiskFull,
                                           FailingVfs::Fault::kTornWrite,
                                           FailingVfs::Fault::kSyncError));

TEST(SqliteJournalFaults, AFullDiskIsCalledByItsName) {
  TemporaryDirectory directory;
  FailingVfs disk("full");
  auto journal = open_on(disk, directory.path() / "journal.sqlite");
  ASSERT_TRUE(journal) << journal.error().message;
  disk.fail(FailingVfs::Fault::kDiskFull);
  auto failed = append_and_wait(**journal, {{"A", "1"}});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("the disk is full; free some space"), std::string::npos);
}

TEST(SqliteJournalFaults, EveryCommitIsFlushed) {
  TemporaryDirectory directory;
  FailingVfs disk("flushed");
  auto journal = open_on(disk, directory.path() / "journal.sqlite");
  ASSERT_TRUE(journal) << journal.error().message;
  for (int i = 0; i < 5; ++i) {
    int before = disk.syncs();
    ASSERT_TRUE(append_and_wait(**journal, {{"A", "1"}, {"B", "2"}}));
    EXPECT_GT(disk.syncs(), before);
  }
}

/// A journal whose write-ahead log is not moved into its file.
SqliteJournalOptions never_moved(const fs::path& file) {
  SqliteJournalOptions options;
  options.file = file;
  options.checkpoint_when_idle = options.checkpoint_at_latest = std::chrono::hours(1);
  return options;
}

/// What a crash leaves behind: a copy of the files of an open journal.
void copy_journal(const fs::path& from, const fs::path& to) {
  for (const char* suffix : {"", "-wal"}) {
    fs::copy_file(from.string() + suffix, to.string() + suffix,
                  fs::copy_options::overwrite_existing);
  }
  fs::remove(to.string() + "-shm");
}

TEST(SqliteJournalFaults, ATornLastCommitIsLeftOutWhereverItWasTorn) {
  TemporaryDirectory directory;
  fs::path file = directory.path() / "journal.sqlite";
  auto journal = SqliteJournal::open(never_moved(file));
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(append_and_wait(**journal, {{"FIRST", "1"}, {"SECOND", "2"}}));
  fs::path torn = directory.path() / "torn.sqlite";
  auto whole = fs::file_size(file.string() + "-wal");
  ASSERT_TRUE(append_and_wait(**journal, {{"LAST", "3"}}));
  auto with_last = fs::file_size(file.string() + "-wal");
  ASSERT_GT(with_last, whole);
  copy_journal(file, torn);
  EXPECT_EQ(types_in(torn), (std::vector<std::string>{"FIRST", "SECOND", "LAST"}));
  for (auto size = with_last; size-- > whole;) {
    fs::remove(torn.string() + "-shm");
    fs::resize_file(torn.string() + "-wal", size);
    ASSERT_EQ(types_in(torn), (std::vector<std::string>{"FIRST", "SECOND"})) << size;
  }
}

TEST(SqliteJournalFaults, ATornJournalIsContinued) {
  TemporaryDirectory directory;
  fs::path file = directory.path() / "journal.sqlite";
  fs::path torn = directory.path() / "torn.sqlite";
  {
    auto journal = SqliteJournal::open(never_moved(file));
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(append_and_wait(**journal, {{"FIRST", "1"}}));
    ASSERT_TRUE(append_and_wait(**journal, {{"LAST", "2"}}));
    copy_journal(file, torn);
    fs::resize_file(torn.string() + "-wal", fs::file_size(torn.string() + "-wal") - 100);
  }
  {
    SqliteJournalOptions options;
    options.file = torn;
    auto journal = SqliteJournal::open(std::move(options));
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(append_and_wait(**journal, {{"NEXT", "3"}}));
  }
  EXPECT_EQ(types_in(torn), (std::vector<std::string>{"FIRST", "NEXT"}));
}

}  // namespace
}  // namespace league::journal
