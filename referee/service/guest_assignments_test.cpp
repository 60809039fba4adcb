#include "referee/service/guest_assignments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/envelope/envelope_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"

namespace league::referee::service {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

/// A manager that answers each method as the test says; -32601 to all others.
class Manager final : public transport::link::Caller {
 public:
  std::map<std::string, json> answers;
  std::vector<json> requests;

  void call(transport::link::OutboundCall call, Completion completion) override {
    auto frame = json::parse(call.bytes);
    requests.push_back(frame);
    json answer = {{"jsonrpc", "2.0"}, {"id", frame["id"]}};
    if (auto known = answers.find(frame["method"]); known != answers.end()) {
      answer["result"] = known->second;
    } else {
      answer["error"] = {{"code", -32601}, {"message", "Method not found"}};
    }
    transport::link::CallOutcome outcome;
    outcome.http_status = 200;
    outcome.bytes = answer.dump();
    completion(std::move(outcome));
  }
  [[nodiscard]] std::size_t asked(const std::string& method) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        requests, [&](const json& frame) { return frame["method"] == method; }));
  }
};

class GuestAssignmentsTest : public ::testing::Test {
 protected:
  void open(PlayerAddresses players = {}) {
    agent::identity::Identity identity{"REF01", core::AuthToken("tok_ref01_of_another_league"),
                                       core::LeagueId("league_x")};
    assignments_ = std::make_shared<GuestAssignments>(
        GuestAssignmentsOptions{
            .identity = identity,
            .contact_endpoint = "http://localhost:8001/mcp",
            .game_type = "even_odd",
            .manager = *transport::link::parse_endpoint("http://127.0.0.1:8000/mcp"),
            .players = std::move(players)},
        GuestAssignmentsDependencies{peers_, time_, time_, random_},
        [this](envelope::MatchAssignment assignment, int round_id) -> core::Result<void> {
          if (places_ == 0) return Error{ErrorCode::kCapacityExceeded, "all places taken", ""};
          --places_;
          rounds_.push_back(round_id);
          played_.push_back(std::move(assignment));
          return {};
        });
  }
  void start(const json& message) {
    auto matches = assignments_->read(message);
    ASSERT_TRUE(matches) << matches.error().message;
    assignments_->begin(std::move(*matches));
  }
  static json match(const std::string& id, bool has_addresses) {
    json message = {{"match_id", id}, {"round_id", 2}, {"player_a", "P01"}, {"player_b", "P02"}};
    if (has_addresses) {
      message["player_a_endpoint"] = "http://127.0.0.1:8101/mcp";
      message["player_b_endpoint"] = "http://127.0.0.1:8102/mcp";
    }
    return message;
  }

  testing::FakeTime time_;
  testing::ScriptedRandom random_;
  Manager manager_;
  agent::peers::PeerClient peers_{manager_, envelope::testing::schemas(), time_,
                                  envelope::Mode::kOpen};
  std::shared_ptr<GuestAssignments> assignments_;
  std::vector<envelope::MatchAssignment> played_;
  std::vector<int> rounds_;
  int places_ = 10;
};

TEST_F(GuestAssignmentsTest, PlaysWithTheAddressesOfTheMessageAndItsOwnTokenAndSeed) {
  open();
  start(match("R2M1", true));
  ASSERT_EQ(played_.size(), 1U);
  const auto& assignment = played_.front();
  EXPECT_EQ(rounds_.front(), 2);
  EXPECT_EQ(assignment.game_type, "even_odd");
  EXPECT_EQ(assignment.player_a_endpoint, "http://127.0.0.1:8101/mcp");
  EXPECT_EQ(assignment.player_b_credential.reveal(), "tok_ref01_of_another_league");
  EXPECT_TRUE(assignment.player_a_token_hash.empty());
  EXPECT_EQ(assignment.draw_seed.size(), 64U);
  EXPECT_FALSE(assignment.draw_commitment);
  EXPECT_EQ(assignment.conversation_id.str(), "convr2m1001");
  EXPECT_TRUE(manager_.requests.empty());
  // What was heard once is known.
  start(match("R2M2", false));
  ASSERT_EQ(played_.size(), 2U);
  EXPECT_NE(played_[1].draw_seed, played_[0].draw_seed);
}

TEST_F(GuestAssignmentsTest, AsksForAddressesThatNobodyHasTold) {
  open();
  manager_.answers["league_query"] = {
      {"players",
       {{{"player_id", "P01"}, {"endpoint", "http://127.0.0.1:8101/mcp"}},
        {{"player_id", "P02"}, {"contact_endpoint", "http://127.0.0.1:8102/mcp"}}}}};
  start(match("R2M1", false));
  ASSERT_EQ(played_.size(), 1U);
  EXPECT_EQ(played_.front().player_b_endpoint, "http://127.0.0.1:8102/mcp");
  const auto& question = manager_.requests.front()["params"];
  EXPECT_EQ(question["query_type"], "GET_REGISTRATIONS");
  EXPECT_EQ(question["sender"], "referee:REF01");
  EXPECT_EQ(question["auth_token"], "tok_ref01_of_another_league");
}

TEST_F(GuestAssignmentsTest, AsksAManagerThatGoesByTypesByTheType) {
  open();
  peers_.remember_style(*transport::link::parse_endpoint("http://127.0.0.1:8000/mcp"),
                        agent::dialects::CallStyle::kMessageType);
  start(match("R2M1", false));
  EXPECT_EQ(manager_.asked("LEAGUE_QUERY"), 1U);
}

