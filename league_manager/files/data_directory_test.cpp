#include "league_manager/files/data_directory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/core/private_file.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/core/league_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager::files {
namespace {

namespace fs = std::filesystem;

class DataDirectoryTest : public ::testing::Test {
 protected:
  void make_league() const {
    ASSERT_TRUE(data_.prepare());
    journal::SqliteJournalOptions options;
    options.file = data_.journal();
    auto journal = journal::SqliteJournal::open(std::move(options));
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(journal::append_and_wait(**journal, {{"A", "1"}}));
    ASSERT_TRUE(core::write_private_file(data_.secret_key(), "a key"));
    ASSERT_TRUE(core::write_private_file(data_.operator_key(), "another key"));
    ASSERT_TRUE(core::write_private_file(data_.root() / "log.key", "the log's key"));
    fs::create_directories(data_.root() / "leagues" / "mine");
    fs::create_directories(data_.root() / "players" / "P01");
  }
  static int entries_in(const fs::path& journal) {
    int entries = 0;
    auto read = journal::read_journal(journal, [&](const journal::Entry&) {
      ++entries;
      return core::Result<void>{};
    });
    return read ? entries : -1;
  }

  league::testing::TemporaryDirectory directory_;
  const DataDirectory data_{directory_.path() / "data"};
  const core::UtcTimestamp now_ = testing::at(0);
};

TEST_F(DataDirectoryTest, ArchivesALeagueWhole) {
  make_league();
  auto place = data_.archive(now_);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(*place, data_.root() / "archive" / "20250115T103000Z");
  DataDirectory archived(*place);
  EXPECT_EQ(entries_in(archived.journal()), 1);
  EXPECT_EQ(**core::read_private_file(archived.secret_key()), "a key");
  EXPECT_EQ(**core::read_private_file(archived.operator_key()), "another key");
  EXPECT_EQ(**core::read_private_file(*place / "log.key"), "the log's key");
  EXPECT_TRUE(fs::exists(*place / "leagues" / "mine"));
  EXPECT_FALSE(fs::exists(data_.journal()));
  EXPECT_FALSE(fs::exists(data_.secret_key()));
  EXPECT_FALSE(fs::exists(data_.root() / "log.key"));
  EXPECT_FALSE(fs::exists(data_.root() / "leagues"));
  EXPECT_TRUE(fs::exists(data_.operator_key()));
  EXPECT_TRUE(fs::exists(data_.root() / "players" / "P01"));  // the players' own
}

TEST_F(DataDirectoryTest, ArchivesBesideAnEarlierArchive) {
  make_league();
  ASSERT_TRUE(data_.archive(now_));
  make_league();
  auto place = data_.archive(now_);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->filename(), "20250115T103000Z_2");
}

TEST_F(DataDirectoryTest, ArchivesAKeyWhoseJournalIsGone) {
  make_league();
  fs::remove_all(data_.journal().parent_path());
  auto place = data_.archive(now_);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_TRUE(fs::exists(*place / "secret.key")) << "the next league must have another";
  EXPECT_FALSE(fs::exists(data_.secret_key()));
}

TEST_F(DataDirectoryTest, FinishesWhatAKilledManagerHadBegunToArchive) {
  make_league();
  const fs::path begun = data_.root() / "archive" / "20250101T000000Z";
  fs::create_directories(begun);
  fs::rename(data_.root() / "leagues", begun / "leagues");
  fs::rename(data_.secret_key(), begun / "secret.key");
  auto place = data_.archive(now_);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(*place, begun);
  EXPECT_EQ(entries_in(DataDirectory(begun).journal()), 1);
}

TEST_F(DataDirectoryTest, ArchivesADamagedJournalToo) {
  make_league();
  std::ofstream(data_.journal(), std::ios::trunc) << "this was a journal once upon a time";
  auto place = data_.archive(now_);
  ASSERT_TRUE(place);
  EXPECT_TRUE(fs::exists(DataDirectory(*place).journal()));
}

TEST_F(DataDirectoryTest, ArchivesALeagueWhoseJournalIsGone) {
  make_league();
  fs::remove_all(data_.journal().parent_path());
  auto place = data_.archive(now_);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_TRUE(fs::exists(*place / "leagues"));
  EXPECT_FALSE(fs::exists(data_.secret_key()));
}

TEST_F(DataDirectoryTest, HasNothingToArchiveAtFirst) {
  auto place = data_.archive(now_);
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->empty());
  EXPECT_FALSE(fs::exists(data_.root()));
}

TEST_F(DataDirectoryTest, DoesNotArchiveUnderARunningManager) {
  make_league();
  journal::SqliteJournalOptions options;
  options.file = data_.journal();
  auto journal = journal::SqliteJournal::open(std::move(options));
  ASSERT_TRUE(journal);
  EXPECT_FALSE(data_.archive(now_));
  EXPECT_TRUE(fs::exists(data_.journal()));
  EXPECT_TRUE(fs::exists(data_.root() / "leagues"));
}

TEST_F(DataDirectoryTest, TheJournalIsForItsOwnerOnly) {
  make_league();
  EXPECT_EQ(fs::status(data_.journal().parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(DataDirectoryTest, SaysWhyItCannotBeMade) {
  std::ofstream(directory_.path() / "file") << "no directory";
  auto prepared = DataDirectory(directory_.path() / "file" / "data").prepare();
  ASSERT_FALSE(prepared);
  EXPECT_NE(prepared.error().message.find("Not a directory"), std::string::npos)
      << prepared.error().message;
}

}  // namespace
}  // namespace league::league_manager::files
