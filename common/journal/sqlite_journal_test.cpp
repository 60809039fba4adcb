#include "common/journal/sqlite_journal.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>
#include <utility>

#include "common/journal/journal_mark.h"
#include "tests/support/temporary_directory.h"

namespace league::journal {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryDirectory;

class SqliteJournalTest : public ::testing::Test {
 protected:
  [[nodiscard]] core::Result<std::unique_ptr<SqliteJournal>> open() const {
    SqliteJournalOptions options;
    options.file = file_;
    return SqliteJournal::open(std::move(options));
  }
  /// What opening says is wrong; empty if it works.
  [[nodiscard]] std::string refusal() const {
    auto journal = open();
    return journal ? "" : journal.error().message;
  }
  void fill(int records) const {
    auto journal = open();
    ASSERT_TRUE(journal) << journal.error().message;
    for (int i = 1; i <= records; ++i)
      ASSERT_TRUE(append_and_wait(**journal, {{"T" + std::to_string(i), "{\"n\":1}"}}));
  }
  void sql(const std::string& statement) const {
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(statement);
  }
  [[nodiscard]] std::string content() const {
    std::stringstream out;
    out << std::ifstream(file_, std::ios::binary).rdbuf();
    return out.str();
  }

  TemporaryDirectory directory_;
  const fs::path file_ = directory_.path() / "journal.sqlite";
};

std::vector<Entry> entries_of(const Journal& journal) {
  std::vector<Entry> seen;
  auto result = journal.replay([&](const Entry& entry) {
    seen.push_back(entry);
    return core::Result<void>{};
  });
  EXPECT_TRUE(result) << result.error().message;
  return seen;
}

core::Result<void> ignore(const Entry&) { return {}; }

TEST_F(SqliteJournalTest, GoesOnAfterEntriesWereCut) {
  SqliteJournalOptions options;
  options.file = file_;
  options.mark = directory_.path() / "mark";
  auto journal = SqliteJournal::open(options);
  ASSERT_TRUE(journal);
  for (const char* type : {"A", "B", "C"}) (*journal)->append({{type, "{}"}}, [](const auto&) {});
  ASSERT_TRUE((*journal)->cut_after(1));
  EXPECT_EQ(JournalMark::read(options.mark)->sequence, 1U);
  ASSERT_TRUE(append_and_wait(**journal, {{"D", "{}"}}));
  journal->reset();
  const auto seen = entries_of(**open());  // which checks the digests
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1], (Entry{2, {"D", "{}"}}));
  ASSERT_TRUE((*open())->cut_after(0));
  EXPECT_TRUE(entries_of(**open()).empty());
}

TEST_F(SqliteJournalTest, KeepsRecordsInOrderFromOneOpeningToTheNext) {
  {
    auto journal = open();
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(append_and_wait(**journal, {{"A", "1"}, {"B", "\xc3\xa9"}}));
    ASSERT_TRUE(append_and_wait(**journal, {{"C", ""}}));
  }
  auto again = open();
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(append_and_wait(**again, {{"D", "4"}}));
  EXPECT_EQ(entries_of(**again),
            (std::vector<Entry>{
                {1, {"A", "1"}}, {2, {"B", "\xc3\xa9"}}, {3, {"C", ""}}, {4, {"D", "4"}}}));
}

TEST_F(SqliteJournalTest, TheFileAloneHoldsWhatWasCommittedBefore) {
  SqliteJournalOptions options;
  options.file = file_;
  options.checkpoint_when_idle = std::chrono::milliseconds(0);
  auto journal = SqliteJournal::open(std::move(options));
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(append_and_wait(**journal, {{"A", "1"}}));
  ASSERT_TRUE(append_and_wait(**journal, {{"B", "2"}}));  // A has been moved before this one
  fs::path copy = directory_.path() / "copy.sqlite";
  fs::copy_file(file_, copy);
  int entries = 0;
  EXPECT_TRUE(read_journal(copy, [&entries](const Entry&) {
    ++entries;
    return core::Result<void>{};
  }));
  EXPECT_GE(entries, 1);
}

TEST_F(SqliteJournalTest, MarksWhatIsDurable) {
  SqliteJournalOptions options;
  options.file = file_;
  options.mark = directory_.path() / "mark";
  auto journal = SqliteJournal::open(options);
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(append_and_wait(**journal, {{"A", "1"}, {"B", "2"}}));
  JournalPosition place{2, chained(chained({}, {"A", "1"}), {"B", "2"})};
  EXPECT_EQ(JournalMark::read(options.mark), place);
}

TEST_F(SqliteJournalTest, ALogWithoutItsJournalIsLeftAlone) {
  fs::path log = file_.string() + "-wal";
  std::ofstream(log) << "frames";
  EXPECT_NE(refusal().find("is gone, but its log journal.sqlite-wal is there"), std::string::npos);
  std::ofstream(file_).close();
  EXPECT_NE(refusal().find("is empty, but its log"), std::string::npos);
  EXPECT_EQ(fs::file_size(log), 6U);
  fs::resize_file(log, 0);
  EXPECT_EQ(refusal(), "");
}

