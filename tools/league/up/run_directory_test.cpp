#include "tools/league/up/run_directory.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <fstream>

namespace league::tools {
namespace {

class RunDirectoryTest : public ::testing::Test {
 protected:
  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path root_ = temporary_.path();
  core::UtcTimestamp now_ = *core::UtcTimestamp::parse("2025-01-15T10:30:00.5Z");
};

TEST_F(RunDirectoryTest, NameSortsByTime) { EXPECT_EQ(run_name(now_), "2025-01-15T10-30-00Z"); }

TEST_F(RunDirectoryTest, TwoRunsInOneSecondDoNotMix) {
  auto first = make_run_directories(root_ / "runs", now_, {});
  auto second = make_run_directories(root_ / "runs", now_, {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->data, root_ / "runs/2025-01-15T10-30-00Z/data");
  EXPECT_EQ(second->logs, root_ / "runs/2025-01-15T10-30-00Z-2/logs");
  EXPECT_TRUE(std::filesystem::is_directory(second->data));
}

TEST_F(RunDirectoryTest, WhatIsGivenIsUsed) {
  auto made = make_run_directories(root_ / "runs", now_, {root_ / "d", root_ / "l"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->data, root_ / "d");
  EXPECT_TRUE(std::filesystem::is_directory(root_ / "l"));
  EXPECT_FALSE(std::filesystem::exists(root_ / "runs"));
}

TEST_F(RunDirectoryTest, NamesWhatCannotBeMade) {
  std::ofstream(root_ / "file") << "in the way";
  auto made = make_run_directories(root_ / "file", now_, {});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find((root_ / "file").string()), std::string::npos);
}

}  // namespace
}  // namespace league::tools
