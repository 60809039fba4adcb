#include "common/agent/identity/registration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/envelope/envelope_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"

namespace league::agent::identity {
namespace {

using core::ErrorCode;
using nlohmann::json;

/// A league manager that answers the n-th registration as the test says.
class Manager final : public transport::link::Caller {
 public:
  std::vector<transport::link::CallOutcome> answers;
  std::vector<json> requests;
  std::shared_ptr<rpc::MessageNotes> notes;  ///< of the last answer

  void call(transport::link::OutboundCall call, Completion completion) override {
    auto frame = json::parse(call.bytes);
    requests.push_back(frame["params"]);
    auto outcome = answers.at(std::min(requests.size(), answers.size()) - 1);
    if (!outcome.error) {
      outcome.bytes =
          json{{"jsonrpc", "2.0"}, {"id", frame["id"]}, {"result", json::parse(outcome.bytes)}}
              .dump();
    }
    notes = outcome.notes;
    completion(std::move(outcome));
  }
};

transport::link::CallOutcome failing(ErrorCode code) {
  transport::link::CallOutcome outcome;
  outcome.error = core::Error{code, "scripted", ""};
  return outcome;
}

transport::link::CallOutcome answering(const json& message) {
  transport::link::CallOutcome outcome;
  outcome.http_status = 200;
  outcome.bytes = message.dump();
  return outcome;
}

task::Task<void> keep(task::Task<core::Result<Identity>> registration,
                      std::optional<core::Result<Identity>>* got) {
  *got = co_await std::move(registration);
}

/// A player that shows `token`.
RegistrationOptions alpha(const char* token) {
  return {.role = envelope::Role::kPlayer,
          .display_name = "alpha",
          .contact_endpoint = "http://127.0.0.1:8101/mcp",
          .game_types = {"even_odd"},
          .manager = *transport::link::parse_endpoint("http://127.0.0.1:8000/mcp"),
          .token = core::AuthToken(token)};
}

class RegistrationTest : public ::testing::Test {
 protected:
  std::optional<core::Result<Identity>> run(envelope::Role role = envelope::Role::kPlayer) {
    return registered(client_,
                      {.role = role,
                       .display_name = "my bot!",
                       .contact_endpoint = "http://127.0.0.1:8101/mcp",
                       .game_types = {"even_odd"},
                       .max_concurrent_matches = 4,
                       .manager = *transport::link::parse_endpoint("http://127.0.0.1:8000/mcp"),
                       .max_attempts = 3});
  }
  std::optional<core::Result<Identity>> registered(peers::PeerClient& client,
                                                   RegistrationOptions options) {
    std::optional<core::Result<Identity>> got;
    task::Scope tasks(task::Executor(), nullptr);
    tasks.spawn(
        keep(register_agent({client, time_, time_, random_, settings_}, std::move(options)), &got));
    while (!got && time_.advance_to_next()) {
    }
    return got;
  }

