// In a league of ours nobody but its manager and its referees can do anything with a player or a
// referee, in open mode as in strict mode (protocol §8).
#include <gtest/gtest.h>

#include <functional>

#include "common/envelope/envelope_testing.h"
#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using envelope::testing::golden;
using nlohmann::json;

/// The 18 messages, as somebody would send them who has read the protocol.
std::vector<json> all_messages() {
  std::vector<json> messages;
  for (const auto& row : envelope::all_messages()) {
    std::string name(row.wire_name);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    messages.push_back(golden(name));
    messages.back().erase("auth_token");
  }
  messages.push_back(golden("round_announcement.assignment"));
  messages.back().erase("auth_token");
  // What opens the doors of a guest, and lets a stranger name a token of his own.
  auto announcement = golden("round_announcement");
  announcement["matches"][0]["referee_credential"] = "none";
  announcement.erase("auth_token");
  messages.push_back(std::move(announcement));
  return messages;
}

/// The ways in which referees are started elsewhere (docs/protocol.md).
std::vector<json> all_starts() {
  const json players = {{"player_A_id", "P01"},
                        {"player_B_id", "P02"},
                        {"player_a_id", "P01"},
                        {"player_b_id", "P02"},
                        {"player_A_endpoint", "http://127.0.0.1:8101/mcp"},
                        {"player_B_endpoint", "http://127.0.0.1:8102/mcp"},
                        {"match_id", "R9M9"},
                        {"round_id", 9}};
  std::vector<json> starts;
  for (const char* type : {"START_MATCH", "MATCH_ASSIGNMENT"}) {
    auto message = golden("round_announcement");
    for (const char* field : {"auth_token", "matches"}) message.erase(field);
    message.update(players);
    message["message_type"] = type;
    starts.push_back(std::move(message));
  }
  starts.push_back(players);
  auto assignment = golden("round_announcement.assignment")["matches"][0];
  starts.push_back({{"match", assignment}, {"round_id", 1}});
  return starts;
}

class Strangers : public ::testing::TestWithParam<envelope::Mode> {
 protected:
  static LeagueFixtureOptions options() {
    LeagueFixtureOptions options{.players = 4, .strategies = {"opposite"}};
    options.mode = GetParam();
    return options;
  }

  /// Everything that a stranger could want to change.
  std::string state() {
    json all;
    for (const char* player : {"P01", "P02"}) {
      all[player] = league_.call(player, "get_player_state",
                                 {{"auth_token", league_.token_of(player).reveal()}});
    }
    for (const char* match : {"R1M1", "R9M9"})
      all[match] = league_.call("REF01", "get_match_state", {{"match_id", match}});
    all["running"] = league_.running_matches(0);
    return all.dump();
  }

  void post_all(const json& message, const std::vector<std::string>& methods) {
    const auto name = message.value("message_type", "start");
    for (const std::string& method : methods) {
      send(name, {{"method", method}, {"params", message}});
      send(name, {{"method", method}, {"params", {{"message", message}}}});
      send(name,
           {{"method", "tools/call"}, {"params", {{"name", method}, {"arguments", message}}}});
    }
    if (!message.contains("message_type")) return;
    for (const char* generic : {"handle_message", "mcp_message"})
      send(name, {{"method", generic}, {"params", {{"message", message}}}});
  }

  void send(const std::string& name, json frame) {
    frame["jsonrpc"] = "2.0";
    frame["id"] = 1;
    for (const char* victim : {"P01", "REF01"}) {
      const auto answer = league_.post(victim, frame.dump());
      ++sent_;
      const std::string shown = std::string(victim) + " on " + frame.dump() + ": " + answer.bytes;
      for (const char* owner : {"P01", "P02", "REF01"})
        EXPECT_EQ(answer.bytes.find(league_.token_of(owner).reveal()), std::string::npos) << shown;
      for (const char* secret : {"parity_choice", "choice_commitment", "choice_nonce"})
        EXPECT_EQ(answer.bytes.find(std::string("\"") + secret + "\":"), std::string::npos)
            << shown;
      // Without a token it is acknowledged, and nobody acts on it (protocol §4).
      if (name == "LEAGUE_ERROR" && answer.frame.contains("result")) continue;
      const bool is_tool_error =
          answer.frame.contains("result") && answer.frame["result"].value("isError", false);
      EXPECT_TRUE(answer.frame.contains("error") || is_tool_error) << shown;
    }
  }

  /// Sends everything in every way, without and with a token that is somebody else's.
  void attack() {
    const auto before = state();
    for (const std::string& token : {std::string(), std::string("tok_stranger_0123456789"),
                                     league_.token_of("P03").reveal()}) {
      for (json message : all_messages()) {
        if (!token.empty()) message["auth_token"] = token;
        const auto type =
            envelope::message_type_from_wire(message["message_type"].get<std::string>());
        std::vector<std::string> methods = {message["message_type"]};
        if (!envelope::spec(*type).method.empty())
          methods.emplace_back(envelope::spec(*type).method);
        for (const char* sender : {"league_manager", "referee:REF01", "league_manager:LM01"}) {
          message["sender"] = sender;
          post_all(message, methods);
        }
      }
      for (json start : all_starts()) {
        if (!token.empty()) start["auth_token"] = token;
        post_all(start, {"start_match", "START_MATCH", "assign_match", "notify_round"});
      }
    }
    EXPECT_EQ(state(), before);
  }

  LeagueFixture league_{options()};
  int sent_ = 0;
};

std::vector<std::string> results_of(const LeagueFixture& league) {
  std::vector<std::string> all;
  for (int round = 1; round <= 3; ++round) {
    for (int number = 1; number <= 2; ++number)
      all.push_back(ending_of(league, "R" + std::to_string(round) + "M" + std::to_string(number)));
  }
  for (const auto& over : spoken(league, "P01", audit::record::Direction::kIn,
                                 audit::record::Kind::kRequest, "GAME_OVER")) {
    if (over.verdict) continue;
    auto message = over.message;
    for (const char* field : {"timestamp", "auth_token"}) message.erase(field);
    all.push_back(message.dump());
  }
  return all;
}

TEST_P(Strangers, AreRefusedBeforeDuringAndAfterAMatchAndChangeNothing) {
  LeagueFixture undisturbed(options());
  ASSERT_TRUE(undisturbed.play());

  league_.register_all();
  attack();
  ASSERT_TRUE(
      league_.run_until([&] { return league_.script("P01").arrived("GAME_INVITATION") > 0; }));
  attack();
  ASSERT_TRUE(
      league_.run_until([&] { return league_.script("P01").arrived("CHOOSE_PARITY_CALL") > 0; }));
  attack();
  ASSERT_TRUE(league_.play());
  expect_sound(league_);
  attack();
  EXPECT_EQ(results_of(league_), results_of(undisturbed));
  EXPECT_GT(sent_, 5000);
}

INSTANTIATE_TEST_SUITE_P(InBothModes, Strangers,
                         ::testing::Values(envelope::Mode::kOpen, envelope::Mode::kStrict),
                         [](const auto& mode) {
                           return mode.param == envelope::Mode::kOpen ? "Open" : "Strict";
                         });

}  // namespace
}  // namespace league::testing