TEST_F(GuestAssignmentsTest, TakesAddressesFromTheOperatorsFile) {
  open({{core::PlayerId("P01"), "http://127.0.0.1:8101/mcp"},
        {core::PlayerId("P02"), "http://127.0.0.1:8102/mcp"}});
  start(match("R2M1", false));
  EXPECT_EQ(played_.size(), 1U);
  EXPECT_TRUE(manager_.requests.empty());
}

TEST_F(GuestAssignmentsTest, WhatAStrangerSaysOfAddressesDoesNotOutliveTheOperatorsFile) {
  open({{core::PlayerId("P01"), "http://127.0.0.1:8101/mcp"},
        {core::PlayerId("P02"), "http://127.0.0.1:8102/mcp"}});
  auto lie = match("R2M1", true);
  lie["player_a_endpoint"] = "http://10.6.6.6/mcp";
  start(lie);
  start(match("R2M2", false));
  ASSERT_EQ(played_.size(), 2U);
  EXPECT_EQ(played_[0].player_a_endpoint, "http://10.6.6.6/mcp");
  EXPECT_EQ(played_[1].player_a_endpoint, "http://127.0.0.1:8101/mcp");
}

TEST_F(GuestAssignmentsTest, AFloodOfAddressesIsForgotten) {
  open();
  places_ = 10000;
  for (int i = 0; i < 3000; ++i) {
    auto one = match("R2M" + std::to_string(i), true);
    one["player_a"] = "P" + std::to_string(100 + i);
    start(one);
  }
  EXPECT_EQ(played_.size(), 3000U);
  auto late = match("R3M1", false);
  late["player_a"] = "P3000";
  start(late);
  EXPECT_EQ(played_.size(), 3000U) << "its address was one too many";
}

TEST_F(GuestAssignmentsTest, WithoutAddressesNothingIsPlayed) {
  open();
  start(match("R2M1", false));
  EXPECT_TRUE(played_.empty());
  EXPECT_EQ(manager_.asked("league_query"), 1U);
}

TEST_F(GuestAssignmentsTest, LeavesTheMatchesOfOtherReferees) {
  open();
  auto mine = match("R2M1", true);
  auto theirs = match("R2M2", true);
  theirs["referee_endpoint"] = "http://localhost:8002/mcp";
  start({{"matches", {mine, theirs}}});
  ASSERT_EQ(played_.size(), 1U);
  EXPECT_EQ(played_.front().match_id.str(), "R2M1");
}

TEST_F(GuestAssignmentsTest, WhatFindsNoPlaceIsPlayedLater) {
  open();
  places_ = 1;
  start({{"matches", {match("R2M1", true), match("R2M2", true)}}});
  EXPECT_EQ(played_.size(), 1U);
  places_ = 1;
  assignments_->place_is_free();
  EXPECT_EQ(played_.size(), 2U);
  assignments_->place_is_free();
  EXPECT_EQ(played_.size(), 2U);
}

TEST_F(GuestAssignmentsTest, AsksAManagerThatNeverCallsAndPlaysWhatIsPending) {
  open();
  auto pending = match("R2M1", true);
  pending["status"] = "PENDING";
  auto done = match("R1M1", true);
  done["status"] = "COMPLETED";
  manager_.answers["get_assigned_matches"] = {{"matches", {done, pending}}};
  assignments_->watch();
  EXPECT_TRUE(manager_.requests.empty());
  time_.advance(std::chrono::seconds(5));
  ASSERT_EQ(played_.size(), 1U);
  EXPECT_EQ(played_.front().match_id.str(), "R2M1");
  EXPECT_EQ(manager_.requests.front()["params"]["referee_id"], "REF01");
  EXPECT_FALSE(manager_.requests.front()["params"].contains("message_type")) << "it is no message";
  time_.advance(std::chrono::seconds(5));
  EXPECT_EQ(manager_.asked("get_assigned_matches"), 2U);
  // A stranger who starts a match keeps nobody from asking for the manager's.
  start(match("R3M1", true));
  time_.advance(std::chrono::seconds(5));
  EXPECT_EQ(manager_.asked("get_assigned_matches"), 3U);
}

TEST_F(GuestAssignmentsTest, FindsTheAnswersOfManagersThatWrapThem) {
  open();
  manager_.answers["get_assigned_matches"] = {{"response", {{"matches", {match("R2M1", false)}}}}};
  manager_.answers["league_query"] = {
      {"response",
       {{"players",
         {{"P01", "http://127.0.0.1:8101/mcp"}, {"P02", "http://127.0.0.1:8102/mcp"}}}}}};
  assignments_->watch();
  time_.advance(std::chrono::seconds(5));
  EXPECT_EQ(played_.size(), 1U);
}

TEST_F(GuestAssignmentsTest, AnAnswerThatIsNoneChangesNothing) {
  open();
  for (const json& answer :
       {json(nullptr), json::array(), json("no"), json{{"matches", 7}}, json{{"matches", {7}}},
        json{{"response", {{"matches", {{{"a", 1}}}}}}}}) {
    manager_.answers["get_assigned_matches"] = answer;
    assignments_->watch();
    time_.advance(std::chrono::seconds(5));
  }
  EXPECT_TRUE(played_.empty());
}

TEST_F(GuestAssignmentsTest, AsksNoMoreWhereTheQuestionIsUnknown) {
  open();
  assignments_->watch();
  time_.advance(std::chrono::minutes(1));
  EXPECT_EQ(manager_.asked("get_assigned_matches"), 1U);
}

TEST_F(GuestAssignmentsTest, APendingRequestDoesNotKeepItAlive) {
  open();
  assignments_->watch();
  assignments_.reset();
  time_.advance(std::chrono::minutes(1));
  EXPECT_TRUE(manager_.requests.empty());
}

}  // namespace
}  // namespace league::referee::service
