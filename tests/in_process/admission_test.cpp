#include <gtest/gtest.h>

#include "common/agent/identity/match_credential.h"
#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using nlohmann::json;

/// What an agent says to a broken message.
struct Verdict {
  int http_status = 200;
  int rpc_code = 0;  ///< 0: a LEAGUE_ERROR as result (the manager only)
  std::string error_code;
  std::string field;

  bool operator==(const Verdict&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Verdict& one) {
    return out << "HTTP " << one.http_status << " " << one.rpc_code << " " << one.error_code
               << " at " << one.field;
  }
};

Verdict verdict_of(const LeagueFixture::Answer& answer) {
  Verdict verdict{answer.http_status, 0, "", ""};
  if (!answer.frame.is_object()) return verdict;
  if (answer.frame.contains("error")) {
    const auto& data = answer.frame["error"]["data"];
    verdict.rpc_code = answer.frame["error"]["code"];
    verdict.error_code = data["error_code"];
    verdict.field = data.value("field", "");
    EXPECT_EQ(answer.frame.contains("result"), false) << answer.frame;
    EXPECT_FALSE(data["error_name"].get<std::string>().empty());
    return verdict;
  }
  const auto& result = answer.frame["result"];
  verdict.error_code = result.value("error_code", "accepted");
  if (result.contains("context")) verdict.field = result["context"].value("field", "");
  return verdict;
}

class Admission : public ::testing::Test {
 protected:
  Admission() {
    league_.register_all();
    league_.run_until([this] { return league_.status()["state"] != "REGISTERING"; });
    league_.settle();
  }

  /// A right message to the agent: LEAGUE_QUERY, ROUND_COMPLETED or CHOOSE_PARITY_CALL.
  [[nodiscard]] json right_message(const std::string& id) const {
    if (id == "league_manager") {
      return league_.message("LEAGUE_QUERY", "player:P01", league_.token_of("P01").reveal(),
                             {{"query_type", "GET_STANDINGS"}});
    }
    if (id == "REF01") {
      return league_.message(
          "ROUND_COMPLETED", "league_manager", league_.token_of("REF01").reveal(),
          {{"round_id", 1},
           {"matches_completed", 1},
           {"next_round_id", nullptr},
           {"summary",
            {{"total_matches", 1}, {"wins", 1}, {"draws", 0}, {"technical_losses", 0}}}});
    }
    auto credential =
        agent::identity::match_credential(league_.token_of("P01"), core::MatchId("R1M1"), 1)
            .reveal();
    return league_.message("CHOOSE_PARITY_CALL", "referee:REF01", credential,
                           {{"match_id", "R1M1"},
                            {"player_id", "P01"},
                            {"game_type", "even_odd"},
                            {"deadline", "2025-01-15T10:31:00Z"}});
  }
  static std::string method_of(const std::string& id) {
    if (id == "league_manager") return "league_query";
    return id == "REF01" ? "notify_round_completed" : "choose_parity";
  }
  Verdict ask(const std::string& id, const json& message) {
    json frame = {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method_of(id)}, {"params", message}};
    auto answer = league_.post(id, frame.dump());
    if (answer.frame.is_object()) {
      EXPECT_EQ(answer.frame["id"], 7);
    }
    return verdict_of(answer);
  }

  LeagueFixture league_{{.players = 2}};
};

constexpr const char* kRoles[] = {"league_manager", "REF01", "P01"};

struct FrameCase {
  const char* name;
  std::string bytes;
  Verdict expected;
};

