#include "league_manager/rounds/match_starter.h"

#include <gtest/gtest.h>

#include "common/envelope/envelope_testing.h"
#include "tests/support/fake_clock.h"

namespace league::league_manager::rounds {
namespace {

using core::ErrorCode;
using nlohmann::json;

/// Knows one call, and answers it with `result`.
class ForeignReferee final : public transport::link::Caller {
 public:
  std::string knows;
  json result = json::object();
  json unknown = {{"code", -32601}, {"message", "Method not found"}};
  std::vector<json> frames;

  void call(transport::link::OutboundCall call, Completion completion) override {
    frames.push_back(json::parse(call.bytes));
    const json& frame = frames.back();
    json answer = {{"jsonrpc", "2.0"}, {"id", frame["id"]}};
    if (name_of(frame) == knows) {
      answer["result"] = result;
    } else {
      answer["error"] = unknown;
    }
    transport::link::CallOutcome outcome;
    outcome.http_status = 200;
    outcome.bytes = answer.dump();
    completion(std::move(outcome));
  }
  static std::string name_of(const json& frame) {
    const std::string method = frame["method"];
    return method == "tools/call" ? "tool " + frame["params"]["name"].get<std::string>() : method;
  }
};

class MatchStarterTest : public ::testing::Test {
 protected:
  /// What comes of one match: nothing where the referee has taken it.
  std::optional<core::Error> start() {
    json matches = json::array({{{"match_id", "R2M1"},
                                 {"conversation_id", "convr2m1001"},
                                 {"player_A_id", "P01"},
                                 {"player_B_id", "P02"},
                                 {"player_A_endpoint", "http://a/mcp"},
                                 {"player_B_endpoint", "http://b/mcp"}}});
    add_spellings(matches);
    std::optional<std::optional<core::Error>> got;
    task::Scope scope(task::Executor(), nullptr);
    scope.spawn(note(starter_.start({.referee = endpoint_,
                                     .peer = "referee:REF01",
                                     .token = core::AuthToken("tok_ref01"),
                                     .round = 2,
                                     .match = matches.front()}),
                     got));
    EXPECT_TRUE(got);
    return got.value_or(std::nullopt);
  }

  static task::Task<void> note(task::Task<std::optional<core::Error>> starting,
                               std::optional<std::optional<core::Error>>& got) {
    got = co_await std::move(starting);
  }

  league::testing::FakeTime time_;
  ForeignReferee referee_;
  agent::peers::PeerClient peers_{referee_, envelope::testing::schemas(), time_,
                                  envelope::Mode::kOpen};
  envelope::EnvelopeBuilder envelopes_{envelope::Sender::league_manager(), core::LeagueId("league"),
                                       time_};
  MatchStarter starter_{peers_, envelopes_, std::chrono::seconds(10)};
  transport::link::Endpoint endpoint_ =
      *transport::link::parse_endpoint("http://127.0.0.1:8001/mcp");
};

TEST_F(MatchStarterTest, FindsTheCallAndRemembersIt) {
  for (const char* name :
       {"START_MATCH", "start_match", "assign_match", "tool start_match", "tool assign_match"}) {
    referee_.knows = name;
    starter_.forget(endpoint_);
    EXPECT_FALSE(starter_.is_known(endpoint_));
    EXPECT_FALSE(start()) << name;
    EXPECT_TRUE(starter_.is_known(endpoint_));
    referee_.frames.clear();
    EXPECT_FALSE(start());
    EXPECT_EQ(referee_.frames.size(), 1U) << name;
  }
}

TEST_F(MatchStarterTest, GoesOnWhereACallWasOnlyAcknowledged) {
  referee_.knows = "START_MATCH";
  EXPECT_FALSE(start());
  referee_.knows = "assign_match";
  starter_.doubt(endpoint_);
  referee_.frames.clear();
  EXPECT_FALSE(start());
  ASSERT_EQ(referee_.frames.size(), 2U);
  EXPECT_EQ(ForeignReferee::name_of(referee_.frames.front()), "start_match");
}

TEST_F(MatchStarterTest, SaysEverythingUnderAllNames) {
  referee_.knows = "START_MATCH";
  EXPECT_FALSE(start());
  const json& params = referee_.frames.back()["params"];
  for (const char* name : {"player_A_id", "player_a_id", "player1_id", "player_a"})
    EXPECT_EQ(params[name], "P01") << name;
  for (const char* name : {"player_B_endpoint", "player_b_endpoint", "player2_endpoint"})
    EXPECT_EQ(params[name], "http://b/mcp") << name;
  EXPECT_EQ(params["message_type"], "START_MATCH");
  EXPECT_EQ(params["sender"], "league_manager:LM01") << "some referees know no other sender";
  EXPECT_EQ(params["auth_token"], "tok_ref01");
  EXPECT_EQ(params["round_id"], 2);
  EXPECT_EQ(params["conversation_id"], "convr2m1001");
  EXPECT_EQ(params["league_id"], "league");
  EXPECT_FALSE(params.contains("matches"));
}

TEST_F(MatchStarterTest, ARefereeThatKnowsNoneIsTriedOnce) {
  auto error = start();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kUnknownMessageType);
  EXPECT_EQ(referee_.frames.size(), 5U);
  EXPECT_FALSE(starter_.is_known(endpoint_));
  EXPECT_TRUE(start());
  EXPECT_EQ(referee_.frames.size(), 6U);
}

TEST_F(MatchStarterTest, ARefusalThatQuotesAPlayersErrorIsARefusal) {
  referee_.unknown = {{"code", -32000}, {"message", "P01: Method not found: tools/call"}};
  auto error = start();
  ASSERT_TRUE(error);
  EXPECT_NE(error->code, ErrorCode::kUnknownMessageType);
  EXPECT_NE(error->message.find("Method not found"), std::string::npos) << error->message;
  EXPECT_EQ(referee_.frames.size(), 1U);
}

TEST_F(MatchStarterTest, AnAnswerThatSaysNoIsARefusal) {
  referee_.knows = "assign_match";
  for (const json& no : {json{{"status", "error"}}, json{{"success", false}}}) {
    referee_.result = no;
    auto error = start();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::kInvalidReply);
  }
}

}  // namespace
}  // namespace league::league_manager::rounds
