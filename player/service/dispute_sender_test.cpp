#include "player/service/dispute_sender.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/envelope/envelope_testing.h"
#include "tests/support/fake_clock.h"

namespace league::player::service {
namespace {

using core::ErrorCode;
using nlohmann::json;

/// A league manager that takes a dispute after so many failures.
class DisputeManager final : public transport::link::Caller {
 public:
  std::vector<ErrorCode> failures;
  json answer = envelope::testing::golden("league_query_response");
  std::vector<json> requests;

  void call(transport::link::OutboundCall call, Completion completion) override {
    const auto frame = json::parse(call.bytes);
    requests.push_back(frame["params"]);
    transport::link::CallOutcome outcome;
    if (requests.size() <= failures.size()) {
      outcome.error = core::Error{failures[requests.size() - 1], "scripted", ""};
    } else {
      outcome.http_status = 200;
      outcome.bytes = json{{"jsonrpc", "2.0"}, {"id", frame["id"]}, {"result", answer}}.dump();
    }
    completion(std::move(outcome));
  }
};

class DisputeSenderTest : public ::testing::Test {
 protected:
  void send() {
    send_dispute({.peers = client_,
                  .timer = time_,
                  .clock = time_,
                  .settings = settings_,
                  .manager = *transport::link::parse_endpoint("http://127.0.0.1:8000/mcp")},
                 {"P01", core::AuthToken("tok_p01_secret"), core::LeagueId("league_test")},
                 {.league_id = core::LeagueId("league_test"),
                  .match_id = core::MatchId("R1M1"),
                  .reason = "/draw_proof: not the seed"});
    while (time_.advance_to_next()) {
    }
  }

  league::testing::FakeTime time_;
  agent::runtime::Settings settings_;
  DisputeManager manager_;
  agent::peers::PeerClient client_{manager_, envelope::testing::schemas(), time_,
                                   envelope::Mode::kOpen};
};

TEST_F(DisputeSenderTest, TellsTheManagerWithTheOwnToken) {
  send();
  ASSERT_EQ(manager_.requests.size(), 1U);
  const auto& query = manager_.requests[0];
  EXPECT_TRUE(envelope::testing::schemas().validate(envelope::MessageType::kLeagueQuery, query));
  EXPECT_EQ(query["query_type"], "DISPUTE_MATCH");
  EXPECT_EQ(query["sender"], "player:P01");
  EXPECT_EQ(query["auth_token"], "tok_p01_secret");
  EXPECT_EQ(query["query_params"]["match_id"], "R1M1");
  EXPECT_EQ(query["query_params"]["reason"], "/draw_proof: not the seed");
}

TEST_F(DisputeSenderTest, TriesAgainOnlyAfterTimeOutsAndBrokenConnections) {
  manager_.failures = {ErrorCode::kTimeout, ErrorCode::kConnectionError};
  send();
  EXPECT_EQ(manager_.requests.size(), 3U);
}

TEST_F(DisputeSenderTest, GivesUpAfterTheLastAttempt) {
  manager_.failures.assign(9, ErrorCode::kTimeout);
  send();
  EXPECT_EQ(manager_.requests.size(), 3U);
}

TEST_F(DisputeSenderTest, ARefusalIsTheEnd) {
  manager_.answer["success"] = false;
  manager_.answer.erase("data");
  manager_.answer["error"] = {
      {"error_code", "E030"}, {"error_name", "MATCH_NOT_FOUND"}, {"error_description", "no"}};
  send();
  EXPECT_EQ(manager_.requests.size(), 1U);
}

}  // namespace
}  // namespace league::player::service
