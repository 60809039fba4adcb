#include "tools/check/trial/trial_league.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"
#include "tools/check/mock_server.h"

namespace league::tools::check {
namespace {

using game::Side;
using nlohmann::json;

/// A bot of which each test decides how it answers.
class TrialLeagueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = std::move(*transport::front::HttpRuntime::start());
    bot_ = std::move(*MockServer::open(*runtime_, "127.0.0.1", 0, [this](const InboundCall& call) {
      MockAnswer answer{.result = reply(call)};
      if (change) change(call, answer);
      return answer;
    }));
  }

  static json reply(const InboundCall& call) {
    const json& message = call.message;
    json answer = {{"protocol", "league.v2"},
                   {"sender", "player:P01"},
                   {"timestamp", field_at(message, "timestamp")},
                   {"conversation_id", field_at(message, "conversation_id")},
                   {"match_id", field_at(message, "match_id")},
                   {"player_id", "P01"},
                   {"auth_token", "tok_p01"}};
    if (call.type() == "GAME_INVITATION") {
      answer.update({{"message_type", "GAME_JOIN_ACK"},
                     {"arrival_timestamp", answer["timestamp"]},
                     {"accept", true}});
    } else if (call.type() == "CHOOSE_PARITY_CALL") {
      answer.update({{"message_type", "CHOOSE_PARITY_RESPONSE"}, {"parity_choice", "even"}});
    } else {
      return {{"status", "ok"}};
    }
    return answer;
  }

  TrialMatch play(envelope::Mode mode = envelope::Mode::kOpen) {
    TrialLeague::Options options;
    options.mode = mode;
    options.invitation_limit = limit;
    options.choice_limit = limit;
    options.retry_delay = std::chrono::milliseconds(10);
    options.gives_up_at_timeout = true;
    league_ = std::move(*TrialLeague::open(options));
    game::PerSide<TrialSeat> seats;
    seats[Side::kA] = {.id = "P01",
                       .endpoint = *transport::link::parse_endpoint(bot_->url()),
                       .token = core::AuthToken("tok_p01")};
    seats[Side::kB] = {.id = "P02",
                       .endpoint = *transport::link::parse_endpoint(TrialLeague::kStandInUrl)};
    league_->announce(seats, 1, 1);
    TrialMatch match = league_->play(seats, 1, 1);
    league_->tell_results(seats, 1);
    return match;
  }

  std::function<void(const InboundCall&, MockAnswer&)> change;
  std::chrono::milliseconds limit{5000};
  std::unique_ptr<transport::front::HttpRuntime> runtime_;
  std::unique_ptr<MockServer> bot_;
  std::unique_ptr<TrialLeague> league_;
};

TEST_F(TrialLeagueTest, PlaysAsALeagueDoes) {
  const TrialMatch match = play();
  ASSERT_TRUE(match.result);
  EXPECT_EQ(match.result->details.termination, "NORMAL");
  EXPECT_FALSE(match.lost_by("P01"));
  EXPECT_EQ(match.refused_call("P01"), nullptr);
  std::vector<std::string> types;
  for (const InboundCall& call : bot_->calls()) types.push_back(call.type());
  EXPECT_EQ(types,
            (std::vector<std::string>{"ROUND_ANNOUNCEMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL",
                                      "GAME_OVER", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED"}));
}

TEST_F(TrialLeagueTest, TheRefereeJudgesTheAnswer) {
  change = [](const InboundCall& call, MockAnswer& answer) {
    if (call.type() == "CHOOSE_PARITY_CALL") answer.result["parity_choice"] = "Even";
  };
  const TrialMatch match = play();
  EXPECT_EQ(match.lost_by("P01"), referee::Termination::kInvalidChoice);
  const TrialCall* call = match.refused_call("P01");
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->type, "CHOOSE_PARITY_CALL");
  EXPECT_EQ(call->notes->verdict, core::ErrorCode::kInvalidParityChoice);
}

TEST_F(TrialLeagueTest, AModeDecidesWhatIsTolerated) {
  change = [](const InboundCall& call, MockAnswer& answer) {
    if (call.type() == "GAME_INVITATION") answer.result.erase("sender");
  };
  EXPECT_FALSE(play().lost_by("P01"));
  EXPECT_EQ(play(envelope::Mode::kStrict).lost_by("P01"), referee::Termination::kInvalidReply);
}

TEST_F(TrialLeagueTest, AnAnswerAboveTheLimitIsLost) {
  change = [](const InboundCall& call, MockAnswer& answer) {
    if (call.type() == "GAME_INVITATION") answer.result["more"] = std::string(2U << 20U, 'x');
  };
  const TrialMatch match = play();
  EXPECT_TRUE(match.lost_by("P01"));
  ASSERT_NE(match.refused_call("P01"), nullptr);
  EXPECT_EQ(match.refused_call("P01")->notes->verdict, core::ErrorCode::kReplyTooLarge);
}

TEST_F(TrialLeagueTest, APageShowsItsStatusAndType) {
  change = [](const InboundCall& call, MockAnswer& answer) {
    if (call.type() != "GAME_INVITATION") return;
    answer.raw = "<h1>Oops</h1>";
    answer.http_status = 500;
  };
  const TrialMatch match = play();
  ASSERT_NE(match.refused_call("P01"), nullptr);
  EXPECT_EQ(match.refused_call("P01")->exchange.status, 500);
  EXPECT_FALSE(match.refused_call("P01")->exchange.content_type.empty());
}

TEST_F(TrialLeagueTest, SilenceEndsTheMatch) {
  limit = std::chrono::milliseconds(300);
  change = [](const InboundCall& call, MockAnswer& answer) {
    if (call.type() == "CHOOSE_PARITY_CALL") answer.delay = std::chrono::milliseconds(600);
  };
  const TrialMatch match = play();
  EXPECT_FALSE(match.result);
  EXPECT_EQ(match.lost_by("P01"), referee::Termination::kTimeoutChoice);
}

}  // namespace
}  // namespace league::tools::check