TEST_F(SqliteJournalTest, WhatIsRefusedIsNotMade) {
  SqliteJournalOptions options;
  options.file = file_;
  options.check = [] { return core::Error{core::ErrorCode::kInternalError, "no", ""}; };
  auto journal = SqliteJournal::open(options);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().message, "no");
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(SqliteJournalTest, KeepsTheLogUntilItIsAccepted) {
  for (bool is_accepted : {false, true}) {
    SqliteJournalOptions options;
    options.file = file_;
    options.check = [] { return core::Result<void>(); };
    {
      auto journal = SqliteJournal::open(options);
      ASSERT_TRUE(journal) << journal.error().message;
      ASSERT_TRUE(append_and_wait(**journal, {{"A", "1"}}));
      if (is_accepted) (*journal)->accept();
    }
    EXPECT_EQ(fs::exists(file_.string() + "-wal"), !is_accepted);
  }
}

TEST_F(SqliteJournalTest, EndsTheReplayWithTheVisitorsError) {
  fill(3);
  int seen = 0;
  auto result = read_journal(file_, [&](const Entry&) -> core::Result<void> {
    ++seen;
    return core::Error{core::ErrorCode::kInternalError, "enough", ""};
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "enough");
  EXPECT_EQ(seen, 1);
}

TEST_F(SqliteJournalTest, ManyThreadsEachKeepTheirOrder) {
  constexpr int kThreads = 8;
  constexpr int kAppends = 200;
  std::vector<std::atomic<int>> answered(kThreads);
  {
    auto journal = open();
    ASSERT_TRUE(journal) << journal.error().message;
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kThreads; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; i < kAppends; ++i) {
          (*journal)->append({{std::to_string(writer), std::to_string(i)}, {"second half", ""}},
                             [&answered, writer, i](const core::Result<void>& stored) {
                               EXPECT_TRUE(stored);
                               int before = answered[static_cast<std::size_t>(writer)]++;
                               EXPECT_EQ(before, i);
                             });
        }
      });
    }
  }
  std::vector<int> next(kThreads);
  int entries = 0;
  ASSERT_TRUE(read_journal(file_, [&](const Entry& entry) -> core::Result<void> {
    ++entries;
    if (entry.sequence % 2 == 0) {
      EXPECT_EQ(entry.record.type, "second half");
    } else {
      int& expected = next[static_cast<std::size_t>(std::stoi(entry.record.type))];
      EXPECT_EQ(entry.record.payload, std::to_string(expected++));
    }
    return {};
  }));
  EXPECT_EQ(entries, 2 * kThreads * kAppends);
}

TEST_F(SqliteJournalTest, CanBeReadWhileItIsWritten) {
  auto journal = open();
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(append_and_wait(**journal, {{"A", "1"}}));
  int seen = 0;
  auto read = read_journal(file_, [&](const Entry&) -> core::Result<void> {
    ++seen;
    return append_and_wait(**journal, {{"B", "2"}});
  });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(seen, 1);  // what came later belongs to the next reading
  EXPECT_EQ(entries_of(**journal).size(), 2U);
}

TEST_F(SqliteJournalTest, HasOneWriter) {
  auto journal = open();
  ASSERT_TRUE(journal) << journal.error().message;
  std::string why = refusal();
  EXPECT_NE(why.find("process " + std::to_string(::getpid()) + " has it"), std::string::npos)
      << why;
  journal->reset();
  EXPECT_EQ(refusal(), "");
}

TEST_F(SqliteJournalTest, LeavesOtherFilesAlone) {
  std::ofstream(file_) << "a list of things to buy, and more than sixteen bytes of it";
  std::string before = content();
  EXPECT_NE(refusal().find("is not a journal"), std::string::npos) << refusal();
  EXPECT_EQ(content(), before);
}

TEST_F(SqliteJournalTest, LeavesOtherDatabasesAlone) {
  {
    SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE shopping (thing TEXT)");
  }
  std::string before = content();
  EXPECT_NE(refusal().find("not a league's"), std::string::npos) << refusal();
  EXPECT_EQ(content(), before);
}

TEST_F(SqliteJournalTest, RefusesALaterVersion) {
  fill(1);
  sql("PRAGMA user_version = 99");
  std::string before = content();
  EXPECT_NE(refusal().find("has version 99, but this program knows only versions 1 to 1"),
            std::string::npos)
      << refusal();
  EXPECT_EQ(content(), before);
}

TEST_F(SqliteJournalTest, RefusesAJournalWithoutAVersion) {
  fill(1);
  sql("PRAGMA user_version = 0");
  std::string before = content();
  EXPECT_NE(refusal().find("has version 0, but this program knows only versions 1 to 1"),
            std::string::npos)
      << refusal();
  EXPECT_EQ(content(), before);
}

