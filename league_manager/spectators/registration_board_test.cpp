#include "league_manager/spectators/registration_board.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "league_manager/core/league_testing.h"

namespace league::league_manager::spectators {
namespace {

using nlohmann::json;
using testing::at;

class RegistrationBoardTest : public ::testing::Test {
 protected:
  void expect(const std::string& rows) {
    auto table = agent::identity::CodeTable::parse("code,name,team,email\n" + rows);
    ASSERT_TRUE(table) << table.error().message;
    board_.on_codes(std::make_shared<const admission::RegistrationCodes>(
        *table, [](std::string_view code) { return "digest of " + std::string(code); }));
  }
  void enter(const std::string& name, int index, const std::string& code = {}) {
    auto profile = testing::profile(name, 9000 + index);
    if (!code.empty()) profile.code_digest = "digest of " + code;
    board_.on_events(
        {{at(0), events::AgentRegistered{events::AgentRef::player(index), profile, {}, {}}}});
  }
  void refuse(const std::string& name, const std::string& code, const std::string& why, int when) {
    board_.on_refused(events::AgentKind::kPlayer, name, code,
                      {core::ErrorCode::kNotAuthorized, why, ""}, at(when));
  }
  [[nodiscard]] json shown() const { return json::parse(board_.json()); }

  int changes_ = 0;
  RegistrationBoard board_{[this] { ++changes_; }};
};

TEST_F(RegistrationBoardTest, ShowsWhoIsInAndWhoIsMissing) {
  EXPECT_TRUE(shown()["expected"].is_null()) << "everybody may register";
  expect("code-of-ann,Ann,red,ann@example.org\ncode-of-bob,Bob,,\n,Cid,,\n");
  enter("Bob", 0, "code-of-bob");
  enter("dora", 1);
  EXPECT_EQ(shown()["expected"],
            json::parse(R"([["Ann","red",-1,1],["Bob","",0,1],["Cid","",-1,0]])"));
  EXPECT_EQ(changes_, 3);
  expect("code-of-bob,Robert,,\n");
  EXPECT_EQ(shown()["expected"], json::parse(R"([["Robert","",0,1]])")) << "known by its code";
}

TEST_F(RegistrationBoardTest, ShowsWhoWasRefusedAndWhyTheLastTime) {
  expect("code-of-ann,Ann,red,ann@example.org\ncode-of-bob,Bob,,\n");
  refuse("mallory", "a-wrong-code", "wrong", 10);
  refuse("Ann", "", "missing", 11);
  refuse("robot", "code-of-bob", "taken at http://10.0.0.1:1/mcp", 12);
  refuse("mallory", "another-wrong", "wrong again", 13);
  const json refused = shown()["refused"];
  ASSERT_EQ(refused.size(), 3U) << refused;
  EXPECT_EQ(refused[0], json({"player", "Ann", 0, "E016", "missing", 1, 1736937011000}));
  EXPECT_EQ(refused[1][2], 1) << "whose code it was";
  EXPECT_EQ(refused[1][4], "taken at [address]");
  EXPECT_EQ(refused[2], json({"player", "mallory", -1, "E016", "wrong again", 2, 1736937013000}));
  for (const char* secret : {"code-of", "wrong-code", "digest", "example.org", "10.0.0.1"})
    EXPECT_EQ(board_.json().find(secret), std::string::npos) << secret;
}

TEST_F(RegistrationBoardTest, KeepsABoundedNumberOfRefusals) {
  for (int i = 0; i < 1000; ++i) refuse("bot" + std::to_string(i), "", "no", i);
  EXPECT_EQ(shown()["refused"].size(), RegistrationBoard::kMostRefusals);
  EXPECT_EQ(shown()["refused"].back()[1], "bot999");
  EXPECT_EQ(shown()["forgotten"], 900);
}

TEST_F(RegistrationBoardTest, IsValidWhateverStrangersSend) {
  refuse("\xff<b>ann@example.org \"", std::string(500, '"'), std::string(5000, 'x'), 1);
  EXPECT_LT(board_.json().size(), 1000U);
  EXPECT_EQ(shown()["refused"].size(), 1U);
  EXPECT_EQ(board_.json().find("ann@"), std::string::npos);
}

}  // namespace
}  // namespace league::league_manager::spectators
