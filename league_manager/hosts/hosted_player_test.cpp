#include "league_manager/hosts/hosted_player.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/agent/identity/match_credential.h"
#include "common/envelope/envelope_testing.h"
#include "common/rpc/codec.h"
#include "player/core/player_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"

namespace league::league_manager::hosts {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class HostedPlayerTest : public ::testing::Test {
 protected:
  HostedPlayerTest() {
    agent::identity::Identity identity{"P01", token_, core::LeagueId("league_2025_even_odd")};
    identity.league_key = std::string(64, 'a');
    identity.match_credentials = true;
    player_ = std::make_unique<HostedPlayer>(
        HostedPlayer::Context{.timer = time_,
                              .clock = time_,
                              .random = random_,
                              .schemas = envelope::testing::schemas(),
                              .seats = seats_,
                              .open_matches = nullptr,
                              .executor = task::Executor(),
                              .limit = 60s,
                              .game = game::even_odd(),
                              .dispute = [](const auto&, const auto&) {}},
        "host", identity);
  }
  /// A call of the referee at the seat; its answer appears in the returned place.
  std::shared_ptr<std::optional<agent::seats::SeatAnswer>> call(const std::string& method,
                                                                json message) {
    auto answer = std::make_shared<std::optional<agent::seats::SeatAnswer>>();
    message["auth_token"] =
        agent::identity::match_credential(token_, core::MatchId("R1M1"), 1).reveal();
    seats_.call("P01",
                {.bytes = rpc::encode_request(rpc::Id(++last_id_), method, message.dump()),
                 .id = rpc::Id(last_id_),
                 .caller = "referee:REF01",
                 .deadline = time_.steady_now() + 60s},
                [answer](agent::seats::SeatAnswer one) { *answer = std::move(one); });
    return answer;
  }
  auto invite() { return call("handle_game_invitation", match_.invitation()); }
  static json result_of(const std::shared_ptr<std::optional<agent::seats::SeatAnswer>>& answer) {
    if (!*answer || (*answer)->error) return nullptr;
    return json::parse((*answer)->bytes.view())["result"];
  }
  [[nodiscard]] std::optional<core::ErrorCode> refusal(const std::string& word) {
    const auto taken = player_->choose(word);
    return taken.refusal ? std::optional(taken.refusal->code) : std::nullopt;
  }
  [[nodiscard]] agent::seats::Line line() const { return seats_.shown("P01")->line; }

  league::testing::FakeTime time_;
  league::testing::ScriptedRandom random_;
  agent::seats::Seats seats_{time_, time_, random_, [](const std::exception_ptr&) { FAIL(); }};
  const core::AuthToken token_{"tok_p01_secret"};
  league::testing::ScriptedMatch match_;
  std::int64_t last_id_ = 0;
  std::unique_ptr<HostedPlayer> player_;
};

TEST_F(HostedPlayerTest, IsSmallUntilItPlays) {
  player_->sit();
  const auto answer = call("notify_league_error", json::object());
  ASSERT_TRUE(*answer);
  EXPECT_FALSE((*answer)->error);
  EXPECT_FALSE(player_->has_played()) << "anybody may join and leave";
}

TEST_F(HostedPlayerTest, ItsClientChoosesAndThePlayerDoesTheRest) {
  player_->sit();
  EXPECT_EQ(line(), agent::seats::Line::kHost);
  player_->note_told();
  EXPECT_FALSE(player_->has_news());
  const auto joined = invite();
  ASSERT_NE(player_->turn(), nullptr);
  EXPECT_TRUE(player_->has_news());
  EXPECT_EQ(refusal("odd"), core::ErrorCode::kMatchNotOpen) << "it was not shown yet";
  player_->note_told();
  EXPECT_EQ(refusal("seven"), core::ErrorCode::kInvalidParityChoice);
  EXPECT_EQ(result_of(joined), nullptr);
  EXPECT_EQ(refusal(" Odd"), std::nullopt);
  EXPECT_TRUE(result_of(joined)["accept"]);
  EXPECT_EQ(refusal("even"), core::ErrorCode::kUnexpectedMessage) << "it is sealed";
  const auto revealed = call("choose_parity", match_.call());
  EXPECT_EQ(result_of(revealed)["parity_choice"], "odd");
  EXPECT_FALSE(player_->has_news());
  const std::string nonce = result_of(revealed)["choice_nonce"];
  const auto over = call("notify_match_result", match_.game_over("odd", nonce));
  EXPECT_EQ(result_of(over)["status"], "ok");
  EXPECT_TRUE(player_->has_news());
  EXPECT_EQ(player_->turn(), nullptr);
  EXPECT_EQ(player_->history().matches().size(), 1U);
}

TEST_F(HostedPlayerTest, WhoeverIsSilentLeavesTheSeatAndComesBack) {
  player_->sit();
  const auto joined = invite();
  player_->note_told();
  time_.advance(59s);
  EXPECT_EQ(line(), agent::seats::Line::kAway);
  EXPECT_EQ(player_->turn(), nullptr);
  EXPECT_TRUE(player_->has_news()) << "it is told once that it was too late";
  player_->note_told();
  EXPECT_FALSE(player_->has_news());
  EXPECT_EQ(refusal("odd"), core::ErrorCode::kMatchNotOpen);
  EXPECT_FALSE(joined->has_value()) << "it owes the answer until the caller gives up";
  time_.advance(2s);
  EXPECT_EQ((*joined)->error->code, core::ErrorCode::kTimeout);
  EXPECT_FALSE(player_->is_seated());
  player_->sit();
  EXPECT_EQ(line(), agent::seats::Line::kHost);
  match_.match_id = "R1M1";
  invite();
  ASSERT_NE(player_->turn(), nullptr) << "another attempt at the match";
  player_->note_told();
  EXPECT_EQ(refusal("even"), std::nullopt);
}

TEST_F(HostedPlayerTest, AnAbsentOneIsOfferedWhatWaits) {
  const auto joined = invite();
  EXPECT_EQ(player_->turn(), nullptr);
  time_.advance(3s);
  player_->sit();
  ASSERT_NE(player_->turn(), nullptr);
  player_->note_told();
  EXPECT_EQ(refusal("even"), std::nullopt);
  EXPECT_TRUE(result_of(joined)["accept"]);
}

TEST_F(HostedPlayerTest, AnotherProgramCanTakeTheSeatOver) {
  player_->sit();
  seats_.open("P01", seats_.name_session("P01"), agent::seats::Line::kPoll, nullptr);
  EXPECT_FALSE(player_->is_seated());
  EXPECT_EQ(line(), agent::seats::Line::kPoll);
}

}  // namespace
}  // namespace league::league_manager::hosts