TEST_F(Admission, BrokenFramesAreRefusedAlikeByEveryRole) {
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  const std::vector<FrameCase> cases = {
      {"no JSON", "]]{{", {400, -32700, "E002", ""}},
      {"nothing", "", {400, -32700, "E002", ""}},
      {"half an object", R"({"jsonrpc":"2.0",)", {400, -32700, "E002", ""}},
      {"bytes that are no UTF-8", "{\"jsonrpc\":\"\xff\"}", {400, -32700, "E002", ""}},
      {"too deep",
       R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + deep + "}",
       {400, -32600, "", ""}},
      {"a key twice",
       R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})",
       {400, -32600, "E026", ""}},
      {"a number", "7", {400, -32600, "E002", ""}},
      {"no version", R"({"id":1,"method":"ping"})", {400, -32600, "E002", "/jsonrpc"}},
      {"version 1.0",
       R"({"jsonrpc":"1.0","id":1,"method":"ping"})",
       {400, -32600, "E002", "/jsonrpc"}},
      {"no method", R"({"jsonrpc":"2.0","id":1})", {400, -32600, "E002", "/method"}},
      {"a method that is a number",
       R"({"jsonrpc":"2.0","id":1,"method":1})",
       {400, -32600, "E002", "/method"}},
      {"params that are text",
       R"({"jsonrpc":"2.0","id":1,"method":"ping","params":"x"})",
       {400, -32600, "E002", "/params"}},
      {"id null", R"({"jsonrpc":"2.0","id":null,"method":"ping"})", {400, -32600, "E002", "/id"}},
      {"id an object",
       R"({"jsonrpc":"2.0","id":{},"method":"ping"})",
       {400, -32600, "E002", "/id"}},
      {"an empty batch", "[]", {400, -32600, "E002", ""}},
      {"a response", R"({"jsonrpc":"2.0","id":1,"result":{}})", {400, -32600, "E007", "/"}},
      {"an unknown method",
       R"({"jsonrpc":"2.0","id":1,"method":"dance"})",
       {200, -32601, "E006", "/method"}},
      {"tools/call without a name",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}})",
       {200, -32602, "E003", "/params/name"}},
      {"a bare message of no type",
       R"({"message_type":"DANCE"})",
       {400, -32600, "E006", "/message_type"}},
  };
  for (const char* role : kRoles) {
    for (const auto& one : cases) {
      auto verdict = verdict_of(league_.post(role, one.bytes));
      auto expected = one.expected;
      if (expected.error_code.empty()) expected.error_code = verdict.error_code;
      if (expected.field.empty()) expected.field = verdict.field;
      EXPECT_EQ(verdict, expected) << role << ": " << one.name;
    }
  }
}

struct MessageCase {
  const char* field;
  json value;  ///< discarded: the field is taken away
  const char* error_code;
};

