#include "game/receipt.h"
#include "player/core/player_testing.h"
#include "player/service/service_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::player::service {
namespace {

using nlohmann::json;

const std::string kKey(64, 'e');
constexpr const char* kLeagueKey =
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A player that gives receipts, and one referee that may lie.
class ReceiptsTest : public testing::PlayerServiceFixture {
 protected:
  void SetUp() override { at_home_with_receipts("even"); }

  void at_home_with_receipts(const std::string& strategy, OpenMatchFile* file = nullptr) {
    make(PlayerOptions{.display_name = "bot", .strategy = strategy}, file);
    auto identity = at_home();
    identity.receipt_key = kKey;
    service_->set_identity(identity);
    service_->on_dispute([this](const DisputedMatch& match) { disputes_.push_back(match); });
  }
  void announce() {
    const json match = {{"match_id", "R1M1"},
                        {"game_type", "even_odd"},
                        {"player_A_id", "P01"},
                        {"player_B_id", "P02"},
                        {"referee_endpoint", "http://localhost:8001/mcp"},
                        {"referee_credential", "match"},
                        {"draw_commitment", match_.draw_commitment()}};
    json message = envelope::testing::golden("round_announcement");
    message["matches"] = json::array({match});
    EXPECT_TRUE(call("notify_round", authorised(message)).contains("result"));
  }
  /// Round 1 is over, and so is the time in which GAME_OVER may still arrive.
  void complete_round() {
    (void)call("notify_round_completed", authorised(envelope::testing::golden("round_completed")));
    while (time_.advance_to_next()) {
    }
  }
  json invitation(int attempt = 1, int play = 0) {
    json message = match_.invitation();
    message["context"] = {{"attempt", attempt}, {"play", play}};
    return message;
  }
  json choice_call(int attempt = 1, int play = 0) {
    json message = match_.call();
    message["context"]["attempt"] = attempt;
    message["context"]["play"] = play;
    return message;
  }
  json join(int attempt = 1, int play = 0) {
    return call("handle_game_invitation", authorised(invitation(attempt, play), attempt));
  }
  json choose(int attempt = 1, int play = 0) {
    return call("choose_parity", authorised(choice_call(attempt, play), attempt));
  }
  static std::string code_of(const json& answer) { return answer["error"]["data"]["error_code"]; }
  [[nodiscard]] game::ReceiptScope scope(int attempt = 1, int play = 0) const {
    return {.league_key = kLeagueKey,
            .match_id = "R1M1",
            .attempt = attempt,
            .play = play,
            .draw_commitment = promise_};
  }
  [[nodiscard]] json record() {
    return call("get_match_record",
                {{"auth_token", token_.reveal()}, {"match_id", "R1M1"}})["result"];
  }
  /// The referee says that this player has lost by a time-out.
  json claim_loss() {
    json over = match_.game_over("even", std::nullopt);
    over["game_result"] = {
        {"status", "TECHNICAL_LOSS"}, {"winner_player_id", "P02"},
        {"drawn_number", nullptr},    {"number_parity", nullptr},
        {"choices", json::object()},  {"reason", "Technical loss of P01: TIMEOUT_CHOICE"}};
    for (const char* field : {"choice_commitments", "choice_nonces", "draw_version"})
      over.erase(field);
    return call("notify_match_result", authorised(over));
  }

