#include "player/core/player_testing.h"
#include "player/service/service_testing.h"

namespace league::player::service {
namespace {

/// A player whose choices somebody makes who takes time.
class AskingTest : public testing::PlayerServiceFixture {
 protected:
  AskingTest() {
    auto made = PlayerService::create(
        {.display_name = "bot", .strategy = "even"},
        {.timer = time_,
         .clock = time_,
         .random = random_,
         .schemas = envelope::testing::schemas(),
         .ask = [this](OpenMatch match, std::function<void(std::string)> chosen) {
           asked_.push_back(std::move(match));
           chosen_ = std::move(chosen);
         }});
    service_ = std::move(*made);
    service_->set_identity(at_home());
  }
  /// What the player has answered by now.
  [[nodiscard]] json said() const {
    return *last_ ? json::parse(**last_, nullptr, false)["result"] : json(nullptr);
  }

  testing::ScriptedMatch match_;
  std::vector<OpenMatch> asked_;
  std::function<void(std::string)> chosen_;
};

TEST_F(AskingTest, AnswersTheInvitationWhenTheChoiceIsMade) {
  EXPECT_EQ(call("handle_game_invitation", authorised(match_.invitation())), nullptr);
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].match_id.str(), "R1M1");
  EXPECT_EQ(asked_[0].opponent_id.str(), "P02");
  chosen_("odd");
  const json joined = said();
  ASSERT_TRUE(joined["accept"]);
  const json told = call("choose_parity", authorised(match_.call()))["result"];
  EXPECT_EQ(told["parity_choice"], "odd");
  EXPECT_EQ(match_.commitment_of("P01", "odd", told["choice_nonce"]), joined["choice_commitment"]);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(AskingTest, ARepeatedInvitationGetsTheSameAnswer) {
  call("handle_game_invitation", authorised(match_.invitation()));
  chosen_("odd");
  const json first = said();
  const json again = call("handle_game_invitation", authorised(match_.invitation()))["result"];
  EXPECT_EQ(again["choice_commitment"], first["choice_commitment"]);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(AskingTest, AChoiceThatDoesNotHoldForAReplayIsMadeAgain) {
  match_.their_nonce = std::nullopt;  // the opponent is not bound, so it has seen our choice
  call("handle_game_invitation", authorised(match_.invitation()));
  chosen_("odd");
  call("choose_parity", authorised(match_.call()));
  json replay = match_.invitation();
  replay["context"] = {{"attempt", 1}, {"play", 1}};
  EXPECT_EQ(call("handle_game_invitation", authorised(replay)), nullptr);
  ASSERT_EQ(asked_.size(), 2U);
  chosen_("even");
  EXPECT_TRUE(said()["accept"]);
  json again = match_.call();
  again["context"]["play"] = 1;
  again["context"]["attempt"] = 1;
  EXPECT_EQ(call("choose_parity", authorised(again))["result"]["parity_choice"], "even");
}

TEST_F(AskingTest, WhoIsCalledWithoutAnInvitationIsAskedThen) {
  EXPECT_EQ(call("choose_parity", authorised(match_.call())), nullptr);
  ASSERT_EQ(asked_.size(), 1U);
  chosen_("odd");
  EXPECT_EQ(said()["parity_choice"], "odd");
}

TEST_F(AskingTest, AForgedInvitationAsksNobody) {
  auto forged = match_.invitation();
  forged["auth_token"] = "0000";
  call("handle_game_invitation", forged);
  EXPECT_TRUE(asked_.empty());
}

}  // namespace
}  // namespace league::player::service
