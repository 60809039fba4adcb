#include "league_manager/admission/code_watch.h"

#include <gtest/gtest.h>

#include "common/core/private_file.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager::admission {
namespace {

using namespace std::chrono_literals;

class CodeWatchTest : public ::testing::Test {
 protected:
  void write(const std::string& rows) {
    ASSERT_TRUE(core::write_private_file(file_, "code,name\n" + rows));
  }
  /// What a second brings.
  std::string news() {
    told_.clear();
    time_.advance(1s);
    return told_;
  }

  league::testing::TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "codes.csv";
  league::testing::FakeTime time_;
  CodeWatch watch_{file_, [](std::string_view code) { return std::string(code); }};
  std::string told_;
  const CodeWatch::OnChange on_change_ = [this](const core::Result<CodeWatch::Codes>& codes) {
    told_ += codes ? std::to_string((*codes)->codes()) + " codes" : codes.error().message;
  };
};

TEST_F(CodeWatchTest, FollowsTheFile) {
  EXPECT_FALSE(watch_.read()) << "there is none";
  write("code-of-alpha,alpha\n");
  auto codes = watch_.read();
  ASSERT_TRUE(codes) << codes.error().message;
  EXPECT_EQ((*codes)->find("code-of-alpha")->name, "alpha");
  EXPECT_EQ((*codes)->find(""), nullptr);
  watch_.start(time_, on_change_);
  EXPECT_EQ(news(), "");
  write("code-of-alpha,alpha\ncode-of-beta,beta\n");
  EXPECT_EQ(news(), "2 codes");
  EXPECT_EQ(news(), "");
}

TEST_F(CodeWatchTest, SaysOnceWhatIsWrongAndGoesOn) {
  write("code-of-alpha,alpha\n");
  ASSERT_TRUE(watch_.read());
  watch_.start(time_, on_change_);
  write("short,alpha\n");
  EXPECT_EQ(news().find(file_.string() + ": line 2: the code has 5"), 0U) << told_;
  EXPECT_EQ(news(), "");
  write(",alpha\n");
  EXPECT_NE(news().find("no line has a code"), std::string::npos) << told_;
  std::filesystem::permissions(file_, std::filesystem::perms(0644));
  EXPECT_NE(news().find("chmod 600"), std::string::npos) << told_;
  std::filesystem::remove(file_);
  EXPECT_NE(news().find("there is no such file"), std::string::npos) << told_;
  write("code-of-alpha,alpha\n");
  EXPECT_EQ(news(), "1 codes");
}

}  // namespace
}  // namespace league::league_manager::admission
