#include "common/journal/journal_mark.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/temporary_directory.h"

namespace league::journal {
namespace {

namespace fs = std::filesystem;

class JournalMarkTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string content() const {
    std::stringstream out;
    out << std::ifstream(file_, std::ios::binary).rdbuf();
    return out.str();
  }
  void put(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }

  testing::TemporaryDirectory directory_;
  const fs::path file_ = directory_.path() / "journal.mark";
  const JournalPosition place_{42, core::sha256("x")};
};

TEST_F(JournalMarkTest, SaysWhatWasWrittenLast) {
  EXPECT_EQ(JournalMark::read(file_), std::nullopt);
  JournalMark mark(file_);
  mark.write({7, {}});
  mark.write(place_);
  EXPECT_EQ(JournalMark::read(file_), place_);
}

TEST_F(JournalMarkTest, ADamagedMarkClaimsNothing) {
  JournalMark(file_).write(place_);
  std::string whole = content();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    EXPECT_EQ(JournalMark::read(file_), std::nullopt) << size;
  }
  put(whole + "\n");
  EXPECT_EQ(JournalMark::read(file_), std::nullopt);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string other = whole;
    other[at] = 'x';
    put(other);
    EXPECT_EQ(JournalMark::read(file_), std::nullopt) << at;
  }
}

TEST_F(JournalMarkTest, WithoutItsDirectoryThereIsNone) {
  fs::path nowhere = directory_.path() / "missing" / "journal.mark";
  JournalMark(nowhere).write(place_);
  EXPECT_EQ(JournalMark::read(nowhere), std::nullopt);
}

TEST(Chained, DependsOnEverythingBefore) {
  core::Digest first = chained({}, {"A", "1"});
  EXPECT_NE(chained(first, {"B", "2"}), chained({}, {"B", "2"}));
  EXPECT_NE(chained({}, {"A", "2"}), first);
}

}  // namespace
}  // namespace league::journal
