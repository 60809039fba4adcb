#include "common/agent/identity/secret_file.h"

#include <gtest/gtest.h>

#include "common/core/private_file.h"
#include "tests/support/temporary_directory.h"

namespace league::agent::identity {
namespace {

TEST(SecretFile, HoldsTheSecretInItsFirstLine) {
  league::testing::TemporaryDirectory directory;
  auto file = directory.path() / "key";
  for (const char* content : {"the secret", "the secret\n", "the secret \r\nmore\n"}) {
    ASSERT_TRUE(core::write_private_file(file, content));
    auto secret = read_secret_file(file);
    ASSERT_TRUE(secret) << secret.error().message;
    EXPECT_EQ(secret->reveal(), "the secret");
  }
  EXPECT_TRUE(read_secret_file({})->empty());
}

TEST(SecretFile, SaysWhatIsWrongAndNotWhatIsInIt) {
  league::testing::TemporaryDirectory directory;
  auto file = directory.path() / "key";
  EXPECT_NE(read_secret_file(file).error().message.find("no such file"), std::string::npos);
  ASSERT_TRUE(core::write_private_file(file, " \nthe secret"));
  auto empty = read_secret_file(file);
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("first line is empty"), std::string::npos);
  ASSERT_TRUE(core::write_private_file(file, "the secret"));
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  auto exposed = read_secret_file(file);
  ASSERT_FALSE(exposed);
  EXPECT_NE(exposed.error().message.find("chmod 600"), std::string::npos);
  EXPECT_EQ(exposed.error().message.find("the secret"), std::string::npos);
}

}  // namespace
}  // namespace league::agent::identity
