#include "common/journal/journal_copy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/journal/sqlite_journal.h"
#include "tests/support/temporary_directory.h"

namespace league::journal {
namespace {

namespace fs = std::filesystem;

class JournalCopyTest : public ::testing::Test {
 protected:
  static int entries_in(const fs::path& file) {
    int entries = 0;
    EXPECT_TRUE(read_journal(file, [&entries](const Entry&) {
      ++entries;
      return core::Result<void>{};
    }));
    return entries;
  }

  testing::TemporaryDirectory directory_;
  const fs::path file_ = directory_.path() / "journal.sqlite";
  const fs::path copy_ = directory_.path() / "copy.sqlite";
};

TEST_F(JournalCopyTest, IsOfTheMomentBesideAWriter) {
  SqliteJournalOptions options;
  options.file = file_;
  options.checkpoint_when_idle = std::chrono::hours(1);
  auto journal = SqliteJournal::open(std::move(options));
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(append_and_wait(**journal, {{"A", "1"}, {"B", "2"}}));
  ASSERT_TRUE(copy_journal(file_, copy_));
  ASSERT_TRUE(append_and_wait(**journal, {{"C", "3"}}));
  EXPECT_EQ(entries_in(copy_), 2);
  EXPECT_EQ(entries_in(file_), 3);
  EXPECT_FALSE(fs::exists(copy_.string() + "-wal"));
}

TEST_F(JournalCopyTest, CanBeWrittenOn) {
  SqliteJournalOptions options;
  options.file = file_;
  ASSERT_TRUE(append_and_wait(**SqliteJournal::open(options), {{"A", "1"}}));
  ASSERT_TRUE(copy_journal(file_, copy_));
  options.file = copy_;
  ASSERT_TRUE(append_and_wait(**SqliteJournal::open(options), {{"B", "2"}}));
  EXPECT_EQ(entries_in(copy_), 2);
}

TEST_F(JournalCopyTest, NeverTakesThePlaceOfSomethingElseAndNeverCopiesDamage) {
  std::ofstream(copy_) << "precious";
  std::ofstream(file_) << "no journal at all, this is";
  EXPECT_FALSE(copy_journal(file_, copy_));
  EXPECT_EQ(fs::file_size(copy_), 8U);
  fs::remove(copy_);
  EXPECT_FALSE(copy_journal(file_, copy_));
  EXPECT_FALSE(fs::exists(copy_));
  EXPECT_FALSE(copy_journal(directory_.path() / "missing.sqlite", copy_));
}

}  // namespace
}  // namespace league::journal
