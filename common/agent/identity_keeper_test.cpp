#include "common/agent/identity_keeper.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/scripted_random.h"
#include "tests/support/temporary_directory.h"

namespace league::agent {
namespace {

namespace fs = std::filesystem;

constexpr auto kManager = "http://localhost:8000/mcp";

class IdentityKeeperTest : public ::testing::Test {
 protected:
  core::Result<std::unique_ptr<IdentityKeeper>> open(std::string name = "alpha",
                                                     std::string manager = kManager) {
    return IdentityKeeper::open({.data = directory_.path(),
                                 .role = envelope::Role::kPlayer,
                                 .display_name = std::move(name),
                                 .manager = std::move(manager)},
                                random_);
  }
  /// What the keeper adds to a registration.
  static RegistrationOptions prepared(IdentityKeeper& keeper, std::uint16_t port = 8101) {
    RegistrationOptions registration;
    auto result = keeper.prepare(registration, port);
    EXPECT_TRUE(result) << result.error().message;
    return registration;
  }
  [[nodiscard]] fs::path file() const { return directory_.path() / "agents" / "player_alpha.json"; }

  league::testing::TemporaryDirectory directory_;
  league::testing::ScriptedRandom random_;
  const Identity identity_{"P01", core::AuthToken("tok_p01_secret"), core::LeagueId("league_a")};
};

TEST_F(IdentityKeeperTest, AnAgentComesBackWithItsToken) {
  {
    auto keeper = open();
    ASSERT_TRUE(keeper) << keeper.error().message;
    EXPECT_EQ((*keeper)->port(), 0);
    EXPECT_TRUE(prepared(**keeper).token.empty());
    ASSERT_TRUE((*keeper)->keep(identity_));
  }
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  auto again = open();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->port(), 8101);
  EXPECT_EQ(prepared(**again).token.reveal(), "tok_p01_secret");
}

TEST_F(IdentityKeeperTest, KeepsWhichLeagueItIs) {
  Identity at_home = identity_;
  at_home.league_key = std::string(64, 'a');
  at_home.match_credentials = true;
  {
    auto keeper = open();
    ASSERT_TRUE((*keeper)->keep(at_home));
  }
  auto again = open();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE((*again)->is_same(at_home));
  EXPECT_FALSE(log_league(at_home, again->get()).is_new);
  EXPECT_TRUE((*again)->is_same(identity_)) << "an answer that says nothing of it";
  Identity other = at_home;
  other.league_key = std::string(64, 'b');
  EXPECT_FALSE((*again)->is_same(other));
  EXPECT_TRUE(log_league(other, again->get()).is_new);
  EXPECT_FALSE(log_league(other, nullptr).is_new);
}

TEST_F(IdentityKeeperTest, AnAnswerThatSaysLessTakesNothingAway) {
  Identity at_home = identity_;
  at_home.league_key = std::string(64, 'a');
  at_home.match_credentials = true;
  {
    auto keeper = open();
    ASSERT_TRUE((*keeper)->keep(at_home));
    ASSERT_TRUE((*keeper)->keep(identity_));
  }
  std::ifstream file(this->file());
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(at_home.league_key), text.npos);
  EXPECT_NE(text.find("\"match_credentials\": true"), text.npos);
}

TEST_F(IdentityKeeperTest, ANewProcessHasANewNonceOnceItWasAnswered) {
  std::string first;
  {
    auto keeper = open();
    ASSERT_TRUE(keeper);
    first = prepared(**keeper).nonce;
  }
  {
    auto unanswered = open();  // the process ended before the answer came
    ASSERT_TRUE(unanswered);
    EXPECT_EQ(prepared(**unanswered).nonce, first);
    ASSERT_TRUE((*unanswered)->keep(identity_));
  }
  auto answered = open();
  ASSERT_TRUE(answered);
  EXPECT_NE(prepared(**answered).nonce, first);
}

TEST_F(IdentityKeeperTest, AnotherManagerIsNotShownTheToken) {
  {
    auto keeper = open();
    ASSERT_TRUE(keeper);
    prepared(**keeper);
    ASSERT_TRUE((*keeper)->keep(identity_));
  }
  auto elsewhere = open("alpha", "http://elsewhere.example.org:8000/mcp");
  ASSERT_TRUE(elsewhere);
  EXPECT_TRUE(prepared(**elsewhere).token.empty());
}

TEST_F(IdentityKeeperTest, OneProcessHasAName) {
  auto keeper = open();
  ASSERT_TRUE(keeper);
  auto second = open();
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("give another --name"), std::string::npos);
  EXPECT_TRUE(open("beta"));
}

TEST_F(IdentityKeeperTest, SaysWhatIsWrongWithAFile) {
  fs::create_directories(file().parent_path());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", "is no JSON object"},
      {R"({"schema_version":2})", "is of another version"},
      {R"({"schema_version":1,"port":8101})", "manager"},
      {R"({"schema_version":1,"port":8101,"manager":"http://localhost:8000/mcp","id":"P01"})",
       "auth_token"},
  };
  for (const auto& [content, expected] : cases) {
    std::ofstream(file(), std::ios::trunc) << content;
    fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
    auto keeper = open();
    ASSERT_FALSE(keeper) << content;
    EXPECT_NE(keeper.error().message.find(expected), std::string::npos) << keeper.error().message;
  }
  fs::permissions(file(), fs::perms::others_read, fs::perm_options::add);
  auto exposed = open();
  ASSERT_FALSE(exposed);
  EXPECT_NE(exposed.error().message.find("chmod 600"), std::string::npos);
}

}  // namespace
}  // namespace league::agent
