#include "league_manager/admission/token_issuer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/scripted_random.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager::admission {
namespace {

class TokenIssuerTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return dir_ / "secret.key"; }
  league::testing::ScriptedRandom random_;
  core::LeagueId league_{"league_2025_even_odd"};
  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path dir_ = temporary_.path();
};

TEST_F(TokenIssuerTest, TokensHaveTheDocumentedForm) {
  TokenIssuer token_issuer(league_, random_);
  auto token = token_issuer.token("P01", "nonce").reveal();
  EXPECT_EQ(token.substr(0, 8), "tok_p01_");
  EXPECT_EQ(token.size(), 8U + 52U);
  EXPECT_EQ(token.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567", 8), std::string::npos);
}

TEST_F(TokenIssuerTest, DependOnKeyLeagueIdAndNonce) {
  TokenIssuer token_issuer(league_, random_);
  auto token = token_issuer.token("P01", "nonce").reveal();
  EXPECT_EQ(token, token_issuer.token("P01", "nonce").reveal());
  EXPECT_NE(token, token_issuer.token("P01", "other").reveal());
  EXPECT_NE(token.substr(8), token_issuer.token("P02", "nonce").reveal().substr(8));
  EXPECT_NE(token, TokenIssuer(league_, random_).token("P01", "nonce").reveal());
}

TEST_F(TokenIssuerTest, TheLeaguesKeyFollowsFromKeyAndLeague) {
  TokenIssuer token_issuer(league_, random_);
  auto key = token_issuer.league_key().public_key();
  EXPECT_EQ(key, token_issuer.league_key().public_key());
  EXPECT_NE(key, TokenIssuer(league_, random_).league_key().public_key());
  auto one = TokenIssuer::open(league_, file(), random_);
  auto again = TokenIssuer::open(league_, file(), random_);
  auto other = TokenIssuer::open(core::LeagueId("league_b"), file(), random_);
  ASSERT_TRUE(one && again && other);
  EXPECT_EQ(one->league_key().public_key(), again->league_key().public_key());
  EXPECT_NE(one->league_key().public_key(), other->league_key().public_key());
}

TEST_F(TokenIssuerTest, TheKeyFileIsPrivateAndGivesTheSameTokensAgain) {
  auto first = TokenIssuer::open(league_, file(), random_);
  ASSERT_TRUE(first) << first.error().message;
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  auto again = TokenIssuer::open(league_, file(), random_);
  ASSERT_TRUE(again);
  EXPECT_EQ(first->token("P01", "n").reveal(), again->token("P01", "n").reveal());
}

TEST_F(TokenIssuerTest, RefusesAKeyThatOthersCanReadOrThatIsDamaged) {
  ASSERT_TRUE(TokenIssuer::open(league_, file(), random_));
  ::chmod(file().c_str(), 0644);
  auto exposed = TokenIssuer::open(league_, file(), random_);
  ASSERT_FALSE(exposed);
  EXPECT_NE(exposed.error().message.find("chmod 600"), std::string::npos);
  ::chmod(file().c_str(), 0600);
  std::ofstream(file(), std::ios::trunc) << "short";
  EXPECT_FALSE(TokenIssuer::open(league_, file(), random_));
}

}  // namespace
}  // namespace league::league_manager::admission
