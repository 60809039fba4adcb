#include "league_manager/standby/holder_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace league::league_manager::standby {
namespace {

using Names = std::vector<std::string>;

class HolderFileTest : public ::testing::Test {
 protected:
  /// Of one process that begins and ends.
  Names former(const std::string& holder) { return HolderFile::open(file, holder)->former(); }

  league::testing::TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "lease.holder";
};

TEST_F(HolderFileTest, KnowsWhoWasBefore) {
  EXPECT_EQ(former("one"), Names{});
  EXPECT_EQ(former("two"), Names{"one"});
  EXPECT_EQ(former("three"), (Names{"one", "two"}));
}

TEST_F(HolderFileTest, KeepsTheLastFew) {
  for (int i = 0; i < 20; ++i) (void)former(std::to_string(i));
  EXPECT_EQ(former("last"), (Names{"12", "13", "14", "15", "16", "17", "18", "19"}));
}

TEST_F(HolderFileTest, IsOnesAtATime) {
  auto first = HolderFile::open(file, "one");
  ASSERT_TRUE(first);
  auto second = HolderFile::open(file, "two");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another manager"), std::string::npos);
}

TEST_F(HolderFileTest, ACopySaysNothing) {
  auto first = HolderFile::open(file, "one");
  ASSERT_TRUE(first);
  auto copy = directory.path() / "copy";
  std::filesystem::copy_file(file, copy);
  EXPECT_EQ(HolderFile::open(copy, "two")->former(), Names{});
}

TEST_F(HolderFileTest, WhatIsDamagedSaysNothing) {
  (void)former("one");
  std::filesystem::resize_file(file, 20);
  EXPECT_EQ(former("two"), Names{});
  EXPECT_EQ(former("three"), Names{"two"});
}

}  // namespace
}  // namespace league::league_manager::standby