  league::testing::FakeTime time_;
  league::testing::ScriptedRandom random_;
  runtime::Settings settings_;
  Manager manager_;
  peers::PeerClient client_{manager_, envelope::testing::schemas(), time_, envelope::Mode::kOpen};
};

TEST_F(RegistrationTest, TriesAgainWithTheSameNonceUntilTheManagerIsUp) {
  auto accepted = envelope::testing::golden("league_register_response");
  manager_.answers = {failing(ErrorCode::kConnectionError), failing(ErrorCode::kTimeout),
                      answering(accepted)};
  auto identity = run();
  ASSERT_TRUE(identity && *identity) << (identity ? (*identity).error().message : "nothing");
  EXPECT_EQ((*identity)->id, accepted["player_id"]);
  EXPECT_EQ((*identity)->token.reveal(), accepted["auth_token"]);
  ASSERT_EQ(manager_.requests.size(), 3U);
  EXPECT_EQ(manager_.requests[0]["registration_nonce"], manager_.requests[2]["registration_nonce"]);
  EXPECT_EQ(manager_.requests[0]["sender"], "player:my_bot_");
  for (const auto& request : manager_.requests) {
    EXPECT_TRUE(envelope::testing::schemas().validate(envelope::MessageType::kLeagueRegisterRequest,
                                                      request));
  }
}

TEST_F(RegistrationTest, AnAgentThatComesBackShowsItsToken) {
  manager_.answers = {answering(envelope::testing::golden("league_register_response"))};
  auto options = alpha("tok_p01_kept");
  options.nonce = "kept nonce";
  const auto got = registered(client_, std::move(options));
  EXPECT_TRUE(got && *got);
  ASSERT_EQ(manager_.requests.size(), 1U);
  EXPECT_EQ(manager_.requests[0]["auth_token"], "tok_p01_kept");
  EXPECT_EQ(manager_.requests[0]["registration_nonce"], "kept nonce");
  EXPECT_TRUE(envelope::testing::schemas().validate(envelope::MessageType::kLeagueRegisterRequest,
                                                    manager_.requests[0]));
}

json refused(const char* code) {
  auto rejected = envelope::testing::golden("league_register_response");
  rejected["status"] = "REJECTED";
  rejected["player_id"] = nullptr;
  rejected.erase("auth_token");
  rejected["reason"] = "scripted";
  rejected["error_code"] = code;
  return rejected;
}

TEST_F(RegistrationTest, ATokenThatIsNotKnownIsShownOnceAndThenOthersAreTried) {
  manager_.answers = {answering(refused("E012")), answering(refused("E012")),
                      answering(envelope::testing::golden("league_register_response"))};
  std::vector<Credentials> others = {{}, {core::AuthToken("tok_p02_second"), "second"}};
  auto options = alpha("tok_p01_first");
  options.nonce = "first";
  options.next_credentials = [&others]() -> std::optional<Credentials> {
    auto next = others.back();
    others.pop_back();
    return next;
  };
  options.registration_code = core::AuthToken("code-of-alpha");
  const auto got = registered(client_, std::move(options));
  EXPECT_TRUE(got && *got);
  ASSERT_EQ(manager_.requests.size(), 3U);
  EXPECT_EQ(manager_.requests[0]["auth_token"], "tok_p01_first");
  EXPECT_EQ(manager_.requests[1]["auth_token"], "tok_p02_second");
  EXPECT_FALSE(manager_.requests[2].contains("auth_token")) << "as a new agent";
  EXPECT_EQ(manager_.requests[1]["registration_nonce"], "second");
  EXPECT_NE(manager_.requests[2]["registration_nonce"], "second");
  for (const auto& request : manager_.requests) {
    EXPECT_EQ(request["player_meta"]["registration_code"], "code-of-alpha");
    EXPECT_TRUE(envelope::testing::schemas().validate(envelope::MessageType::kLeagueRegisterRequest,
                                                      request));
  }
}

TEST_F(RegistrationTest, SaysWhatToDoWhenTheSeatHasLostItsToken) {
  manager_.answers = {answering(refused("E012")), answering(refused("E019"))};
  auto options = alpha("tok_p01_first");
  options.next_credentials = [] { return std::optional(Credentials{}); };
  const auto got = registered(client_, std::move(options));
  ASSERT_TRUE(got && !*got);
  EXPECT_EQ(got->error().code, ErrorCode::kLateRegistration);
  EXPECT_NE(got->error().message.find("league admin new-token"), std::string::npos);
  EXPECT_EQ(got->error().message.find("tok_p01_first"), std::string::npos);
}

TEST_F(RegistrationTest, GivesUpAfterTheLastAttempt) {
  manager_.answers = {failing(ErrorCode::kConnectionError)};
  auto identity = run();
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->error().code, ErrorCode::kConnectionError);
  EXPECT_EQ(manager_.requests.size(), 3U);
}

TEST_F(RegistrationTest, EndsWhenItsOwnerStops) {
  manager_.answers = {failing(ErrorCode::kConnectionError)};
  std::optional<core::Result<Identity>> got;
  {
    task::Scope tasks(task::Executor(), nullptr);
    tasks.spawn(keep(register_agent({client_, time_, time_, random_, settings_}, {}), &got));
    EXPECT_EQ(manager_.requests.size(), 1U);
  }
  EXPECT_FALSE(time_.advance_to_next()) << "no attempt is due";
  EXPECT_FALSE(got);
}

TEST_F(RegistrationTest, ARejectionIsFinalAndNamesItsReason) {
  auto rejected = refused("E019");
  rejected["reason"] = "the league has started";
  manager_.answers = {answering(rejected)};
  auto identity = run();
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->error().code, ErrorCode::kLateRegistration);
  EXPECT_NE(identity->error().message.find("the league has started"), std::string::npos);
  EXPECT_EQ(manager_.requests.size(), 1U);
}