TEST_F(Admission, BrokenMessagesAreRefusedWithCodeAndField) {
  const json missing = json(json::value_t::discarded);
  const std::vector<MessageCase> cases = {
      {"protocol", "league.v3", "E018"},
      {"protocol", "chess", "E018"},
      {"protocol", missing, "E003"},
      {"message_type", "GAME_OVER", "E007"},
      {"message_type", "DANCE", "E006"},
      {"sender", "nobody", "E025"},
      {"sender", "player:", "E025"},
      {"sender", "player:a b", "E025"},
      {"sender", std::string(30'000, 'x'), "E025"},
      {"sender", 7, "E022"},
      {"sender", missing, "E003"},
      {"sender", nullptr, "E003"},
      {"timestamp", "2025-01-15T10:30:00+02:00", "E021"},
      {"timestamp", "2025-02-30T10:30:00Z", "E021"},
      {"timestamp", "yesterday", "E021"},
      {"timestamp", missing, "E003"},
      {"conversation_id", "", "E023"},
      {"conversation_id", std::string(101, 'c'), "E024"},
      {"conversation_id", missing, "E003"},
      {"auth_token", missing, "E011"},
      {"auth_token", nullptr, "E011"},
      {"auth_token", "", "E011"},
      {"auth_token", "tok_wrong", "E012"},
      {"auth_token", 12, "E022"},
      {"round_id", "one", "E022"},
      {"round_id", 0, "E023"},
  };
  for (const char* role : kRoles) {
    ASSERT_EQ(ask(role, right_message(role)).rpc_code, 0) << role;
    bool is_manager = std::string(role) == "league_manager";
    for (const auto& one : cases) {
      auto message = right_message(role);
      if (one.value.is_discarded()) {
        message.erase(one.field);
      } else {
        message[one.field] = one.value;
      }
      Verdict expected{200, is_manager ? 0 : -32602, one.error_code, "/" + std::string(one.field)};
      EXPECT_EQ(ask(role, message), expected) << role << ": " << one.field << " = " << one.value;
    }
  }
}

TEST_F(Admission, EachRoleHasItsOwnRules) {
  struct Case {
    const char* role;
    json patch;
    Verdict expected;
  };
  const std::vector<Case> cases = {
      {"league_manager", {{"league_id", "league_other"}}, {200, 0, "E008", "/league_id"}},
      {"league_manager", {{"league_id", nullptr}}, {200, 0, "E003", "/league_id"}},
      {"league_manager", {{"sender", "player:P09"}}, {200, 0, "E005", "/sender"}},
      {"league_manager", {{"sender", "referee:REF09"}}, {200, 0, "E013", "/sender"}},
      {"league_manager", {{"sender", "player:REF01"}}, {200, 0, "E005", "/sender"}},
      {"league_manager", {{"sender", "player:P02"}}, {200, 0, "E012", "/auth_token"}},
      {"league_manager", {{"sender", "league_manager"}}, {200, 0, "E014", "/sender"}},
      {"league_manager", {{"query_type", "GET_RICH"}}, {200, 0, "E029", "/query_type"}},
      {"REF01", {{"sender", "player:P01"}}, {200, -32602, "E014", "/sender"}},
      {"REF01", {{"summary", "good"}}, {200, -32602, "E022", "/summary"}},
      {"P01", {{"sender", "player:P02"}}, {200, -32602, "E014", "/sender"}},
      {"P01", {{"match_id", "R1M2"}}, {200, -32602, "E012", "/auth_token"}},
      {"P01", {{"match_id", nullptr}}, {200, -32602, "E003", "/match_id"}},
      {"P01", {{"deadline", "soon"}}, {200, -32602, "E021", "/deadline"}},
      {"P01", {{"deadline", "2020-01-01T00:00:00Z"}}, {200, 0, "accepted", ""}},
  };
  for (const auto& one : cases) {
    auto message = right_message(one.role);
    message.update(one.patch);
    EXPECT_EQ(ask(one.role, message), one.expected) << one.role << ": " << one.patch;
  }
}

TEST_F(Admission, RegistrationsAreRejectedOrRefused) {
  auto request = [&](json meta) {
    json whole = {{"display_name", "late"},
                  {"version", "1.0.0"},
                  {"game_types", json::array({"even_odd"})},
                  {"contact_endpoint", "http://127.0.0.1:9999/mcp"}};
    whole.update(meta);
    auto message =
        league_.message("LEAGUE_REGISTER_REQUEST", "player:late", "", {{"player_meta", whole}});
    return league_.call("league_manager", "register_player", message)["result"];
  };
  auto late = request(json::object());
  EXPECT_EQ(late["message_type"], "LEAGUE_REGISTER_RESPONSE");
  EXPECT_EQ(late["status"], "REJECTED");
  EXPECT_EQ(late["error_code"], "E019");
  EXPECT_EQ(late["player_id"], nullptr);
  EXPECT_FALSE(late["reason"].get<std::string>().empty());
  EXPECT_EQ(request({{"contact_endpoint", "http://169.254.169.254/"}})["error_code"], "E027");
  auto malformed = request({{"version", 7}});
  EXPECT_EQ(malformed["message_type"], "LEAGUE_ERROR");
  EXPECT_EQ(malformed["error_code"], "E022");
}

TEST_F(Admission, EchoesIdsAsTheyCame) {
  for (const char* id : {"0", "-1", "9007199254740993", R"("abc")", R"("")"}) {
    auto answer =
        league_.post("P01", std::string(R"({"jsonrpc":"2.0","id":)") + id + R"(,"method":"ping"})");
    EXPECT_EQ(answer.frame["id"], json::parse(id));
    EXPECT_EQ(answer.frame["result"]["status"], "ok");
  }
}

TEST_F(Admission, ANotificationIsHandledAndNotAnswered) {
  auto message = right_message("P01");
  json frame = {{"jsonrpc", "2.0"}, {"method", "choose_parity"}, {"params", message}};
  auto good = league_.post("P01", frame.dump());
  EXPECT_EQ(good.http_status, 202);
  EXPECT_EQ(good.bytes, "");
  frame["params"].erase("sender");
  auto bad = league_.post("P01", frame.dump());
  EXPECT_EQ(bad.http_status, 202);
  EXPECT_EQ(bad.bytes, "");
}

TEST_F(Admission, ABatchIsAnsweredPartByPart) {
  json frame = {
      {"jsonrpc", "2.0"}, {"id", 1}, {"method", "choose_parity"}, {"params", right_message("P01")}};
  json note = {{"jsonrpc", "2.0"}, {"method", "ping"}};
  json bad = {{"jsonrpc", "2.0"}, {"id", "x"}, {"method", "dance"}};
  auto answer = league_.post("P01", json::array({frame, note, bad, 7}).dump());
  EXPECT_EQ(answer.http_status, 200);
  ASSERT_EQ(answer.frame.size(), 3U);
  EXPECT_EQ(answer.frame[0]["result"]["message_type"], "CHOOSE_PARITY_RESPONSE");
  EXPECT_EQ(answer.frame[1]["error"]["code"], -32601);
  EXPECT_EQ(answer.frame[2]["error"]["code"], -32600);
  EXPECT_EQ(answer.frame[2]["id"], nullptr);
  auto silent = league_.post("P01", json::array({note, note}).dump());
  EXPECT_EQ(silent.http_status, 202);
  EXPECT_EQ(silent.bytes, "");
}

TEST_F(Admission, AnErrorNeverEchoesAWholeToken) {
  auto message = right_message("league_manager");
  message["auth_token"] = "tok_p01_abcdefghijklmnopqrstuvwxyz";
  auto answer = league_.call("league_manager", "league_query", message);
  EXPECT_EQ(answer["result"]["error_code"], "E012");
  EXPECT_EQ(answer.dump().find("tok_p01_a"), std::string::npos) << answer;
}

TEST_F(Admission, TheOperatorsKeyStartsALeagueAndNothingElse) {
  LeagueFixture league({.players = 4});
  auto start = [&](json arguments) {
    return league.call("league_manager", "start_league", std::move(arguments))["result"];
  };
  EXPECT_EQ(start(json::object())["error_code"], "E011");
  EXPECT_EQ(start({{"operator_key", "wrong"}})["error_code"], "E016");
  EXPECT_EQ(start({{"operator_key", league_.token_of("P01").reveal()}})["error_code"], "E016");
  EXPECT_EQ(start({{"operator_key", LeagueFixture::kOperatorKey}})["error_code"], "E039");
}

TEST_F(Admission, OnlyTheOperatorGivesASeatANewToken) {
  auto ask = [&](json arguments) {
    return league_.call("league_manager", "new_agent_token", std::move(arguments))["result"];
  };
  EXPECT_EQ(ask({{"agent_id", "P01"}})["error_code"], "E011");
  EXPECT_EQ(ask({{"agent_id", "P01"}, {"operator_key", "wrong"}})["error_code"], "E016");
  auto old = league_.token_of("P01").reveal();
  EXPECT_EQ(ask({{"agent_id", "P01"}, {"operator_key", old}})["error_code"], "E016");
  json right = {{"operator_key", LeagueFixture::kOperatorKey}};
  EXPECT_EQ(ask(right)["error_code"], "E003");
  right["agent_id"] = "P99";
  EXPECT_EQ(ask(right)["error_code"], "E005");
  right["agent_id"] = "P01";
  std::string token = ask(right)["auth_token"];
  EXPECT_NE(token, old);
  auto query = [&](const std::string& shown) {
    return league_.call("league_manager", "league_query",
                        league_.message("LEAGUE_QUERY", "player:P01", shown,
                                        {{"query_type", "GET_STANDINGS"}}))["result"];
  };
  EXPECT_EQ(query(old)["error_code"], "E012") << "the old one is void";
  EXPECT_EQ(query(token)["success"], true);
}

TEST_F(Admission, OnlyItsManagerStartsAMatchAtAReferee) {
  auto start = [&](json arguments) {
    return verdict_of(league_.post("REF01", json{{"jsonrpc", "2.0"},
                                                 {"id", 1},
                                                 {"method", "start_match"},
                                                 {"params", std::move(arguments)}}
                                                .dump()));
  };
  EXPECT_EQ(start(json::object()), (Verdict{200, -32602, "E011", "/auth_token"}));
  EXPECT_EQ(start({{"auth_token", league_.token_of("P01").reveal()}}),
            (Verdict{200, -32602, "E012", "/auth_token"}));
  auto own = league_.token_of("REF01").reveal();
  EXPECT_EQ(start({{"auth_token", own}}), (Verdict{200, -32602, "E003", "/match"}));
  EXPECT_EQ(start({{"auth_token", own}, {"match", json::array()}}).rpc_code, -32602);
}

TEST_F(Admission, APlayersMemoryIsShownToItselfOnly) {
  auto state = [&](json arguments) {
    return league_.call("P01", "get_player_state", std::move(arguments));
  };
  EXPECT_EQ(state(json::object())["error"]["data"]["error_code"], "E011");
  EXPECT_EQ(
      state({{"auth_token", league_.token_of("P02").reveal()}})["error"]["data"]["error_code"],
      "E012");
  EXPECT_EQ(state({{"auth_token", league_.token_of("P01").reveal()}})["result"]["display_name"],
            "bot_P01");
}

/// A player's attempts to be somebody that it is not.
TEST_F(Admission, APlayerCannotReportAResult) {
  json result = {
      {"winner", "P01"},
      {"score", {{"P01", 3}, {"P02", 0}}},
      {"details", {{"drawn_number", 4}, {"choices", {{"P01", "even"}, {"P02", "odd"}}}}}};
  auto report = [&](const std::string& sender, const std::string& token) {
    auto message = league_.message(
        "MATCH_RESULT_REPORT", sender, token,
        {{"round_id", 1}, {"match_id", "R1M1"}, {"game_type", "even_odd"}, {"result", result}});
    return league_.call("league_manager", "report_match_result", message)["result"]["error_code"];
  };
  auto own = league_.token_of("P01").reveal();
  EXPECT_EQ(report("player:P01", own), "E014");
  EXPECT_EQ(report("referee:REF01", own), "E012");
  EXPECT_EQ(report("referee:P01", own), "E013");
  auto credential =
      agent::identity::match_credential(league_.token_of("P01"), core::MatchId("R1M1"), 1);
  EXPECT_EQ(report("referee:REF01", credential.reveal()), "E012");
}

}  // namespace
}  // namespace league::testing
