// Every record says whose token, credential or signature was checked, and only then (protocol §8).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using nlohmann::json;

class WhoSaidIt : public ::testing::Test {
 protected:
  /// Expects a request of `type` in the log of `agent`, and that `speaker` is proven to have sent
  /// every one of them.
  void expect_said(const std::string& agent, Kind kind, const char* type,
                   const std::string& speaker) {
    const auto found = spoken(league_, agent, Direction::kIn, kind, type);
    EXPECT_FALSE(found.empty()) << agent << ' ' << type;
    for (const auto& one : found)
      EXPECT_EQ(one.said_by, speaker.empty() ? one.peer : speaker) << agent << ' ' << type;
  }
  [[nodiscard]] Spoken last_request() const {
    const auto all = league_.recording.of("league_manager");
    const auto last = std::find_if(all.rbegin(), all.rend(), [](const Spoken& one) {
      return one.direction == Direction::kIn && one.kind == Kind::kRequest;
    });
    return last == all.rend() ? Spoken{} : *last;
  }
  json query(const std::string& sender, const std::string& token) {
    return league_.message("LEAGUE_QUERY", sender, token,
                           {{"query_type", "GET_STANDINGS"}, {"query_params", json::object()}});
  }

  LeagueFixture league_{{.players = 2}};
};

TEST_F(WhoSaidIt, InALeagueOfOurs) {
  league_.register_all();
  ASSERT_TRUE(league_.run_until([this] { return league_.status()["state"] == "COMPLETED"; }));
  league_.settle();
  const auto registered =
      spoken(league_, "league_manager", Direction::kIn, Kind::kRequest, "LEAGUE_REGISTER_REQUEST");
  ASSERT_EQ(registered.size(), 2U);
  for (const auto& one : registered)
    EXPECT_TRUE(one.said_by == "player:P01" || one.said_by == "player:P02") << one.said_by;
  expect_said("league_manager", Kind::kRequest, "MATCH_RESULT_REPORT", "referee:REF01");
  expect_said("REF01", Kind::kRequest, "ROUND_ANNOUNCEMENT", "league_manager");
  expect_said("REF01", Kind::kReply, "GAME_JOIN_ACK", "");
  expect_said("REF01", Kind::kReply, "CHOOSE_PARITY_RESPONSE", "");
  for (const char* player : {"P01", "P02"}) {
    expect_said(player, Kind::kRequest, "ROUND_ANNOUNCEMENT", "league_manager");
    expect_said(player, Kind::kRequest, "LEAGUE_COMPLETED", "league_manager");
    expect_said(player, Kind::kRequest, "GAME_INVITATION", "referee:REF01");
    expect_said(player, Kind::kRequest, "GAME_OVER", "referee:REF01");
  }
  for (const auto& one : league_.recording.all()) {
    if (one.direction == Direction::kOut || one.kind == Kind::kFailure) {
      EXPECT_EQ(one.said_by, "") << one.agent << ' ' << one.type;
    }
  }
}

TEST_F(WhoSaidIt, WhoeverOnlyClaimsToBeAPlayerIsNotIt) {
  league_.register_all();
  league_.settle();
  const std::string own = league_.token_of("P01").reveal();
  for (const auto& [token, speaker] :
       std::vector<std::pair<std::string, std::string>>{{own, "player:P01"},
                                                        {league_.token_of("P02").reveal(), ""},
                                                        {"tok_p01_forged", ""},
                                                        {"", ""}}) {
    for (const char* broken : {"", "query_type", "conversation_id", "timestamp"}) {
      auto message = query("player:P01", token);
      message["conversation_id"] = "convregister";
      if (token.empty()) message.erase("auth_token");
      if (*broken != '\0') message[broken] = json::array({1});
      (void)league_.call("league_manager", "league_query", message);
      EXPECT_EQ(last_request().said_by, speaker) << token << ' ' << broken;
    }
  }
  (void)league_.call("league_manager", "get_my_report",
                     {{"sender", "player:P01"}, {"auth_token", own}});
  EXPECT_EQ(last_request().said_by, "player:P01");
  (void)league_.call("league_manager", "get_my_report",
                     {{"sender", "player:P01"}, {"auth_token", "tok_p01_forged"}});
  EXPECT_EQ(last_request().said_by, "");
  const json report = league_.call("league_manager", "get_my_report",
                                   {{"sender", "player:P01"}, {"auth_token", own}})["result"];
  std::size_t own_faults = 0;
  std::size_t faults = 0;
  for (const auto& one : league_.recording.of("league_manager")) {
    if (one.direction != Direction::kIn || one.kind != Kind::kRequest || !one.verdict) continue;
    ++faults;
    own_faults += one.said_by == "player:P01" ? 1 : 0;
  }
  EXPECT_GT(own_faults, 0U);
  EXPECT_LT(own_faults, faults);
  EXPECT_EQ(report["total_faults"], own_faults) << "and none of others: " << report;
}

}  // namespace
}  // namespace league::testing
