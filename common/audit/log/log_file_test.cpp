#include "common/audit/log/log_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;

class LogFileTest : public ::testing::Test {
 protected:
  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  testing::TemporaryDirectory temporary_;
  const fs::path directory_ = temporary_.path();
  std::shared_ptr<LogFiles> files_ = disk_files();
};

TEST_F(LogFileTest, AReplacedFileHasTheNewContentWhateverItsLength) {
  fs::path path = directory_ / "agents" / "P01.seal.json";
  for (std::string text : {"first", "the second, which is longer", "3", "", "fifth"}) {
    ASSERT_TRUE(files_->replace(path, text));
    EXPECT_EQ(content(path), text);
  }
}

TEST_F(LogFileTest, WhoReadsWhileItIsReplacedHasTheWholeOldFile) {
  fs::path path = directory_ / "seal";
  ASSERT_TRUE(files_->replace(path, "old"));
  ASSERT_TRUE(files_->replace(path, "older"));
  std::ifstream reader(path, std::ios::binary);
  ASSERT_TRUE(files_->replace(path, "new"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "older");
  EXPECT_EQ(content(path), "new");
}

TEST_F(LogFileTest, NothingIsLeftAfterTheLastReplacement) {
  fs::path path = directory_ / "seal";
  ASSERT_TRUE(files_->replace(path, "one"));
  ASSERT_TRUE(files_->replace(path, "two"));
  files_->end_replacing(path);
  std::vector<fs::path> left(fs::directory_iterator(directory_), {});
  EXPECT_EQ(left, std::vector<fs::path>{path});
  files_->end_replacing(path);  // twice is no fault
  EXPECT_EQ(content(path), "two");
}

TEST_F(LogFileTest, ALinkInTheDraftsPlaceIsNotFollowed) {
  fs::path path = directory_ / "seal";
  std::ofstream(directory_ / "victim") << "precious";
  fs::create_symlink(directory_ / "victim", directory_ / "seal.new");
  for (std::string text : {"one", "two", "three"}) {
    ASSERT_TRUE(files_->replace(path, text));
    EXPECT_EQ(content(path), text);
  }
  EXPECT_EQ(content(directory_ / "victim"), "precious");
}

TEST_F(LogFileTest, ACopyOfLinksKeepsWhatItHas) {
  fs::path path = directory_ / "seal";
  ASSERT_TRUE(files_->replace(path, "one"));
  ASSERT_TRUE(files_->replace(path, "two"));
  fs::create_hard_link(path, directory_ / "backup");
  for (std::string text : {"three", "four", "five"}) ASSERT_TRUE(files_->replace(path, text));
  EXPECT_EQ(content(directory_ / "backup"), "two");
  EXPECT_EQ(content(path), "five");
}

TEST_F(LogFileTest, AFileThatMayNotBeWrittenIsReplacedAllTheSame) {
  fs::path path = directory_ / "seal";
  ASSERT_TRUE(files_->replace(path, "one"));
  fs::permissions(path, fs::perms::owner_read);
  for (std::string text : {"two", "three", "four"}) {
    ASSERT_TRUE(files_->replace(path, text));
    EXPECT_EQ(content(path), text);
  }
}

TEST_F(LogFileTest, AFileThatIsThereIsNotCreatedAgain) {
  fs::path path = directory_ / "log";
  auto file = files_->create(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(*(*file)->write("line\n"), 5U);
  EXPECT_FALSE(files_->create(path));
}

}  // namespace
}  // namespace league::audit::log
