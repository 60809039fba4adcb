#include "tools/league/up/lose_after.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/support/temporary_directory.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;

class LoseAfterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(data_ / "journal");
    std::ofstream(data_ / "replication.json") << "{}";
  }
  void expect_refused(const fs::path& data, std::string_view last, std::string_view why) {
    const auto refused = request_lead(data, last);
    ASSERT_FALSE(refused) << last;
    EXPECT_EQ(refused.error().code, core::ErrorCode::kInvalidFieldValue);
    EXPECT_NE(refused.error().message.find(why), std::string::npos) << refused.error().message;
    EXPECT_FALSE(fs::exists(data_ / "lose_after"));
  }

  league::testing::TemporaryDirectory directory_;
  const fs::path data_ = directory_.path() / "data";
};

TEST_F(LoseAfterTest, TheManagerFindsTheNumber) {
  const auto file = request_lead(data_, "4211");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(*file, data_ / "lose_after");
  std::ifstream in(*file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "4211\n");
  EXPECT_EQ(fs::status(*file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(request_lead(data_, "0")) << "a second decision replaces the first";
}

TEST_F(LoseAfterTest, WhatIsNoNumberIsRefused) {
  for (const char* last :
       {"", "N", "-1", "+1", "1.5", "42 ", " 42", "0x10", "99999999999999999999"})
    expect_refused(data_, last, "not the number of an event");
}

TEST_F(LoseAfterTest, OtherDirectoriesAreRefused) {
  expect_refused(directory_.path() / "none", "1", "name the --data of the manager that waits");
  expect_refused(directory_.path(), "1", "is not a manager's data directory");
  fs::remove(data_ / "replication.json");
  expect_refused(data_, "1", "replication.json is missing");
}

}  // namespace
}  // namespace league::tools
