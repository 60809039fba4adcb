#include <gtest/gtest.h>

#include "common/agent/identity/match_credential.h"
#include "common/core/text.h"
#include "common/envelope/envelope_testing.h"
#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using envelope::testing::golden;
using nlohmann::json;

constexpr std::size_t kLong = 40'000;

/// What is sent in place of values: nothing of ours has such a run of letters.
std::string long_text() { return std::string(kLong, 'x'); }
/// The same behind what is right so far; shorter, since there are many of them.
std::string continued(const std::string& right) { return right + std::string(kLong / 10, 'x'); }

/// The places of all texts in `message`, and of all objects.
void find_places(const json& message, const json::json_pointer& here,
                 std::vector<json::json_pointer>& texts, std::vector<json::json_pointer>& objects) {
  if (message.is_string()) texts.push_back(here);
  if (message.is_object()) {
    objects.push_back(here);
    for (const auto& [key, value] : message.items()) find_places(value, here / key, texts, objects);
  } else if (message.is_array()) {
    for (std::size_t i = 0; i < message.size(); ++i)
      find_places(message[i], here / i, texts, objects);
  }
}

class Echo : public ::testing::Test {
 protected:
  Echo() {
    league_.register_all();
    league_.run_until([this] { return league_.status()["state"] != "REGISTERING"; });
    league_.settle();
  }

  /// The golden message, from who may send it to `to`.
  [[nodiscard]] json right(const std::string& name, const std::string& to) const {
    json message = golden(name);
    const std::string sender = message["sender"];
    message["league_id"] =
        league_.message("LEAGUE_QUERY", "player:P01", "", json::object())["league_id"];
    if (sender.starts_with("referee:") && to.starts_with("P")) {
      message["sender"] = "referee:REF01";
      message["auth_token"] =
          agent::identity::match_credential(league_.token_of(to), core::MatchId("R1M1"), 1)
              .reveal();
    } else if (sender == "league_manager") {
      message["auth_token"] = league_.token_of(to).reveal();
    } else if (!name.ends_with("register_request")) {
      std::string id = sender.starts_with("referee:") ? "REF01" : "P01";
      message["sender"] = sender.substr(0, sender.find(':') + 1) + id;
      message["auth_token"] = league_.token_of(id).reveal();
    }
    return message;
  }
  void expect_short(const std::string& to, const json& frame, const std::string& what) {
    const std::string bytes = league_.post(to, frame.dump()).bytes;
    EXPECT_EQ(bytes.find(std::string(core::kMostEchoed + 1, 'x')), std::string::npos)
        << to << ", " << what << ": " << bytes.size() << " bytes, " << bytes.substr(0, 300);
    EXPECT_LT(bytes.size(), 4000U) << to << ", " << what << ": " << bytes.substr(0, 300);
  }
  void try_every_field(const std::string& to, const std::string& method, const json& message) {
    std::vector<json::json_pointer> texts;
    std::vector<json::json_pointer> objects;
    find_places(message, json::json_pointer(), texts, objects);
    json frame = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}};
    for (const auto& place : texts) {
      for (bool is_continued : {false, true}) {
        json changed = message;
        changed[place] = is_continued ? continued(message[place]) : long_text();
        frame["params"] = std::move(changed);
        expect_short(to, frame, method + " " + place.to_string());
      }
    }
    for (const auto& place : objects) {
      json changed = message;
      changed[place][long_text()] = long_text();
      frame["params"] = std::move(changed);
      expect_short(to, frame, method + " a key in " + place.to_string());
    }
  }

  LeagueFixture league_{{.players = 2}};
};

