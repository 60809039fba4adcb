#include "common/core/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_directory.h"

namespace league::core {
namespace {

namespace fs = std::filesystem;

class PrivateFile : public ::testing::Test {
 protected:
  testing::TemporaryDirectory directory_;
  const fs::path file_ = directory_.path() / "secret";
};

TEST_F(PrivateFile, IsReadBackAndReplaced) {
  std::string bytes("a\0\n\xff", 4);
  ASSERT_TRUE(write_private_file(file_, "an older and longer content"));
  ASSERT_TRUE(write_private_file(file_, bytes));
  auto content = read_private_file(file_);
  ASSERT_TRUE(content);
  EXPECT_EQ(**content, bytes);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), {}), 1);  // no draft is left
}

TEST_F(PrivateFile, IsForItsOwnerOnly) {
  mode_t before = ::umask(0);
  ASSERT_TRUE(write_private_file(file_, "x"));
  ::umask(before);
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(file_, fs::perms::group_read, fs::perm_options::add);
  auto content = read_private_file(file_);
  ASSERT_FALSE(content);
  EXPECT_NE(content.error().message.find("chmod 600"), std::string::npos);
}

TEST_F(PrivateFile, MayBeACredentialOfItsUnit) {
  ASSERT_TRUE(write_private_file(file_, "x"));
  fs::permissions(file_, fs::perms::owner_read | fs::perms::group_read);
  ::setenv("CREDENTIALS_DIRECTORY", directory_.path().c_str(), 1);
  EXPECT_TRUE(read_private_file(file_));
  fs::permissions(file_, fs::perms::others_read, fs::perm_options::add);
  EXPECT_FALSE(read_private_file(file_));
  fs::permissions(file_, fs::perms::owner_read | fs::perms::group_read);
  ::setenv("CREDENTIALS_DIRECTORY", "/nowhere", 1);
  EXPECT_FALSE(read_private_file(file_));
  ::setenv("CREDENTIALS_DIRECTORY", "", 1);
  const fs::path before = fs::current_path();
  fs::current_path(directory_.path());
  EXPECT_FALSE(read_private_file("secret"));  // its parent_path() is empty, too
  fs::current_path(before);
  ::unsetenv("CREDENTIALS_DIRECTORY");
  EXPECT_FALSE(read_private_file(file_));
}

TEST_F(PrivateFile, MayBeMissing) {
  auto content = read_private_file(file_);
  ASSERT_TRUE(content);
  EXPECT_FALSE(*content);
}

TEST_F(PrivateFile, NamesWhatIsWrong) {
  auto nowhere = write_private_file(directory_.path() / "missing" / "secret", "x");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("missing/secret: No such file"), std::string::npos);
  EXPECT_FALSE(read_private_file(directory_.path()));
  fs::create_directories(directory_.path() / "taken" / "full");
  EXPECT_FALSE(write_private_file(directory_.path() / "taken", "x"));  // cannot be renamed to
  EXPECT_FALSE(fs::exists(directory_.path() / "taken.new"));
  std::ofstream(file_) << std::string(70'000, 'x');
  fs::permissions(file_, fs::perms::owner_all);
  EXPECT_FALSE(read_private_file(file_));
}

}  // namespace
}  // namespace league::core
