#include "player/service/registration_code.h"

#include <gtest/gtest.h>

#include "common/core/private_file.h"
#include "tests/support/temporary_directory.h"

namespace league::player::service {
namespace {

class RegistrationCodeTest : public ::testing::Test {
 protected:
  std::string code(const std::string& content, const std::string& name) {
    EXPECT_TRUE(core::write_private_file(file_, content));
    auto found = read_registration_code(file_, name);
    return found ? found->reveal() : found.error().message;
  }

  league::testing::TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "codes";
};

TEST_F(RegistrationCodeTest, IsTheOnlyOneOrThatOfTheName) {
  EXPECT_EQ(code("code-of-alpha\n", "whoever"), "code-of-alpha");
  const std::string list =
      "code,name\ncode-of-alpha,alpha\r\n\n code-of-beta, the Beta \n,nobody\n";
  EXPECT_EQ(code(list, "Alpha"), "code-of-alpha");
  EXPECT_EQ(code(list, "the beta"), "code-of-beta");
  EXPECT_TRUE(read_registration_code({}, "alpha")->empty());
}

TEST_F(RegistrationCodeTest, SaysThatThereIsNoneAndShowsNoOther) {
  auto text = code("code,name\ncode-of-alpha,alpha\n", "gamma");
  EXPECT_NE(text.find("no registration code for \"gamma\""), std::string::npos) << text;
  EXPECT_EQ(text.find("code-of-alpha"), std::string::npos);
  text = code("code,name\n,gamma\n", "gamma");
  EXPECT_NE(text.find("no registration code for \"gamma\""), std::string::npos) << text;
  EXPECT_NE(code("\n", "gamma").find("is empty"), std::string::npos);
  EXPECT_FALSE(read_registration_code(directory_.path() / "missing", "alpha"));
}

}  // namespace
}  // namespace league::player::service
