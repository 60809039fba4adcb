#include "player/player_service.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/agent/match_credential.h"
#include "common/envelope/test_support.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"

namespace league::player {
namespace {

using envelope::testing::golden;
using nlohmann::json;

class PlayerServiceTest : public ::testing::Test {
 protected:
  void make(const std::string& strategy, bool standalone = false) {
    auto made = PlayerService::create(
        {.display_name = "bot", .strategy = strategy, .standalone = standalone},
        {time_, time_, random_, envelope::testing::schemas()});
    ASSERT_TRUE(made) << made.error().message;
    service_ = std::move(*made);
    if (!standalone)
      service_->set_identity({"P01", token_, core::LeagueId("league_2025_even_odd")});
  }
  /// The answer's bytes; nothing while there is none.
  std::optional<std::string> post(const std::string& bytes) {
    auto answer = std::make_shared<std::optional<std::string>>();
    transport::Inbound inbound;
    inbound.bytes = bytes;
    inbound.context = rpc::MessageContext::minimal(time_);
    service_->handler().on_message(
        std::move(inbound),
        transport::ReplySlot([answer](transport::OutboundReply reply) { *answer = reply.bytes; }));
    last_ = answer;
    return *answer;
  }
  json call(const std::string& method, json message) {
    json frame = {
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(message)}};
    auto answer = post(frame.dump());
    return answer ? json::parse(*answer, nullptr, false) : json(nullptr);
  }
  [[nodiscard]] json message(const std::string& name) const {
    auto message = golden(name);
    core::MatchId match(message["match_id"].get<std::string>());
    message["auth_token"] = agent::match_credential(token_, match, 1).reveal();
    return message;
  }
  /// The answer to a choice; null where it is none.
  json choose() {
    auto answer = call("choose_parity", message("choose_parity_call"));
    return answer.is_object() ? answer["result"] : json(nullptr);
  }

  const core::AuthToken token_{"tok_p01_secret"};
  league::testing::FakeTime time_;
  league::testing::ScriptedRandom random_;
  std::shared_ptr<std::optional<std::string>> last_;
  std::unique_ptr<PlayerService> service_;
};

TEST_F(PlayerServiceTest, JoinsAndChoosesAndRemembers) {
  make("alternate");
  auto ack = call("handle_game_invitation", message("game_invitation"))["result"];
  EXPECT_EQ(ack["message_type"], "GAME_JOIN_ACK");
  EXPECT_EQ(ack["accept"], true);
  EXPECT_EQ(ack["player_id"], "P01");
  EXPECT_EQ(ack["auth_token"], "tok_p01_secret");
  auto first = choose();
  EXPECT_TRUE(
      envelope::testing::schemas().validate(envelope::MessageType::kChooseParityResponse, first));
  // Asked again, it says the same: the first answer may have been lost.
  EXPECT_EQ(choose()["parity_choice"], first["parity_choice"]);
  EXPECT_EQ(call("notify_match_result", message("game_over"))["result"]["status"], "ok");
  EXPECT_EQ(service_->history().matches().size(), 1U);
}

TEST_F(PlayerServiceTest, RefusesAnUnknownStrategyWithTheKnownOnes) {
  auto made = PlayerService::create({.display_name = "bot", .strategy = "cheat"},
                                    {time_, time_, random_, envelope::testing::schemas()});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("alternate"), std::string::npos);
}

TEST_F(PlayerServiceTest, BelievesAnyCallerOnlyWhenItStandsAlone) {
  make("even", true);
  auto call_message = golden("choose_parity_call");
  call_message["auth_token"] = "anything";
  EXPECT_EQ(call("choose_parity", call_message)["result"]["parity_choice"], "even");
  make("even");
  EXPECT_EQ(call("choose_parity", call_message)["error"]["data"]["error_code"], "E012");
}

TEST_F(PlayerServiceTest, EachMisbehaviourMisbehaves) {
  make("invalid");
  EXPECT_EQ(choose()["parity_choice"], "Even");
  make("wrong-match");
  EXPECT_NE(choose()["match_id"], golden("choose_parity_call")["match_id"]);
  make("no-token");
  EXPECT_FALSE(choose().contains("auth_token"));
  make("garbage");
  (void)choose();
  EXPECT_TRUE(json::parse(**last_, nullptr, false).is_discarded());
  make("huge");
  (void)choose();
  EXPECT_GT((**last_).size(), 1U << 20U);
  make("silent");
  (void)choose();
  EXPECT_FALSE(*last_);
  make("slow:500");
  (void)choose();
  EXPECT_FALSE(*last_);
  time_.advance(std::chrono::milliseconds(500));
  EXPECT_TRUE(*last_);
}

TEST_F(PlayerServiceTest, NoMessageMakesItThrow) {
  make("opposite", true);
  const std::vector<json> values = {nullptr, 7, -1, "", "x", json::array(), json::object(), true};
  for (const char* name : {"game_invitation", "choose_parity_call", "game_over", "game_error",
                           "round_announcement", "league_completed"}) {
    auto whole = golden(name);
    std::string type = whole["message_type"];
    for (const auto& [key, value] : whole.items()) {
      for (const auto& replacement : values) {
        auto spoilt = whole;
        spoilt[key] = replacement;
        EXPECT_FALSE(call(type, spoilt).is_null()) << name << " " << key << " " << replacement;
      }
    }
  }
  for (const char* bytes : {"", "{", "[]", "[[]]", "null", R"({"jsonrpc":"2.0","id":1})",
                            R"({"jsonrpc":"2.0","id":1,"method":"get_player_state","params":[1]})"})
    EXPECT_TRUE(post(bytes)) << bytes;
}

}  // namespace
}  // namespace league::player
