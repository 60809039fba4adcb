// Our player where the manager is not ours, and the same player at home (protocol §8).
#include <gtest/gtest.h>

#include <algorithm>

#include "player/core/player_testing.h"
#include "player/service/service_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::player::service {
namespace {

using envelope::testing::golden;
using nlohmann::json;

class GuestTest : public testing::PlayerServiceFixture {
 protected:
  void make_guest(envelope::Mode mode = envelope::Mode::kOpen,
                  const char* token = "tok_p01_secret") {
    make(PlayerOptions{.display_name = "bot", .strategy = "even", .mode = mode});
    service_->set_identity({"P01", core::AuthToken(token), core::LeagueId("league_2025_even_odd")});
  }
  /// Golden, but without a token.
  static json bare(const std::string& name) {
    auto message = golden(name);
    message.erase("auth_token");
    return message;
  }
  [[nodiscard]] bool took(std::string_view leniency) const {
    const auto taken = leniencies();
    return std::ranges::find(taken, leniency) != taken.end();
  }
  /// An announcement of R1M1 that says what its referee shows, with this player's own token.
  void announce(const json& credential) {
    auto message = testing::ScriptedMatch{}.announcement();
    if (!credential.is_null()) message["matches"][0]["referee_credential"] = credential;
    message["auth_token"] = token_.reveal();
    ASSERT_EQ(call("notify_round", message)["result"]["status"], "ok");
  }
  std::unique_ptr<OpenMatchFile> notes_file_;
  static json with_token(json message, const std::string& token) {
    message["auth_token"] = token;
    return message;
  }
  static std::string code_of(const json& answer) {
    return answer.contains("error") ? answer["error"]["data"]["error_code"].get<std::string>() : "";
  }
};

struct ForeignForm {
  const char* leniency;
  const char* message;
  std::function<void(json&)> write;
};

std::vector<ForeignForm> foreign_forms() {
  return {
      {"missing_call_token", "game_invitation", [](json& m) { m.erase("auth_token"); }},
      {"missing_call_token", "choose_parity_call", [](json& m) { m["auth_token"] = ""; }},
      {"foreign_call_token", "game_invitation", [](json& m) { m["auth_token"] = "tok_ref01"; }},
      {"foreign_call_token", "round_announcement", [](json& m) { m["auth_token"] = "tok_lm"; }},
      {"sender_manager_with_id", "round_announcement",
       [](json& m) { m["sender"] = "league_manager:LM01"; }},
      {"sender_manager_with_id", "league_completed",
       [](json& m) { m["sender"] = "league_manager:LEAGUE_MANAGER_01"; }},
      {"timestamp_zone_twice", "round_announcement",
       [](json& m) { m["timestamp"] = "2026-11-21T08:30:30.313016+00:00Z"; }},
      {"timestamp_zone_twice", "choose_parity_call",
       [](json& m) { m["deadline"] = "2026-11-21T08:30:30.313016+00:00Z"; }},
      {"role_in_match_case", "game_invitation", [](json& m) { m["role_in_match"] = "player_a"; }},
      {"missing_rank", "league_standings_update",
       [](json& m) {
         for (auto& row : m["standings"]) row.erase("rank");
       }},
      {"missing_draws", "league_completed",
       [](json& m) {
         for (auto& row : m["final_standings"]) row.erase("draws");
       }},
      {"played_field", "league_standings_update",
       [](json& m) {
         for (auto& row : m["standings"]) {
           row["games_played"] = row["played"];
           row.erase("played");
         }
       }},
      {"missing_rank", "league_completed",
       [](json& m) {
         for (auto& row : m["final_standings"]) row.erase("rank");
       }},
  };
}

TEST_F(GuestTest, TakesEachForeignFormByNameAndRefusesItInStrictMode) {
  for (const auto& form : foreign_forms()) {
    auto message = golden(form.message);
    // With the right token, but for the forms that are about tokens.
    message["auth_token"] = message.contains("match_id")
                                ? authorised(message)["auth_token"].get<std::string>()
                                : token_.reveal();
    form.write(message);
    const std::string method(envelope::spec(*envelope::message_type_from_wire(
                                                message["message_type"].get<std::string>()))
                                 .method);
    make_guest();
    EXPECT_TRUE(call(method, message).contains("result")) << message;
    EXPECT_TRUE(took(form.leniency)) << form.leniency;
    make_guest(envelope::Mode::kStrict);
    EXPECT_TRUE(call(method, message).contains("error")) << "strict: " << form.leniency;
    EXPECT_FALSE(took(form.leniency));
  }
}

TEST_F(GuestTest, AtHomeNoneOfItIsTaken) {
  for (const auto& form : foreign_forms()) {
    const std::string_view name(form.leniency);
    // These need no guest: bots of a league of ours may be as free (protocol §9).
    if (name == "sender_manager_with_id" || name == "played_field") continue;
    auto message = golden(form.message);
    message["auth_token"] = message.contains("match_id")
                                ? authorised(message)["auth_token"].get<std::string>()
                                : token_.reveal();
    form.write(message);
    make(PlayerOptions{.display_name = "bot", .strategy = "even"});
    EXPECT_TRUE(call(message["message_type"], message).contains("error")) << message;
    EXPECT_FALSE(took(form.leniency));
  }
}

TEST_F(GuestTest, SaysItsChoiceTwiceAndCommitsToNothing) {
  make_guest(envelope::Mode::kOpen, "");
  auto ack = call("handle_game_invitation", bare("game_invitation"))["result"];
  EXPECT_EQ(ack["accept"], true);
  EXPECT_FALSE(ack.contains("choice_commitment"));
  EXPECT_FALSE(ack.contains("auth_token")) << "its manager gave it none";
  auto choice = call("choose_parity", bare("choose_parity_call"))["result"];
  EXPECT_EQ(choice["parity_choice"], "even");
  EXPECT_EQ(choice["choice"], "even");
  EXPECT_FALSE(choice.contains("choice_nonce"));
  make("even");
  choice = call("choose_parity", authorised(golden("choose_parity_call")))["result"];
  EXPECT_FALSE(choice.contains("choice")) << "at home once is enough";
}

TEST_F(GuestTest, BeforeItIsRegisteredNobodyIsBelieved) {
  make("even", true);
  make(PlayerOptions{.display_name = "bot", .strategy = "even"});
  auto made = PlayerService::create({.display_name = "bot", .strategy = "even"},
                                    {time_, time_, random_, envelope::testing::schemas()});
  service_ = std::move(*made);
  EXPECT_TRUE(call("handle_game_invitation", bare("game_invitation")).is_null()) << "held";
  const auto held = last_;
  service_->set_identity(at_home());
  ASSERT_TRUE(*held);
  EXPECT_EQ(code_of(json::parse(**held)), "E011");
}

TEST_F(GuestTest, AtHomeAForeignRefereeShowsExactlyTheAnnouncedToken) {
  const core::AuthToken theirs("tok_ref07_foreign");
  make("even");
  auto invited = [&](const std::string& token) {
    auto message = testing::ScriptedMatch{}.invitation();
    return call("handle_game_invitation",
                token.empty() ? bare("game_invitation") : with_token(message, token));
  };
  EXPECT_EQ(code_of(invited(theirs.reveal())), "E012") << "nothing is announced";
  announce("token:" + theirs.hash());
  EXPECT_EQ(code_of(invited("tok_ref07_forged")), "E012");
  EXPECT_EQ(code_of(invited("")), "E011");
  EXPECT_EQ(code_of(invited("token:" + theirs.hash())), "E012") << "the hash is public";
  EXPECT_EQ(invited(theirs.reveal())["result"]["message_type"], "GAME_JOIN_ACK");
  EXPECT_TRUE(took("foreign_referee_token"));
  EXPECT_EQ(said_by(), testing::ScriptedMatch{}.invitation()["sender"])
      << "the manager has announced that it shows this token";
  auto other = testing::ScriptedMatch{};
  other.match_id = "R2M1";
  EXPECT_EQ(
      code_of(call("handle_game_invitation", with_token(other.invitation(), theirs.reveal()))),
      "E012")
      << "of exactly that match";
  auto news = with_token(golden("round_completed"), theirs.reveal());
  EXPECT_EQ(code_of(call("notify_round_completed", news)), "E012") << "a referee is no manager";
}

TEST_F(GuestTest, APlayerThatRestartsKnowsTheRefereeOfItsMatch) {
  const core::AuthToken theirs("tok_ref07_foreign");
  const league::testing::TemporaryDirectory directory;
  auto restarted = [&] {
    service_ = nullptr;
    notes_file_ = nullptr;
    auto file = OpenMatchFile::open({.file = directory.path() / "notes.jsonl"});
    ASSERT_TRUE(file);
    notes_file_ = std::move(*file);
    make(PlayerOptions{.display_name = "bot", .strategy = "even"}, notes_file_.get());
  };
  const testing::ScriptedMatch match;
  auto invited = [&](const std::string& token) {
    return code_of(call("handle_game_invitation", with_token(match.invitation(), token)));
  };
  restarted();
  announce("token:" + theirs.hash());
  restarted();
  EXPECT_EQ(invited("tok_ref07_forged"), "E012");
  EXPECT_EQ(invited(theirs.reveal()), "") << "it was announced before the restart";
  restarted();
  EXPECT_TRUE(call("choose_parity", with_token(match.call(), theirs.reveal())).contains("result"))
      << "and in the middle of the match";
  announce("match");
  restarted();
  EXPECT_EQ(invited(theirs.reveal()), "E012") << "the match has moved to another referee";
  announce("token:" + theirs.hash());
  service_->set_identity([&] {
    auto other = at_home();
    other.token = core::AuthToken("tok_p01_other_league");
    return other;
  }());
  EXPECT_EQ(invited(theirs.reveal()), "E012") << "ids mean other matches in another league";
  service_ = nullptr;
}

TEST_F(GuestTest, AForeignRefereeNeedNotRevealASeedButMayNotRevealAWrongOne) {
  const core::AuthToken theirs("tok_ref07_foreign");
  const auto over = [&](std::string proof) {
    make("even");
    announce("token:" + theirs.hash());
    testing::ScriptedMatch match;
    match.their_nonce.reset();
    auto message = match.game_over("even", std::nullopt);
    message["draw_proof"] = std::move(proof);
    if (message["draw_proof"] == "") message.erase("draw_proof");
    auto invitation = match.invitation();
    invitation.erase("draw_commitment");
    auto asked = match.call();
    asked["context"].erase("draw_commitment");
    (void)call("handle_game_invitation", with_token(invitation, theirs.reveal()));
    (void)call("choose_parity", with_token(asked, theirs.reveal()));
    return call("notify_match_result", with_token(message, theirs.reveal()));
  };
  EXPECT_EQ(over("")["result"]["status"], "ok");
  EXPECT_EQ(service_->history().matches().size(), 1U);
  EXPECT_TRUE(over(std::string(64, '9')).contains("error"));
  EXPECT_TRUE(service_->history().matches().empty());
}

TEST_F(GuestTest, AtHomeOnlyTheAnnouncementOpensTheDoor) {
  make("even");
  auto invitation = testing::ScriptedMatch{}.invitation();
  invitation.erase("auth_token");
  for (const json& credential : {json("match"), json(nullptr), json("token:"), json("")}) {
    announce(credential);
    EXPECT_EQ(code_of(call("handle_game_invitation", invitation)), "E011") << credential;
    EXPECT_EQ(code_of(call("handle_game_invitation", with_token(invitation, "tok_x"))), "E012");
  }
  announce("none");
  EXPECT_EQ(code_of(call("handle_game_invitation", with_token(invitation, "tok_x"))), "E012");
  auto wrong = invitation;
  wrong["role_in_match"] = "player_a";
  EXPECT_EQ(code_of(call("handle_game_invitation", wrong)), "E023")
      << "where no token is needed, none is missing";
  EXPECT_TRUE(call("handle_game_invitation", invitation).contains("result"));
  EXPECT_TRUE(took("missing_call_token"));
  // Moved to a referee of ours: what opened before opens no more.
  announce("match");
  EXPECT_EQ(code_of(call("handle_game_invitation", invitation)), "E011");
}

TEST_F(GuestTest, StrictModeKnowsNoForeignReferees) {
  const core::AuthToken theirs("tok_ref07_foreign");
  make(PlayerOptions{.display_name = "bot", .strategy = "even", .mode = envelope::Mode::kStrict});
  announce("token:" + theirs.hash());
  auto invitation = with_token(testing::ScriptedMatch{}.invitation(), theirs.reveal());
  EXPECT_EQ(code_of(call("handle_game_invitation", invitation)), "E012");
}

TEST_F(GuestTest, AnErrorMessageOfAStrangerIsAcknowledgedAndOneWithAForeignTokenRefused) {
  make("even");
  EXPECT_EQ(call("notify_league_error", bare("league_error"))["result"]["status"], "ok");
  EXPECT_TRUE(took("missing_call_token"));
  EXPECT_EQ(code_of(call("notify_league_error", with_token(golden("league_error"), "tok_x"))),
            "E012");
}

}  // namespace
}  // namespace league::player::service
