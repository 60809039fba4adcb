#include "player/service/player_service.h"

#include "player/core/player_testing.h"
#include "player/service/service_testing.h"

namespace league::player::service {
namespace {

using envelope::testing::golden;
using nlohmann::json;

class PlayerServiceTest : public testing::PlayerServiceFixture {
 protected:
  [[nodiscard]] json message(const std::string& name) const { return authorised(golden(name)); }
  /// The answer to a choice; null where it is none.
  json choose() {
    auto answer = call("choose_parity", message("choose_parity_call"));
    return answer.is_object() ? answer["result"] : json(nullptr);
  }
};

TEST_F(PlayerServiceTest, JoinsAndChoosesAndRemembers) {
  make("alternate");
  auto invitation = message("game_invitation");
  invitation.erase("draw_commitment");
  auto ack = call("handle_game_invitation", invitation)["result"];
  EXPECT_EQ(ack["message_type"], "GAME_JOIN_ACK");
  EXPECT_EQ(ack["accept"], true);
  EXPECT_EQ(ack["player_id"], "P01");
  EXPECT_EQ(ack["auth_token"], "tok_p01_secret");
  EXPECT_FALSE(ack.contains("choice_commitment")) << "no seed was promised";
  auto asked = message("choose_parity_call");
  asked["context"].erase("opponent_commitment");
  asked["context"].erase("draw_commitment");
  auto first = call("choose_parity", asked)["result"];
  EXPECT_TRUE(
      envelope::testing::schemas().validate(envelope::MessageType::kChooseParityResponse, first));
  EXPECT_FALSE(first.contains("choice_nonce"));
  // Asked again, it says the same: the first answer may have been lost.
  EXPECT_EQ(call("choose_parity", asked)["result"]["parity_choice"], first["parity_choice"]);
  testing::ScriptedMatch match;
  match.their_nonce.reset();
  auto over = authorised(match.game_over(first["parity_choice"], std::nullopt));
  EXPECT_EQ(call("notify_match_result", over)["result"]["status"], "ok");
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
  EXPECT_EQ(leniencies(), std::vector<std::string_view>{"foreign_call_token"})
      << "so that its log proves nothing about the referee whom the caller claims to be";
  make("even");
  EXPECT_EQ(call("choose_parity", call_message)["error"]["data"]["error_code"], "E012");
}

TEST_F(PlayerServiceTest, NotesWhoIsProvenToHaveSaidSomething) {
  make("even", true);
  (void)call("choose_parity", message("choose_parity_call"));
  EXPECT_EQ(said_by(), "") << "a player that stands alone checks nobody";
  make("even");
  const auto asked = message("choose_parity_call");
  (void)call("choose_parity", asked);
  EXPECT_EQ(said_by(), asked["sender"]);
  auto wrong = asked;
  wrong["deadline"] = 7;
  EXPECT_TRUE(call("choose_parity", wrong).contains("error"));
  EXPECT_EQ(said_by(), asked["sender"]) << "a wrong message is its sender's, too";
  wrong["auth_token"] = "tok_somebody_else";
  (void)call("choose_parity", wrong);
  EXPECT_EQ(said_by(), "");
  wrong = asked;
  wrong["auth_token"] = "tok_somebody_else";
  (void)call("choose_parity", wrong);
  EXPECT_EQ(said_by(), "");
  (void)call("notify_round_completed", message("round_completed"));
  EXPECT_EQ(said_by(), "league_manager");
}

TEST_F(PlayerServiceTest, AcknowledgesTheEndWithItsNewestSeal) {
  std::optional<audit::record::LogHead> newest;
  std::function<void()> sealed;
  auto made = PlayerService::create(
      {.display_name = "bot", .strategy = "even"},
      {.timer = time_,
       .clock = time_,
       .random = random_,
       .schemas = envelope::testing::schemas(),
       .heads = {.newest = [&] { return newest; },
                 .seal = [&](std::function<void()> done) { sealed = std::move(done); }}});
  ASSERT_TRUE(made);
  service_ = std::move(*made);
  service_->set_identity(at_home());
  EXPECT_FALSE(
      call("notify_round_completed", message("round_completed"))["result"].contains("log_head"));
  newest = audit::record::LogHead{7, std::string(64, 'a')};
  const json head = {{"seq", 7}, {"hash", std::string(64, 'a')}};
  EXPECT_EQ(call("notify_round_completed", message("round_completed"))["result"]["log_head"], head);

  EXPECT_TRUE(call("notify_league_completed", message("league_completed")).is_null())
      << "not before it is sealed";
  newest->seq = 9;
  sealed();
  time_.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(*last_);
  EXPECT_EQ(json::parse(**last_)["result"]["log_head"]["seq"], 9);
  time_.advance(std::chrono::seconds(1));

  // A disk that refuses the seal delays the answer by its limit only.
  EXPECT_TRUE(call("notify_league_completed", message("league_completed")).is_null());
  time_.advance(std::chrono::milliseconds(499));
  EXPECT_FALSE(*last_);
  time_.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(*last_);
  EXPECT_EQ(json::parse(**last_)["result"]["status"], "ok");
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

TEST_F(PlayerServiceTest, RefusesAGameThatItDoesNotKnow) {
  make("even");
  for (const char* name : {"game_invitation", "choose_parity_call"}) {
    auto foreign = message(name);
    foreign["game_type"] = "chess";
    auto refused = call(foreign["message_type"], foreign)["error"]["data"];
    EXPECT_EQ(refused["error_code"], "E028") << name;
    EXPECT_EQ(refused["field"], "/game_type");
  }
}

TEST_F(PlayerServiceTest, AManagerOfOursCannotChangeAGameThatItKnows) {
  make("frequency");
  json rules = (*game::Games::standard().find("prisoners_dilemma"))->to_json();
  auto identity = at_home();
  identity.game = rules.dump();
  EXPECT_TRUE(service_->learn_game(identity));
  rules["game_type"] = "dilemma_of_two";
  identity.game = rules.dump();
  ASSERT_TRUE(service_->learn_game(identity));
  EXPECT_EQ(service_->game_types().front(), "dilemma_of_two") << "it has a strategy for it";
  rules["technical"]["winner"] = 4;
  for (const std::string& other : {rules.dump(), std::string("\"even_odd\""), std::string("{}")}) {
    identity.game = other;
    const auto learnt = service_->learn_game(identity);
    ASSERT_FALSE(learnt) << other;
    EXPECT_EQ(learnt.error().code, core::ErrorCode::kGameTypeNotSupported);
    agent::identity::Identity guest = identity;
    guest.league_key.clear();
    EXPECT_TRUE(service_->learn_game(guest)) << "a third party may call anything `game`";
  }
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

/// A player that is a child of whoever calls it.
class ChildTest : public testing::PlayerServiceFixture {
 protected:
  ChildTest() {
    auto made = PlayerService::create(
        {.display_name = "bot", .strategy = "even", .is_registered_by_caller = true},
        {time_, time_, random_, envelope::testing::schemas()});
    EXPECT_TRUE(made);
    service_ = std::move(*made);
    service_->on_registration([this](const agent::identity::Identity& identity) {
      told_ = identity;
      service_->set_identity(identity);
    });
  }
  [[nodiscard]] json registration() const {
    return {{"protocol", "league.v2"},
            {"message_type", "LEAGUE_REGISTER_RESPONSE"},
            {"sender", "league_manager"},
            {"timestamp", "2026-01-15T10:29:51Z"},
            {"conversation_id", "convplayerbotreg001"},
            {"auth_token", token_.reveal()},
            {"league_id", "league_2025_even_odd"},
            {"status", "ACCEPTED"},
            {"player_id", "P01"},
            {"reason", nullptr},
            {"league_key", std::string(64, 'a')},
            {"match_credentials", true}};
  }
  static json invitation() {
    return {{"protocol", "league.v2"},
            {"message_type", "GAME_INVITATION"},
            {"sender", "referee:REF01"},
            {"timestamp", "2026-01-15T10:29:51Z"},
            {"conversation_id", "convr1m1001"},
            {"league_id", "league_2025_even_odd"},
            {"round_id", 1},
            {"match_id", "R1M1"},
            {"game_type", "even_odd"},
            {"role_in_match", "PLAYER_A"},
            {"opponent_id", "P02"},
            {"draw_commitment", std::string(64, 'd')}};
  }
  std::optional<agent::identity::Identity> told_;
};

TEST_F(ChildTest, ItsCallerTellsItWhoItIs) {
  EXPECT_TRUE(call("notify_registration", registration()).contains("result"));
  ASSERT_TRUE(told_);
  EXPECT_EQ(told_->id, "P01");
  EXPECT_TRUE(told_->is_at_home());
  auto ack = call("handle_game_invitation", authorised(invitation()))["result"];
  EXPECT_EQ(ack["player_id"], "P01");
  EXPECT_TRUE(ack.contains("choice_commitment"));
  EXPECT_FALSE(ack.contains("receipt")) << "its process is its referee's";
  EXPECT_EQ(ack["auth_token"],
            agent::identity::answer_credential(token_, core::MatchId("R1M1"), 1).reveal())
      << "and the referee does not learn the token";
}

TEST_F(ChildTest, CallsWaitForItsIdentity) {
  const json invited = authorised(invitation());
  EXPECT_TRUE(call("handle_game_invitation", invited).is_null());
  auto waiting = last_;
  EXPECT_TRUE(call("notify_registration", registration()).contains("result"));
  ASSERT_TRUE(*waiting);
  EXPECT_EQ(json::parse(**waiting)["result"]["player_id"], "P01");
}

TEST_F(ChildTest, WithoutAnIdentityItRefuses) {
  service_->stop_waiting();
  auto refused = call("handle_game_invitation", authorised(invitation()));
  EXPECT_EQ(refused["error"]["data"]["error_code"], "E012");
}

TEST_F(PlayerServiceTest, NobodyTellsAPlayerThatRegistersItself) {
  make("even");
  auto refused = call("notify_registration", json::object());
  EXPECT_TRUE(refused.contains("error"));
}

}  // namespace
}  // namespace league::player::service