TEST_F(RegistrationTest, ARefereeSaysWhatItCanTake) {
  manager_.answers = {answering(envelope::testing::golden("referee_register_response"))};
  auto identity = run(envelope::Role::kReferee);
  ASSERT_TRUE(identity && *identity);
  EXPECT_EQ(manager_.requests[0]["referee_meta"]["max_concurrent_matches"], 4);
  EXPECT_EQ(manager_.requests[0]["referee_meta"]["assignments_in_ack"], true);
  EXPECT_EQ(manager_.requests[0]["referee_meta"]["match_credentials"], true);
}

TEST(TemporaryId, IsAWordOfAtMost64Characters) {
  EXPECT_EQ(temporary_id("my bot!"), "my_bot_");
  EXPECT_EQ(temporary_id(""), "unnamed");
  EXPECT_EQ(temporary_id(std::string(100, 'x')).size(), 64U);
}

/// What third-party managers answer.
struct ForeignAnswer {
  const char* leniency;
  std::function<void(json&)> write;
};

std::vector<ForeignAnswer> foreign_answers() {
  return {
      {"accepted_without_token", [](json& m) { m.erase("auth_token"); }},
      {"accepted_without_token", [](json& m) { m["auth_token"] = ""; }},
      {"status_registered", [](json& m) { m["status"] = "REGISTERED"; }},
      {"result_response",
       [](json& m) {
         m = {{"response", m}};
       }},
      {"sender_manager_with_id", [](json& m) { m["sender"] = "league_manager:LM01"; }},
      {"sender_manager_with_id", [](json& m) { m["sender"] = "league_manager:LEAGUE_MANAGER_01"; }},
      {"timestamp_zone_twice",
       [](json& m) { m["timestamp"] = "2026-11-21T08:30:30.313016+00:00Z"; }},
      {"foreign_conversation_id", [](json& m) { m["conversation_id"] = "conv-0815"; }}};
}

class ForeignManagerTest : public RegistrationTest {
 protected:
  /// The answer of a manager that is not ours, to the conversation of this agent.
  [[nodiscard]] static json answer() {
    auto accepted = envelope::testing::golden("league_register_response");
    for (const char* field : {"league_key", "broadcast_key", "match_credentials"})
      accepted.erase(field);
    accepted["conversation_id"] = "convplayermy_bot_reg001";
    return accepted;
  }
};

TEST_F(ForeignManagerTest, EachFormIsARegistrationAsAGuestAndRefusedInStrictMode) {
  for (const auto& form : foreign_answers()) {
    auto accepted = answer();
    form.write(accepted);
    manager_.answers = {answering(accepted)};
    auto identity = run();
    ASSERT_TRUE(identity && *identity) << accepted << (*identity).error().message;
    EXPECT_EQ((*identity)->id, "P01");
    EXPECT_FALSE((*identity)->is_at_home());
    const auto taken = manager_.notes->leniencies;
    EXPECT_NE(std::ranges::find(taken, form.leniency), taken.end()) << form.leniency;

    peers::PeerClient strict(manager_, envelope::testing::schemas(), time_,
                             envelope::Mode::kStrict);
    const auto got = registered(
        strict, {.display_name = "my bot!",
                 .contact_endpoint = "http://127.0.0.1:8101/mcp",
                 .game_types = {"even_odd"},
                 .manager = *transport::link::parse_endpoint("http://127.0.0.1:8000/mcp")});
    EXPECT_TRUE(got && !*got) << form.leniency;
  }
}

TEST_F(ForeignManagerTest, OneThatSaysItIsOursGivesAToken) {
  auto accepted = answer();
  accepted.erase("auth_token");
  accepted["match_credentials"] = true;
  accepted["league_key"] = std::string(64, 'a');
  manager_.answers = {answering(accepted)};
  auto identity = run();
  ASSERT_TRUE(identity);
  EXPECT_FALSE(*identity);
}

TEST_F(ForeignManagerTest, WhatIsNotUnderstoodIsNamedWithoutItsSecrets) {
  manager_.answers = {answering({{"welcome", "P07"}, {"auth_token", "tok_p07_secretsecret"}})};
  auto identity = run();
  ASSERT_TRUE(identity);
  ASSERT_FALSE(*identity);
  const auto& text = identity->error().message;
  EXPECT_NE(text.find("status is missing"), std::string::npos) << text;
  EXPECT_NE(text.find("received: "), std::string::npos) << text;
  EXPECT_NE(text.find("welcome"), std::string::npos) << text;
  EXPECT_EQ(text.find("secretsecret"), std::string::npos) << text;
}

}  // namespace
}  // namespace league::agent::identity
