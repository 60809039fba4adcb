#include "league_manager/admission/operator_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/scripted_random.h"

namespace league::league_manager::admission {
namespace {

class OperatorKey : public ::testing::Test {
 protected:
  OperatorKey() { std::filesystem::create_directories(directory_); }
  ~OperatorKey() override { std::filesystem::remove_all(directory_); }
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file_) << text;
    ::chmod(file_.c_str(), mode);
  }

  const std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("operator_key_" + std::to_string(::getpid()));
  const std::filesystem::path file_ = directory_ / "operator.key";
  league::testing::ScriptedRandom random_;
};

TEST_F(OperatorKey, IsMadeOnceAndReadAgain) {
  auto made = open_operator_key(file_, random_);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->reveal().starts_with("op_"));
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  auto read = open_operator_key(file_, random_);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->reveal(), made->reveal());
}

TEST_F(OperatorKey, TheFirstLineCounts) {
  write("0123456789abcdef\r\nnote: mine\n");
  auto key = open_operator_key(file_, random_);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->reveal(), "0123456789abcdef");
}

TEST_F(OperatorKey, RefusesAnOpenFileAndAShortKey) {
  write("0123456789abcdef\n", 0644);
  EXPECT_FALSE(open_operator_key(file_, random_));
  write("short\n");
  EXPECT_FALSE(open_operator_key(file_, random_));
  write("");
  EXPECT_FALSE(open_operator_key(file_, random_));
  EXPECT_FALSE(open_operator_key(directory_ / "missing" / "key", random_));
}

TEST_F(OperatorKey, TheRefereesKeyIsTheUsualOneOrTheOperatorsOwn) {
  core::AuthToken usual("ref_usual_usual_usual");
  auto made = open_referee_key(file_, usual);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->reveal(), usual.reveal());
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(0600));
  auto kept = open_referee_key(file_, core::AuthToken("ref_another_another"));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->reveal(), usual.reveal());
}

}  // namespace
}  // namespace league::league_manager::admission
