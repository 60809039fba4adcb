#include "common/agent/identity/identity_store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/scripted_random.h"
#include "tests/support/temporary_directory.h"

namespace league::agent::identity {
namespace {

namespace fs = std::filesystem;

constexpr auto kManager = "http://localhost:8000/mcp";

class IdentityStoreTest : public ::testing::Test {
 protected:
  core::Result<std::unique_ptr<IdentityStore>> open(std::string name = "alpha",
                                                    std::string manager = kManager) {
    return IdentityStore::open({.data = directory_.path(),
                                .role = envelope::Role::kPlayer,
                                .display_name = std::move(name),
                                .manager = std::move(manager)},
                               random_);
  }
  /// What the store adds to a registration.
  static RegistrationOptions prepared(IdentityStore& identity_store, std::uint16_t port = 8101) {
    RegistrationOptions registration;
    auto result = identity_store.prepare(registration, port);
    EXPECT_TRUE(result) << result.error().message;
    return registration;
  }
  [[nodiscard]] fs::path file(int number = 1) const {
    std::string middle = number == 1 ? "" : "." + std::to_string(number);
    return directory_.path() / "agents" / ("player_alpha" + middle + ".json");
  }
  static std::string content(const fs::path& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Registers at `manager` and gets `identity`, after so many tokens that it does not know.
  void keep_at(const std::string& manager, const Identity& identity, int unknown = 0) {
    auto identity_store = open("alpha", manager);
    ASSERT_TRUE(identity_store) << identity_store.error().message;
    auto registration = prepared(**identity_store);
    for (; unknown > 0; --unknown) ASSERT_TRUE(registration.next_credentials());
    ASSERT_TRUE((*identity_store)->keep(identity));
  }
  /// The token that `manager` is shown first.
  std::string token_at(const std::string& manager) {
    auto identity_store = open("alpha", manager);
    EXPECT_TRUE(identity_store) << identity_store.error().message;
    return identity_store ? prepared(**identity_store).token.reveal() : "";
  }

  league::testing::TemporaryDirectory directory_;
  league::testing::ScriptedRandom random_;
  const Identity identity_{"P01", core::AuthToken("tok_p01_secret"), core::LeagueId("league_a")};
  const Identity other_{"P07", core::AuthToken("tok_p07_other"), core::LeagueId("league_b")};
};

TEST_F(IdentityStoreTest, AnAgentComesBackWithItsToken) {
  {
    auto identity_store = open();
    ASSERT_TRUE(identity_store) << identity_store.error().message;
    EXPECT_EQ((*identity_store)->port(), 0);
    EXPECT_TRUE(prepared(**identity_store).token.empty());
    ASSERT_TRUE((*identity_store)->keep(identity_));
  }
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  auto again = open();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->port(), 8101);
  EXPECT_EQ(prepared(**again).token.reveal(), "tok_p01_secret");
}

TEST_F(IdentityStoreTest, KeepsWhichLeagueItIs) {
  Identity at_home = identity_;
  at_home.league_key = std::string(64, 'a');
  at_home.match_credentials = true;
  {
    auto identity_store = open();
    ASSERT_TRUE((*identity_store)->keep(at_home));
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

TEST_F(IdentityStoreTest, AnAnswerThatSaysLessTakesNothingAway) {
  Identity at_home = identity_;
  at_home.league_key = std::string(64, 'a');
  at_home.match_credentials = true;
  at_home.game = R"({"game_type": "stag_hunt"})";
  {
    auto identity_store = open();
    ASSERT_TRUE((*identity_store)->keep(at_home));
    ASSERT_TRUE((*identity_store)->keep(identity_));
    EXPECT_EQ((*identity_store)->identity().game, at_home.game);
  }
  EXPECT_EQ((*open())->identity().game, at_home.game);
  std::ifstream file(this->file());
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(at_home.league_key), text.npos);
  EXPECT_NE(text.find("\"match_credentials\": true"), text.npos);
}

TEST_F(IdentityStoreTest, NoLaterAnswerTurnsWhoIsAtHomeIntoAGuest) {
  Identity at_home = identity_;
  at_home.league_key = std::string(64, 'a');
  at_home.match_credentials = true;
  ASSERT_TRUE(at_home.is_at_home());
  Identity tokenless = identity_;
  tokenless.token = {};
  auto identity_store = open();
  ASSERT_TRUE((*identity_store)->keep(at_home));
  for (const Identity& answer : {identity_, tokenless}) {
    ASSERT_FALSE(answer.is_at_home());
    ASSERT_TRUE((*identity_store)->keep(answer));
    EXPECT_TRUE((*identity_store)->identity().is_at_home());
    EXPECT_EQ((*identity_store)->identity().token.reveal(), at_home.token.reveal());
  }
  EXPECT_FALSE(fs::exists(file(2)));
  // Another token is another identity, beside which the first one stays what it was.
  Identity other = identity_;
  other.token = core::AuthToken("tok_of_a_foreign_league");
  ASSERT_TRUE((*identity_store)->keep(other));
  EXPECT_FALSE((*identity_store)->identity().is_at_home());
  EXPECT_TRUE(fs::exists(file(2)));
}

TEST_F(IdentityStoreTest, ANewProcessHasANewNonceOnceItWasAnswered) {
  std::string first;
  {
    auto identity_store = open();
    ASSERT_TRUE(identity_store);
    first = prepared(**identity_store).nonce;
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

TEST_F(IdentityStoreTest, AnotherManagerIsNotShownTheToken) {
  keep_at(kManager, identity_);
  for (const char* other :
       {"http://elsewhere.example.org:8000/mcp", "http://10.0.0.1:8000/mcp",
        "http://127.0.0.2:8000/mcp", "http://localhost:8000/other", "https://localhost:8000/mcp",
        "unix:/run/manager.sock", "nats:manager", "localhost"}) {
    EXPECT_EQ(token_at(other), "") << other;
  }
  EXPECT_EQ(token_at(kManager), "tok_p01_secret") << "and it is still there for the first";
}

TEST_F(IdentityStoreTest, AnotherSpellingOfTheManagersAddressIsTheSameManager) {
  keep_at(kManager, identity_);
  for (const char* same :
       {"http://127.0.0.1:8000/mcp", "http://[::1]:8000/mcp", "HTTP://LOCALHOST:8000/mcp/",
        "http://[::ffff:127.0.0.1]:8000/mcp", "http://localhost:9000/mcp"}) {
    EXPECT_EQ(token_at(same), "tok_p01_secret") << same;
  }
  EXPECT_FALSE(fs::exists(file(2)));
}

TEST_F(IdentityStoreTest, ElsewhereThePortIsPartOfTheAddress) {
  keep_at("http://bots.example.org:8000/mcp", identity_);
  EXPECT_EQ(token_at("http://bots.example.org:9000/mcp"), "");
  EXPECT_EQ(token_at("http://BOTS.example.org:8000/mcp/"), "tok_p01_secret");
}

TEST_F(IdentityStoreTest, TwoLeaguesTwoIdentities) {
  keep_at(kManager, identity_);
  const std::string first = content(file());
  keep_at("http://bots.example.org:8000/mcp", other_);
  EXPECT_EQ(content(file()), first) << "a file with a token is not overwritten";
  EXPECT_EQ(fs::status(file(2)).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(token_at(kManager), "tok_p01_secret");
  EXPECT_EQ(token_at("http://bots.example.org:8000/mcp"), "tok_p07_other");
}

TEST_F(IdentityStoreTest, ARemovedFileHidesNoOther) {
  keep_at("http://bots.example.org:8000/mcp", other_);
  keep_at(kManager, identity_);
  fs::remove(file());
  EXPECT_EQ(token_at(kManager), "tok_p01_secret");
  fs::rename(file(2), file(9));
  EXPECT_EQ(token_at(kManager), "tok_p01_secret");
}

TEST_F(IdentityStoreTest, AManagerThatDoesNotKnowTheTokenIsShownTheNextAndThenNone) {
  keep_at(kManager, identity_);
  keep_at("http://localhost:9000/mcp", other_, 1);
  // Both may be shown here; that from this very address comes first.
  auto identity_store = open("alpha", "http://127.0.0.1:9000/mcp");
  ASSERT_TRUE(identity_store) << identity_store.error().message;
  auto registration = prepared(**identity_store);
  EXPECT_EQ(registration.token.reveal(), "tok_p07_other");
  auto second = registration.next_credentials();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->token.reveal(), "tok_p01_secret");
  auto third = registration.next_credentials();
  ASSERT_TRUE(third);
  EXPECT_TRUE(third->token.empty());
  EXPECT_FALSE(third->nonce.empty());
  EXPECT_EQ((*identity_store)->id(), "");
  Identity fresh{"P03", core::AuthToken("tok_p03_fresh"), core::LeagueId("league_c")};
  ASSERT_TRUE((*identity_store)->keep(fresh));
  EXPECT_NE(content(file()).find("tok_p01_secret"), std::string::npos);
  EXPECT_NE(content(file(2)).find("tok_p07_other"), std::string::npos);
  EXPECT_NE(content(file(3)).find("tok_p03_fresh"), std::string::npos);
}

TEST_F(IdentityStoreTest, ATokenThatTheOperatorReplacedIsKeptBesideTheOld) {
  Identity at_home = identity_;
  at_home.league_key = std::string(64, 'a');
  keep_at(kManager, at_home);
  Identity renewed = at_home;
  renewed.token = core::AuthToken("tok_p01_renewed");
  {
    auto identity_store = open();
    ASSERT_TRUE(identity_store);
    prepared(**identity_store);
    EXPECT_TRUE((*identity_store)->is_same(renewed)) << "the league and the seat are the same";
    ASSERT_TRUE((*identity_store)->keep(renewed));
  }
  EXPECT_NE(content(file()).find("tok_p01_secret"), std::string::npos);
  EXPECT_EQ(token_at(kManager), "tok_p01_renewed") << "the newest first";
}

TEST_F(IdentityStoreTest, ARegistrationWithoutAnAnswerMakesRoom) {
  {
    auto identity_store = open();
    ASSERT_TRUE(identity_store);
    prepared(**identity_store);
  }
  keep_at("http://bots.example.org:8000/mcp", other_);
  EXPECT_NE(content(file()).find("tok_p07_other"), std::string::npos);
  EXPECT_FALSE(fs::exists(file(2)));
}

TEST_F(IdentityStoreTest, ANonceIsNotShownToAnotherManager) {
  std::string first;
  {
    auto identity_store = open();
    ASSERT_TRUE(identity_store);
    first = prepared(**identity_store).nonce;
  }
  auto elsewhere = open("alpha", "http://elsewhere.example.org:8000/mcp");
  ASSERT_TRUE(elsewhere);
  EXPECT_NE(prepared(**elsewhere).nonce, first) << "who has it gets the identity";
}

TEST_F(IdentityStoreTest, OneProcessHasAName) {
  auto identity_store = open();
  ASSERT_TRUE(identity_store);
  auto second = open();
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("give another --name"), std::string::npos);
  EXPECT_TRUE(open("beta"));
}

TEST_F(IdentityStoreTest, SaysWhatIsWrongWithAFile) {
  fs::create_directories(file().parent_path());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", "is not a JSON object"},
      {R"({"schema_version":2})", "is of another version"},
      {R"({"schema_version":1,"port":8101})", "manager"},
      {R"({"schema_version":1,"port":8101,"manager":"http://localhost:8000/mcp","id":"P01"})",
       "auth_token"},
  };
  for (const auto& [content, expected] : cases) {
    std::ofstream(file(), std::ios::trunc) << content;
    fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
    auto identity_store = open();
    ASSERT_FALSE(identity_store) << content;
    EXPECT_NE(identity_store.error().message.find(expected), std::string::npos)
        << identity_store.error().message;
  }
  fs::permissions(file(), fs::perms::others_read, fs::perm_options::add);
  auto exposed = open();
  ASSERT_FALSE(exposed);
  EXPECT_NE(exposed.error().message.find("chmod 600"), std::string::npos);
}

TEST_F(IdentityStoreTest, OtherProcessesFindTheNewestIdentity) {
  auto find = [this](const std::string& manager) {
    auto found = IdentityStore::find({.data = directory_.path(),
                                      .role = envelope::Role::kPlayer,
                                      .display_name = "alpha",
                                      .manager = manager},
                                     random_);
    EXPECT_TRUE(found) << found.error().message;
    return found && *found ? (*found)->id : std::string();
  };
  EXPECT_EQ(find(kManager), "") << "nothing is made";
  EXPECT_FALSE(fs::exists(file()));
  keep_at(kManager, identity_);
  auto holder = open();
  ASSERT_TRUE(holder) << "it holds the lock";
  EXPECT_EQ(find(kManager), "P01");
  EXPECT_EQ(find("http://elsewhere.example:8000/mcp"), "");
  ASSERT_TRUE((*holder)->keep(other_));
  EXPECT_EQ(find(kManager), "P07");
}

}  // namespace
}  // namespace league::agent::identity
