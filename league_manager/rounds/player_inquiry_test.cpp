#include "league_manager/rounds/player_inquiry.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/envelope/envelope_testing.h"
#include "common/journal/discarding_journal.h"
#include "league_manager/core/league_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"

namespace league::league_manager::rounds {
namespace {

using nlohmann::json;

/// Keeps each call until the test says how it ends.
class HeldCaller final : public transport::link::Caller {
 public:
  void call(transport::link::OutboundCall call, Completion completion) override {
    const json frame = json::parse(call.bytes);
    const json& params = frame["params"];
    arguments.push_back(params.contains("arguments") ? params["arguments"] : params);
    limits.push_back(call.deadline);
    ids.push_back(frame["id"]);
    held.push_back(std::move(completion));
  }
  void answer(std::size_t i, const json& result) {
    transport::link::CallOutcome outcome;
    outcome.http_status = 200;
    outcome.bytes = json{{"jsonrpc", "2.0"}, {"id", ids.at(i)}, {"result", result}}.dump();
    std::exchange(held.at(i), nullptr)(std::move(outcome));
  }
  void fail(std::size_t i, core::ErrorCode code) {
    transport::link::CallOutcome outcome;
    outcome.error = core::Error{code, "no answer", ""};
    std::exchange(held.at(i), nullptr)(std::move(outcome));
  }

  std::vector<json> arguments;
  std::vector<core::Clock::Steady> limits;
  std::vector<json> ids;
  std::vector<Completion> held;
};

json record_of(const std::string& player, const std::string& match = "R1M1") {
  return {{"match_id", match},
          {"player_id", player},
          {"calls", json::array({{{"message_type", "GAME_INVITATION"}, {"attempt", 1}}})}};
}

class PlayerInquiryTest : public ::testing::Test {
 protected:
  PlayerInquiryTest() {
    EXPECT_TRUE(ledger_.open());
    for (int i = 0; i < 2; ++i) {
      ledger_.commit(
          [i](const League& league, core::UtcTimestamp now) {
            return league
                .decide_register({events::AgentKind::kPlayer,
                                  testing::profile("p" + std::to_string(i), 10000 + i),
                                  {},
                                  {}},
                                 testing::facts("n", now))
                ->events;
          },
          [](const core::Result<events::Events>&) {});
    }
  }
  void ask(int number, std::vector<int> players = {0}) {
    inquiry_.ask({1, number}, 1, players, [this](std::optional<std::vector<PlayerAnswer>> answers) {
      heard_.push_back(std::move(answers));
    });
  }
  [[nodiscard]] std::chrono::milliseconds patience(std::size_t i) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(caller_.limits.at(i) -
                                                                 time_.steady_now());
  }

  league::testing::FakeTime time_;
  league::testing::ScriptedRandom random_;
  journal::DiscardingJournal journal_;
  files::Ledger ledger_{testing::settings(2, 1), journal_, time_};
  admission::TokenIssuer issuer_{core::LeagueId("league_even_odd"), random_};
  HeldCaller caller_;
  agent::peers::PeerClient peers_{caller_, envelope::testing::schemas(), time_,
                                  envelope::Mode::kOpen};
  agent::runtime::Settings settings_;
  envelope::EnvelopeBuilder envelopes_{envelope::Sender::league_manager(),
                                       core::LeagueId("league_even_odd"), time_};
  const RoundDependencies dependencies_{.ledger = ledger_,
                                        .token_issuer = issuer_,
                                        .peers = peers_,
                                        .timer = time_,
                                        .clock = time_,
                                        .random = random_,
                                        .settings = settings_,
                                        .envelopes = envelopes_};
  PlayerInquiry inquiry_{dependencies_};
  std::vector<std::optional<std::vector<PlayerAnswer>>> heard_;
};

TEST_F(PlayerInquiryTest, AsksBothAtOnceWithTheirOwnTokens) {
  ask(1, {0, 1});
  ASSERT_EQ(caller_.arguments.size(), 2u);
  EXPECT_EQ(caller_.arguments[0]["match_id"], "R1M1");
  EXPECT_EQ(caller_.arguments[0]["auth_token"], issuer_.token("P01", "n").reveal());
  EXPECT_EQ(caller_.arguments[1]["auth_token"], issuer_.token("P02", "n").reveal());
  EXPECT_EQ(patience(0), std::chrono::seconds(2));
  caller_.answer(1, record_of("P02"));
  EXPECT_TRUE(heard_.empty());
  caller_.fail(0, core::ErrorCode::kConnectionError);
  ASSERT_EQ(heard_.size(), 1u);
  const auto& answers = *heard_[0];
  EXPECT_FALSE(answers[0].record);
  EXPECT_EQ(answers[0].why_none, "E009 CONNECTION_ERROR") << "the address is not public";
  EXPECT_EQ(answers[1].player, 1);
  EXPECT_EQ(answers[1].record->calls.at(0).message_type, "GAME_INVITATION");
}

TEST_F(PlayerInquiryTest, ARepeatedReportJoinsTheQuestionAndLaterGetsItsAnswer) {
  ask(1);
  ask(1);
  EXPECT_EQ(caller_.arguments.size(), 1u);
  caller_.answer(0, record_of("P01"));
  ask(1);
  EXPECT_EQ(caller_.arguments.size(), 1u);
  ASSERT_EQ(heard_.size(), 3u);
  for (const auto& answers : heard_) EXPECT_TRUE(answers->at(0).record);
}

TEST_F(PlayerInquiryTest, ARecordOfAnotherMatchOrPlayerAndAHugeOneAreNoWord) {
  json huge = record_of("P01", "R1M3");
  huge["calls"][0]["reason"] = std::string(100'000, 'x');
  const std::vector<json> answers = {record_of("P02"), record_of("P01", "R9M9"), huge, json(7)};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ask(static_cast<int>(i) + 1);
    caller_.answer(i, answers[i]);
    ASSERT_EQ(heard_.size(), i + 1);
    EXPECT_FALSE(heard_[i]->at(0).record);
    EXPECT_FALSE(heard_[i]->at(0).why_none.empty());
  }
}

TEST_F(PlayerInquiryTest, WhoIsSuspendedAndSilentTwiceHasATenthOfASecondUntilItAnswers) {
  for (std::size_t i = 0; i < 3; ++i) {
    ask(static_cast<int>(i) + 1);
    EXPECT_EQ(patience(i), std::chrono::seconds(2)) << "it is not suspended";
    caller_.fail(i, core::ErrorCode::kTimeout);
  }
  ledger_.commit(
      [](const League&, core::UtcTimestamp now) {
        return events::Events{{now, events::AgentStateChanged{events::AgentRef::player(0),
                                                              events::AgentState::kSuspended, ""}}};
      },
      [](const core::Result<events::Events>&) {});
  ask(4);
  EXPECT_EQ(patience(3), std::chrono::milliseconds(100));
  caller_.answer(3, record_of("P01", "R1M4"));
  ask(5);
  EXPECT_EQ(patience(4), std::chrono::seconds(2));
}

TEST_F(PlayerInquiryTest, NobodyIsCondemnedWhileTheManagerEnds) {
  ask(1, {0, 1});
  caller_.answer(0, record_of("P01"));
  caller_.fail(1, core::ErrorCode::kShuttingDown);
  ASSERT_EQ(heard_.size(), 1u);
  EXPECT_FALSE(heard_[0]);
}

}  // namespace
}  // namespace league::league_manager::rounds