  testing::ScriptedMatch match_;
  const std::string promise_ = match_.draw_commitment();
  std::vector<DisputedMatch> disputes_;
};

TEST_F(ReceiptsTest, BothAnswersCarryTheirReceiptAndNoToken) {
  const json ack = join()["result"];
  EXPECT_EQ(
      ack["receipt"],
      game::receipt_of(kKey, game::join_receipt_text(scope(), true,
                                                     ack["choice_commitment"].get<std::string>())));
  const json chosen = choose()["result"];
  const std::string theirs = match_.call()["context"]["opponent_commitment"];
  EXPECT_EQ(chosen["receipt"],
            game::receipt_of(kKey, game::choice_receipt_text(
                                       scope(), {.choice = "even",
                                                 .nonce = chosen["choice_nonce"].get<std::string>(),
                                                 .opponent_commitment = theirs})));
  const auto shown = agent::identity::answer_credential(token_, core::MatchId("R1M1"), 1).reveal();
  EXPECT_EQ(ack["auth_token"], shown);
  EXPECT_EQ(chosen["auth_token"], shown);
  EXPECT_TRUE(envelope::testing::schemas().validate(envelope::MessageType::kGameJoinAck, ack));
  EXPECT_TRUE(
      envelope::testing::schemas().validate(envelope::MessageType::kChooseParityResponse, chosen));
}

TEST_F(ReceiptsTest, WithoutAKeyThereAreNone) {
  service_->set_identity(at_home());
  EXPECT_FALSE(join()["result"].contains("receipt"));
  const json chosen = choose()["result"];
  EXPECT_FALSE(chosen.contains("receipt"));
  EXPECT_EQ(chosen["auth_token"], token_.reveal());
}

TEST_F(ReceiptsTest, ACallThatNamesAnotherAttemptThanItsCredentialIsRefused) {
  EXPECT_EQ(code_of(call("handle_game_invitation", authorised(invitation(2), 1))), "E023");
  ASSERT_TRUE(join().contains("result"));
  EXPECT_EQ(code_of(call("choose_parity", authorised(choice_call(2), 1))), "E023");
}

TEST_F(ReceiptsTest, AnInvitationWithAnotherPromiseThanAnnouncedIsRefused) {
  announce();
  json false_promise = invitation();
  false_promise["draw_commitment"] = std::string(64, '0');
  EXPECT_EQ(code_of(call("handle_game_invitation", authorised(false_promise))), "E040");
  json no_promise = invitation();
  no_promise.erase("draw_commitment");
  EXPECT_EQ(code_of(call("handle_game_invitation", authorised(no_promise))), "E040");
  EXPECT_TRUE(join().contains("result"));
}

TEST_F(ReceiptsTest, AChoiceIsOnlyRevealedInThePlayThatItWasInvitedTo) {
  EXPECT_EQ(code_of(choose()), "E031");
  ASSERT_TRUE(join(2, 1).contains("result"));
  EXPECT_EQ(code_of(choose(2, 2)), "E031");
  EXPECT_EQ(code_of(choose(2, 0)), "E033");
  EXPECT_EQ(code_of(join(1, 3)), "E033") << "attempt 1 is over";
  EXPECT_TRUE(choose(2, 1).contains("result"));
}

TEST_F(ReceiptsTest, ThereIsOneReceiptOfAChoiceForAPlay) {
  announce();
  ASSERT_TRUE(join().contains("result"));
  const json first = choose()["result"];
  EXPECT_EQ(choose()["result"]["receipt"], first["receipt"]) << "a repeated call";
  json other = choice_call();
  other["context"]["opponent_commitment"] = std::string(64, '1');
  EXPECT_EQ(code_of(call("choose_parity", authorised(other))), "E040");
  EXPECT_EQ(disputes_.size(), 1U);
  EXPECT_EQ(join()["result"]["choice_commitment"], record()["calls"][0]["choice_commitment"])
      << "a second invitation resets nothing, also after the reveal";
}

/// Its opponent could find a commitment that wins once it has seen the nonce.
TEST_F(ReceiptsTest, InALaterPlayThereIsNoReceiptForAnotherCommitmentOfTheOpponent) {
  announce();
  ASSERT_TRUE(join().contains("result"));
  ASSERT_TRUE(choose().contains("result"));
  ASSERT_TRUE(join(1, 1).contains("result"));
  json other = choice_call(1, 1);
  other["context"]["opponent_commitment"] = std::string(64, '1');
  EXPECT_EQ(code_of(call("choose_parity", authorised(other))), "E040");
  EXPECT_TRUE(choose(1, 1).contains("result")) << "the one that holds";
}

TEST_F(ReceiptsTest, AnotherCommitmentInALaterAttemptIsDisputedAndAnsweredAgain) {
  ASSERT_TRUE(join().contains("result"));
  const json first = choose()["result"];
  ASSERT_TRUE(join(2).contains("result"));
  json other = choice_call(2);
  other["context"]["opponent_commitment"] = std::string(64, '1');
  const json second = call("choose_parity", authorised(other, 2))["result"];
  EXPECT_EQ(second["choice_nonce"], first["choice_nonce"]) << "both were bound";
  EXPECT_EQ(disputes_.size(), 1U);
  EXPECT_EQ(call("choose_parity", authorised(other, 2))["result"]["receipt"], second["receipt"])
      << "the first answer may have been lost";
}

TEST_F(ReceiptsTest, ThereIsOneReceiptAlsoAfterARestart) {
  const league::testing::TemporaryDirectory directory;
  auto file = std::move(*OpenMatchFile::open({.file = directory.path() / "open.jsonl"}));
  at_home_with_receipts("even", file.get());
  ASSERT_TRUE(join().contains("result"));
  const json first = choose()["result"];
  file.reset();
  file = std::move(*OpenMatchFile::open({.file = directory.path() / "open.jsonl"}));
  at_home_with_receipts("odd", file.get());
  EXPECT_EQ(choose()["result"]["receipt"], first["receipt"]);
  json other = choice_call();
  other["context"].erase("opponent_commitment");
  EXPECT_EQ(code_of(call("choose_parity", authorised(other))), "E040");
  EXPECT_TRUE(record().is_null()) << "the calls before the restart are not known";
}

TEST_F(ReceiptsTest, TheRecordShowsCallsAndAnswersToTheManagerOnly) {
  EXPECT_TRUE(record().is_null()) << "neither announced nor called";
  announce();
  EXPECT_EQ(record()["calls"], json::array());
  (void)join();
  (void)choose();
  const json calls = record()["calls"];
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0]["message_type"], "GAME_INVITATION");
  EXPECT_EQ(calls[0]["accept"], true);
  EXPECT_FALSE(calls[0].contains("parity_choice"));
  EXPECT_EQ(calls[1]["parity_choice"], "even");
  EXPECT_EQ(calls[1]["attempt"], 1);
  EXPECT_TRUE(calls[1].contains("answer_ms"));
  const json stranger =
      call("get_match_record", {{"auth_token", "tok_p02_x"}, {"match_id", "R1M1"}});
  EXPECT_EQ(code_of(stranger), "E012");
}

