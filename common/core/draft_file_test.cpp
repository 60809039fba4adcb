#include "common/core/draft_file.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace league::core {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::stringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

class DraftFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(file_) << "old"; }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(directory_.path()), {});
  }

  testing::TemporaryDirectory directory_;
  const fs::path file_ = directory_.path() / "table.json";
};

TEST_F(DraftFileTest, AReaderSeesTheOldContentUntilTheNewIsWhole) {
  auto draft = DraftFile::create(file_);
  ASSERT_TRUE(draft);
  ASSERT_TRUE(draft->write("ne"));
  EXPECT_EQ(content_of(file_), "old");
  ASSERT_TRUE(draft->write("w"));
  EXPECT_EQ(content_of(file_), "old");
  ASSERT_TRUE(draft->commit(Flush::kNow));
  EXPECT_EQ(content_of(file_), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(DraftFileTest, WithoutACommitNothingChangesAndNothingIsLeft) {
  {
    auto draft = DraftFile::create(file_);
    ASSERT_TRUE(draft);
    ASSERT_TRUE(draft->write("half a fi"));
    DraftFile moved = std::move(*draft);
  }
  EXPECT_EQ(content_of(file_), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(DraftFileTest, ADiscardedDraftChangesNothing) {
  auto draft = DraftFile::create(file_);
  ASSERT_TRUE(draft);
  draft->discard();
  EXPECT_TRUE(draft->commit(Flush::kNow));
  EXPECT_EQ(content_of(file_), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(DraftFileTest, ADraftOfAWriterThatWasKilledIsReplaced) {
  fs::path victim = directory_.path() / "victim";
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, file_.string() + ".REF01");
  auto draft = DraftFile::create(file_, {.suffix = ".REF01"});
  ASSERT_TRUE(draft) << draft.error().message;
  ASSERT_TRUE(draft->write("new"));
  ASSERT_TRUE(draft->commit(Flush::kLater));
  EXPECT_EQ(content_of(victim), "precious");
  EXPECT_EQ(content_of(file_), "new");
  EXPECT_FALSE(fs::is_symlink(file_));
}

// Referees that share a directory and are started together probe it at the same time.
TEST_F(DraftFileTest, ProbesOfOneDraftDoNotFail) {
  std::atomic<int> failures = 0;
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) failures += DraftFile::create(file_) ? 0 : 1;
    });
  }
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(DraftFileTest, NamesTheFileThatCannotBeWritten) {
  auto nowhere = DraftFile::create(directory_.path() / "missing" / "x");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("missing/x: No such file"), std::string::npos);
  fs::create_directories(directory_.path() / "taken" / "full");
  auto draft = DraftFile::create(directory_.path() / "taken");
  ASSERT_TRUE(draft);
  EXPECT_FALSE(draft->commit(Flush::kLater));  // cannot be renamed to
}

}  // namespace
}  // namespace league::core