TEST_F(SqliteJournalTest, ALaterProgramTakesAnOlderJournalWithIt) {
  fill(2);
  SqliteJournalOptions later;
  later.file = file_;
  later.later_migrations = {"ALTER TABLE entries ADD COLUMN note TEXT",
                            "CREATE TABLE heads (sequence INTEGER PRIMARY KEY) STRICT"};
  {
    auto journal = SqliteJournal::open(later);
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(append_and_wait(**journal, {{"T3", "{}"}}));
    EXPECT_EQ(entries_of(**journal),
              (std::vector<Entry>{
                  {1, {"T1", "{\"n\":1}"}}, {2, {"T2", "{\"n\":1}"}}, {3, {"T3", "{}"}}}));
  }
  auto again = SqliteJournal::open(later);
  ASSERT_TRUE(again) << again.error().message;
  again->reset();
  EXPECT_NE(
      refusal().find("has version 3, but this program knows only versions 1 to 1: use the program"),
      std::string::npos)
      << refusal();
}

TEST_F(SqliteJournalTest, AMigrationThatFailsChangesNothing) {
  fill(2);
  SqliteJournalOptions later;
  later.file = file_;
  later.later_migrations = {"ALTER TABLE entries ADD COLUMN note TEXT", "ALTER TABLE nowhere"};
  auto journal = SqliteJournal::open(later);
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find(file_.string()), std::string::npos);
  auto old = open();
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(entries_of(**old).size(), 2U);
}

TEST_F(SqliteJournalTest, AnEmptyFileBecomesAJournal) {
  std::ofstream{file_};
  EXPECT_EQ(refusal(), "");
  fill(1);
}

TEST_F(SqliteJournalTest, FindsADamagedPage) {
  fill(200);
  auto size = static_cast<std::streamoff>(fs::file_size(file_));
  ASSERT_GT(size, 3 * 4096);
  {
    std::fstream damage(file_, std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(4096 * 2);
    damage << std::string(64, '\xff');
  }
  std::string before = content();
  EXPECT_NE(refusal().find("is damaged"), std::string::npos) << refusal();
  EXPECT_EQ(content(), before);
}

TEST_F(SqliteJournalTest, FindsAChangedMissingOrExchangedEntry) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"UPDATE entries SET payload = '{\"n\":2}' WHERE sequence = 3", "entry 3 does not match"},
      {"UPDATE entries SET type = 'T1' WHERE sequence = 4", "entry 4 does not match"},
      {"DELETE FROM entries WHERE sequence = 2", "entry 2 is missing"},
      {"UPDATE entries SET digest = x'00' WHERE sequence = 1", "entry 1 does not match"},
  };
  for (const auto& [statement, expected] : cases) {
    SCOPED_TRACE(statement);
    fs::remove(file_);
    fill(5);
    sql(statement);
    auto read = read_journal(file_, ignore);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find(expected), std::string::npos) << read.error().message;
  }
}

TEST_F(SqliteJournalTest, NamesWhatTheSystemRefuses) {
  SqliteJournalOptions options;
  options.file = directory_.path() / "missing" / "journal.sqlite";
  auto journal = SqliteJournal::open(std::move(options));
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find("No such file or directory"), std::string::npos)
      << journal.error().message;
  EXPECT_FALSE(read_journal(file_, ignore));
}

TEST_F(SqliteJournalTest, ReadsAClosedJournalThatCannotBeWritten) {
  fill(2);
  fs::permissions(directory_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  int seen = 0;
  auto read = read_journal(file_, [&](const Entry&) -> core::Result<void> {
    ++seen;
    return {};
  });
  fs::permissions(directory_.path(), fs::perms::owner_all);
  EXPECT_TRUE(read) << read.error().message;
  EXPECT_EQ(seen, 2);
}

TEST_F(SqliteJournalTest, WaitsForAProgramThatHasLockedTheFileAndSaysSo) {
  std::promise<void> told;
  SqliteJournalOptions options;
  options.file = file_;
  options.on_busy = [&told, is_first = true](std::chrono::seconds waited) mutable {
    EXPECT_GE(waited, std::chrono::seconds(1));
    if (std::exchange(is_first, false)) told.set_value();
  };
  auto journal = SqliteJournal::open(std::move(options));
  ASSERT_TRUE(journal) << journal.error().message;
  SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  std::promise<bool> stored;
  (*journal)->append({{"A", "1"}}, [&stored](const core::Result<void>& result) {
    stored.set_value(static_cast<bool>(result));
  });
  ASSERT_EQ(told.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  other.exec("COMMIT");
  EXPECT_TRUE(stored.get_future().get());
  EXPECT_EQ(entries_of(**journal).size(), 1U);
}

}  // namespace
}  // namespace league::journal