TEST_F(ReceiptsTest, ACallWithoutTheCredentialIsNoCall) {
  announce();
  json forged = invitation();
  forged["auth_token"] = "something else";
  EXPECT_EQ(code_of(call("handle_game_invitation", forged)), "E012");
  EXPECT_EQ(record()["calls"], json::array());
}

TEST_F(ReceiptsTest, AnInventedLossIsDisputed) {
  announce();
  (void)join();
  (void)choose();
  (void)claim_loss();
  ASSERT_EQ(disputes_.size(), 1U);
  EXPECT_EQ(disputes_[0].match_id.str(), "R1M1");
}

TEST_F(ReceiptsTest, ALossIsNotDisputedByAPlayerThatWasSlow) {
  at_home_with_receipts("slow:40000");
  announce();
  (void)join();
  while (time_.advance_to_next()) {
  }
  (void)claim_loss();
  EXPECT_TRUE(disputes_.empty());
}

TEST_F(ReceiptsTest, AsksForTheResultOfAMatchWhoseEndDidNotArrive) {
  int asked = 0;
  service_->on_missing_result([&asked] { ++asked; });
  announce();
  complete_round();
  EXPECT_EQ(asked, 1);
  service_->take_results({{core::MatchId("R1M1"), "LOSS", "TIMEOUT_JOIN"},
                          {core::MatchId("R1M2"), "LOSS", "TIMEOUT_JOIN"}});
  ASSERT_EQ(disputes_.size(), 1U) << "it was never called";
  complete_round();
  EXPECT_EQ(asked, 1) << "it knows the result now";
}

}  // namespace
}  // namespace league::player::service
