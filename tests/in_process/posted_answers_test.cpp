// Players that acknowledge a call and send the answer as a call of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using nlohmann::json;
using std::chrono::seconds;

/// A league of two in which P01 says RECEIVED to each call of a match; what it would have answered
/// is kept.
class PostedAnswers : public ::testing::Test {
 protected:
  void begin(envelope::Mode mode = envelope::Mode::kOpen) {
    league_.emplace(LeagueFixtureOptions{.players = 2, .strategies = {"even"}, .mode = mode});
    for (const char* call : {"GAME_INVITATION", "CHOOSE_PARITY_CALL"}) {
      league_->script("P01").on(call, Deviation::edit_frame([this](json& frame) {
                                  kept_.push_back(frame["result"]);
                                  frame["result"] = {{"status", "RECEIVED"}};
                                }));
    }
    league_->register_all();
    wait_for_call(1);
  }
  void wait_for_call(std::size_t count) {
    ASSERT_TRUE(league_->run_until([&] { return kept_.size() >= count; }));
    league_->settle();
  }
  /// The answer of the referee to a POST with `message`.
  json post(const json& message) {
    return league_->call("REF01", message.at("message_type"), message);
  }
  static json with(json message, const char* field, json value) {
    message[field] = std::move(value);
    return message;
  }
  static bool is_refused(const json& answer, const char* code) {
    return answer.contains("error") && answer["error"]["data"]["error_code"] == code;
  }
  [[nodiscard]] bool has_ended(const char* termination) const {
    return ending_of(*league_, "R1M1").ends_with(std::string(" ") + termination);
  }

  std::optional<LeagueFixture> league_;
  std::vector<json> kept_;
};

TEST_F(PostedAnswers, CountWithThePlayersTokenOrTheMatchCredential) {
  begin();
  EXPECT_FALSE(post(kept_.at(0)).contains("error"));
  wait_for_call(2);
  auto asked = spoken(*league_, "P01", audit::record::Direction::kIn, audit::record::Kind::kRequest,
                      "CHOOSE_PARITY_CALL");
  const json credential = asked.back().message["auth_token"];
  EXPECT_FALSE(post(with(kept_.at(1), "auth_token", credential)).contains("error"));
  ASSERT_TRUE(league_->play());
  expect_sound(*league_);
  EXPECT_TRUE(has_ended("NORMAL")) << ending_of(*league_, "R1M1");
  int noted = 0;
  for (const auto& one : league_->recording.of("REF01"))
    noted += static_cast<int>(std::ranges::count(one.leniencies, "answer_posted_back"));
  EXPECT_EQ(noted, 2);
}

TEST_F(PostedAnswers, WithNamesOfAnotherCallAreNotedLikeReplies) {
  begin();
  json join = kept_.at(0);
  join.update({{"sender", "player:P02"},
               {"player_id", "P02"},
               {"conversation_id", "my-own"},
               {"league_id", "my_own_league"},
               {"round_id", 9}});
  EXPECT_FALSE(post(join).contains("error"));
  wait_for_call(2);
  EXPECT_FALSE(post(kept_.at(1)).contains("error"));
  ASSERT_TRUE(league_->play());
  expect_sound(*league_);
  EXPECT_TRUE(has_ended("NORMAL")) << ending_of(*league_, "R1M1");
  std::multiset<std::string_view> noted;
  for (const auto& one : league_->recording.of("REF01"))
    noted.insert(one.leniencies.begin(), one.leniencies.end());
  for (const char* name : {"foreign_reply_sender", "foreign_reply_player",
                           "foreign_conversation_id", "foreign_league_id", "foreign_round_id"})
    EXPECT_EQ(noted.count(name), 1U) << name;
}

