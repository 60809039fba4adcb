#include "league_manager/admission/token_vault.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/scripted_random.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager {
namespace {

class TokenVaultTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return dir_ / "secret.key"; }
  league::testing::ScriptedRandom random_;
  core::LeagueId league_{"league_2025_even_odd"};
  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path dir_ = temporary_.path();
};

TEST_F(TokenVaultTest, TokensHaveTheDocumentedForm) {
  TokenVault vault(league_, random_);
  auto token = vault.token("P01", "nonce").reveal();
  EXPECT_EQ(token.substr(0, 8), "tok_p01_");
  EXPECT_EQ(token.size(), 8U + 52U);
  EXPECT_EQ(token.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567", 8), std::string::npos);
}

TEST_F(TokenVaultTest, DependOnKeyLeagueIdAndNonce) {
  TokenVault vault(league_, random_);
  auto token = vault.token("P01", "nonce").reveal();
  EXPECT_EQ(token, vault.token("P01", "nonce").reveal());
  EXPECT_NE(token, vault.token("P01", "other").reveal());
  EXPECT_NE(token.substr(8), vault.token("P02", "nonce").reveal().substr(8));
  EXPECT_NE(token, TokenVault(league_, random_).token("P01", "nonce").reveal());
}

TEST_F(TokenVaultTest, TheLeaguesKeyFollowsFromKeyAndLeague) {
  TokenVault vault(league_, random_);
  auto key = vault.league_key().public_key();
  EXPECT_EQ(key, vault.league_key().public_key());
  EXPECT_NE(key, TokenVault(league_, random_).league_key().public_key());
  auto one = TokenVault::open(league_, file(), random_);
  auto again = TokenVault::open(league_, file(), random_);
  auto other = TokenVault::open(core::LeagueId("league_b"), file(), random_);
  ASSERT_TRUE(one && again && other);
  EXPECT_EQ(one->league_key().public_key(), again->league_key().public_key());
  EXPECT_NE(one->league_key().public_key(), other->league_key().public_key());
}

TEST_F(TokenVaultTest, TheKeyFileIsPrivateAndGivesTheSameTokensAgain) {
  auto first = TokenVault::open(league_, file(), random_);
  ASSERT_TRUE(first) << first.error().message;
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  auto again = TokenVault::open(league_, file(), random_);
  ASSERT_TRUE(again);
  EXPECT_EQ(first->token("P01", "n").reveal(), again->token("P01", "n").reveal());
}

TEST_F(TokenVaultTest, RefusesAKeyThatOthersCanReadOrThatIsDamaged) {
  ASSERT_TRUE(TokenVault::open(league_, file(), random_));
  ::chmod(file().c_str(), 0644);
  auto exposed = TokenVault::open(league_, file(), random_);
  ASSERT_FALSE(exposed);
  EXPECT_NE(exposed.error().message.find("chmod 600"), std::string::npos);
  ::chmod(file().c_str(), 0600);
  std::ofstream(file(), std::ios::trunc) << "short";
  EXPECT_FALSE(TokenVault::open(league_, file(), random_));
}

}  // namespace
}  // namespace league::league_manager