TEST_F(Echo, NoAnswerRepeatsALongValue) {
  struct Case {
    const char* to;
    const char* message;
  };
  for (const auto& [to, name] : std::vector<Case>{{"league_manager", "referee_register_request"},
                                                  {"league_manager", "league_register_request"},
                                                  {"league_manager", "match_result_report"},
                                                  {"league_manager", "league_query"},
                                                  {"REF01", "round_announcement.assignment"},
                                                  {"REF01", "round_completed"},
                                                  {"REF01", "league_completed"},
                                                  {"P01", "round_announcement"},
                                                  {"P01", "game_invitation"},
                                                  {"P01", "choose_parity_call"},
                                                  {"P01", "game_error"},
                                                  {"P01", "league_standings_update"},
                                                  {"P01", "league_error"}}) {
    json message = right(name, to);
    auto type = envelope::message_type_from_wire(message["message_type"].get<std::string>());
    ASSERT_TRUE(type) << name;
    try_every_field(to, std::string(envelope::spec(*type).method), message);
  }
}

TEST_F(Echo, NorDoesOneToAFrameOrATool) {
  const std::vector<std::pair<std::string, json>> calls = {
      {long_text(), json::object()},
      {"tools/call", {{"name", long_text()}}},
      {"tools/call", {{"name", "ping"}, {"arguments", {{long_text(), long_text()}}}}},
      {"tools/call", {{"name", "league_query"}, {"arguments", {{"sender", long_text()}}}}},
      {"tools/list", {{"cursor", long_text()}}},
      {"resources/read", {{"uri", long_text()}}},
      {"resources/subscribe", {{"uri", long_text()}}},
      {"prompts/get", {{"name", long_text()}}},
      {"completion/complete",
       {{"ref", {{"type", long_text()}, {"name", long_text()}}},
        {"argument", {{"name", long_text()}, {"value", long_text()}}}}},
      {"initialize", {{"protocolVersion", long_text()}}},
      {"logging/setLevel", {{"level", long_text()}}},
      {"start_league", {{"operator_key", long_text()}}},
      {"new_agent_token",
       {{"operator_key", LeagueFixture::kOperatorKey}, {"agent_id", long_text()}}},
      {"start_match", {{"auth_token", long_text()}, {"match", {{"match_id", long_text()}}}}},
      {"get_match_state", {{"match_id", long_text()}, {"auth_token", long_text()}}},
      {"get_player_state", {{"auth_token", long_text()}}},
      {"get_standings", {{"offset", long_text()}}},
      {"get_my_report", {{"sender", long_text()}, {"auth_token", long_text()}}},
      {"message", {{"message_type", long_text()}}},
  };
  for (const char* to : {"league_manager", "REF01", "P01"}) {
    for (const auto& [method, params] : calls) {
      json frame = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
      expect_short(to, frame, method.substr(0, 40));
    }
    expect_short(to, {{"jsonrpc", long_text()}, {"id", 1}, {"method", "ping"}}, "jsonrpc");
    expect_short(to, {{"message_type", long_text()}}, "a bare message");
    expect_short(to, {{long_text(), 1}}, "a key");
    json twice = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}};
    std::string text = twice.dump();
    text.insert(1, "\"" + long_text() + "\":1,\"" + long_text() + "\":2,");
    EXPECT_LT(league_.post(to, text).bytes.size(), 1000U);
  }
}

TEST_F(Echo, NorWhatIsNotJsonOrNoNumberOfOurs) {
  const std::string digits(kLong, '9');
  for (const char* to : {"league_manager", "REF01", "P01"}) {
    for (const std::string& value :
         {digits, "-" + digits, digits + ".5", digits + "e" + digits, "1e" + digits, "0" + digits,
          "\"" + digits, "\"\\" + digits + "\"", "nul" + digits, "[" + digits, "{" + digits,
          "\"\xff" + digits + "\""}) {
      for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
               {"", ""},
               {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)", "}"},
               {R"({"jsonrpc":"2.0","method":"ping","id":)", "}"},
               {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":)", "}}"},
               {R"({"jsonrpc":"2.0","id":1,"method":)", "}"}}) {
        const std::string bytes = league_.post(to, before + value + after).bytes;
        EXPECT_EQ(bytes.find(std::string(core::kMostEchoed + 1, '9')), std::string::npos)
            << to << ": " << before << ", " << bytes.size() << " bytes: " << bytes.substr(0, 300);
        EXPECT_LT(bytes.size(), 4000U) << to << ": " << before << ": " << bytes.substr(0, 300);
      }
    }
  }
}

}  // namespace
}  // namespace league::testing