TEST_F(PostedAnswers, NeedNotSayWhoseTheyAre) {
  begin();
  const json token = kept_.at(0)["auth_token"];
  const json bare = {{"message_type", "GAME_JOIN_ACK"},
                     {"match_id", "R1M1"},
                     {"accept", true},
                     {"auth_token", token}};
  EXPECT_TRUE(is_refused(post(with(bare, "auth_token", "tok_wrong")), "E003"));
  json of_no_match = with(bare, "status", "ACK");
  for (const char* field : {"match_id", "accept"}) of_no_match.erase(field);
  EXPECT_TRUE(is_refused(post(of_no_match), "E003")) << "it could be about any invitation";
  json join = kept_.at(0);
  for (const char* field :
       {"player_id", "sender", "timestamp", "conversation_id", "arrival_timestamp"})
    join.erase(field);
  EXPECT_FALSE(post(join).contains("error"));
  wait_for_call(2);
  json choice = kept_.at(1);
  choice.erase("player_id");
  EXPECT_FALSE(post(choice).contains("error"));
  ASSERT_TRUE(league_->play());
  expect_sound(*league_);
  EXPECT_TRUE(has_ended("NORMAL")) << ending_of(*league_, "R1M1");
}

TEST_F(PostedAnswers, OfStrangersChangeNothing) {
  begin();
  const auto& join = kept_.at(0);
  EXPECT_TRUE(is_refused(post(with(join, "auth_token", "tok_wrong")), "E012"));
  EXPECT_TRUE(
      is_refused(post(with(join, "auth_token", league_->token_of("REF01").reveal())), "E012"));
  EXPECT_TRUE(is_refused(post(with(join, "auth_token", nullptr)), "E011"));
  EXPECT_TRUE(is_refused(post(with(join, "match_id", "R9M9")), "E030"));
  // The opponent has answered, so its own token opens nothing, whomever it claims to be.
  EXPECT_TRUE(
      is_refused(post(with(join, "auth_token", league_->token_of("P02").reveal())), "E031"));
  EXPECT_FALSE(post(join).contains("error")) << "the call is still open for its own player";
  wait_for_call(2);
  auto invalid = with(kept_.at(1), "parity_choice", "both");
  EXPECT_TRUE(is_refused(post(invalid), "E004"));
  EXPECT_FALSE(post(kept_.at(1)).contains("error")) << "the first valid answer counts";
  ASSERT_TRUE(league_->play());
  EXPECT_TRUE(has_ended("NORMAL")) << ending_of(*league_, "R1M1");
}

TEST_F(PostedAnswers, CountOnceAndOnlyForTheCallThatIsOpen) {
  begin();
  const auto join = kept_.at(0);
  EXPECT_FALSE(post(join).contains("error"));
  wait_for_call(2);
  EXPECT_TRUE(is_refused(post(join), "E031"));
  auto other = with(kept_.at(1), "parity_choice", "odd");
  EXPECT_FALSE(post(kept_.at(1)).contains("error"));
  EXPECT_TRUE(post(other).contains("error")) << "the match is played";
  ASSERT_TRUE(league_->play());
  EXPECT_TRUE(has_ended("NORMAL")) << ending_of(*league_, "R1M1");
}

TEST_F(PostedAnswers, ThatDoNotComeAreATimeOutWithItsProof) {
  begin();
  league_->pass(seconds(6));
  EXPECT_TRUE(league_->run_until([this] { return kept_.size() >= 2; })) << "it is asked again";
  ASSERT_TRUE(league_->play());
  expect_sound(*league_);
  EXPECT_TRUE(has_ended("TIMEOUT_JOIN")) << ending_of(*league_, "R1M1");
  EXPECT_EQ(kept_.size(), 3U);
  EXPECT_TRUE(is_refused(post(kept_.back()), "E030")) << "too late";
}

TEST_F(PostedAnswers, AreRefusedInStrictMode) {
  begin(envelope::Mode::kStrict);
  EXPECT_TRUE(post(kept_.at(0)).contains("error"));
  ASSERT_TRUE(league_->play());
  EXPECT_TRUE(has_ended("INVALID_REPLY")) << ending_of(*league_, "R1M1");
}

}  // namespace
}  // namespace league::testing
