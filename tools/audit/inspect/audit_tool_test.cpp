#include "tools/audit/inspect/audit_tool_testing.h"

namespace league::tools::auditor {

/// A manager's log: six refused messages of a stranger, some in the conversation in which P01 has
/// registered, and one of P01 itself.
std::string AuditToolTest::log_with_a_stranger() {
  using enum audit::record::Direction;
  using enum audit::record::Kind;
  std::string manager;
  begin(manager, "league_manager");
  const auto say = [&](const std::string& type, const std::string& by, core::ErrorCode verdict,
                       const std::string& fault) {
    auto in = record(kIn, kRequest, "player:P01", type, {{"sender", "player:P01"}});
    auto out = record(kOut, kReply, "player:P01", "LEAGUE_ERROR", {{"error_code", "E012"}});
    in.notes.conversation_id = out.notes.conversation_id = "convregister";
    in.notes.said_by = by;
    in.notes.verdict = verdict;
    in.notes.fault = fault;
    in.notes.leniencies = {"choice_field"};
    in.call = out.call = ++call_;
    add(manager, in);
    add(manager, out);
  };
  for (int i = 0; i < 6; ++i)
    say(i % 2 == 0 ? "LEAGUE_QUERY" : "LEAGUE_REGISTER_REQUEST", "",
        core::ErrorCode::kAuthTokenInvalid, "a stranger's fault");
  say("LEAGUE_QUERY", "player:P01", core::ErrorCode::kMissingRequiredField, "its own fault");
  return manager;
}

namespace {

TEST_F(AuditToolTest, ShowsAConversationInOrder) {
  lost_match();
  save();
  ASSERT_EQ(audit_show(directory_, "convr1m1001", {}, out_, err_), 0) << err_.str();
  std::string text = out_.str();
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(text.find('\033'), text.npos);
  EXPECT_NE(text.find("conversation convr1m1001  6 messages"), text.npos) << text;
  std::size_t at = 0;
  for (std::string part : {"10:30:00.001000  referee:REF01 -> player:P01     CHOOSE_PARITY_CALL",
                           "deadline=2025-01-15T10:30:30Z",
                           "player:P01    -> referee:REF01  CHOOSE_PARITY_RESPONSE  700 us",
                           "choice=Even", "E004  parity_choice is \"Even\"; send even or odd",
                           "leniency: choice_field", "(no answer)", "30.00 s",
                           "E001  no answer within 30 s", "GAME_OVER", "winner_player_id=P02"}) {
    std::size_t found = text.find(part, at);
    ASSERT_NE(found, text.npos) << part << "\n" << text;
    at = found;
  }
}

TEST_F(AuditToolTest, ShowsTheSameForMachines) {
  lost_match();
  save();
  ASSERT_EQ(audit_show(directory_, "convr1m1001", {.json = true}, out_, err_), 0);
  json result = json::parse(out_.str());
  ASSERT_EQ(result["messages"].size(), 6U);
  EXPECT_EQ(result["messages"][0]["seen_by"], "both");
  EXPECT_EQ(result["messages"][1]["verdict"], "E004");
  EXPECT_EQ(result["messages"][1]["from"], "player:P01");
  EXPECT_EQ(result["messages"][1]["records"].size(), 2U);
  EXPECT_EQ(result["messages"][2]["seen_by"], "sender");
}

TEST_F(AuditToolTest, SaysWhatIsMissing) {
  EXPECT_EQ(audit_show(directory_, "convr1m1001", {}, out_, err_), 2);
  EXPECT_NE(err_.str().find("no conversation logs"), std::string::npos);
  save();
  EXPECT_EQ(audit_show(directory_, "convr9m9001", {}, out_, err_), 1);
  EXPECT_NE(err_.str().find("no conversation convr9m9001"), std::string::npos);
  EXPECT_EQ(audit_log(directory_, "P77", {}, out_, err_), 1);
  EXPECT_NE(err_.str().find("P77 appears in none"), std::string::npos);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(AuditToolTest, TellsABotWhatWasWrong) {
  lost_match();
  save();
  EXPECT_EQ(audit_log(directory_, "P01", {}, out_, err_), 1);
  std::string text = out_.str();
  for (std::string part :
       {"got from  referee:REF01", "sent to   referee:REF01", "fault E004", "send even or odd",
        "fault E001", "CHOOSE_PARITY_CALL: no answer within 30 s", "technical loss",
        "P01 did not answer", "league audit show DIR convr1m1001",
        "choice instead of parity_choice",
        "calls received: 3, answered: 2; requests of its own: 0; faults: 2; technical losses: 1",
        "slowest  30.00 s"}) {
    EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
  }
}

TEST_F(AuditToolTest, FindsAgentsByNameAndReferees) {
  using enum audit::record::Direction;
  using enum audit::record::Kind;
  std::string manager;
  begin(manager, "league_manager");
  for (const auto& [number, name] : {std::pair(1, "other"), std::pair(2, "\u00c4lpha")}) {
    auto asked = record(kIn, kRequest, "player:" + std::to_string(number),
                        "LEAGUE_REGISTER_REQUEST", {{"player_meta", {{"display_name", name}}}});
    auto given =
        record(kOut, kReply, "player:P0" + std::to_string(3 - number), "LEAGUE_REGISTER_RESPONSE",
               {{"player_id", "P0" + std::to_string(3 - number)}});
    asked.call = given.call = static_cast<std::uint64_t>(number);
    add(manager, asked);
    add(manager, given);
  }
  lost_match();
  save();
  const auto path = *audit::log::league_log_path(directory_ / "logs", "l");
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << manager;
  EXPECT_EQ(audit_log(directory_, "\u00e4LPHA", {.json = true}, out_, err_), 1) << err_.str();
  EXPECT_EQ(json::parse(out_.str())["player_id"], "P01");
  out_.str("");
  EXPECT_EQ(audit_log(directory_, "REF01", {.json = true}, out_, err_), 0) << err_.str();
  const json referee = json::parse(out_.str());
  EXPECT_EQ(referee["referee_id"], "REF01");
  EXPECT_EQ(referee["messages"].size(), 1U) << "P01's answer, in its own log";
  EXPECT_EQ(referee["hearsay"], 1) << "that log does not prove who called";
}

TEST_F(AuditToolTest, TellsABotForMachines) {
  lost_match();
  save();
  EXPECT_EQ(audit_log(directory_, "player:P01", {.json = true}, out_, err_), 1);
  json result = json::parse(out_.str());
  EXPECT_EQ(result["player_id"], "P01");
  EXPECT_EQ(result["calls"], 3);
  EXPECT_EQ(result["faults"][0]["code"], "E004");
  EXPECT_EQ(result["faults"][1]["message_type"], "CHOOSE_PARITY_CALL");
  EXPECT_EQ(result["technical_losses"][0]["reason"], "P01 did not answer");
  EXPECT_EQ(result["leniencies"][0]["name"], "choice_field");
  EXPECT_EQ(result["slowest"][0]["elapsed_us"], 30000000);
}

TEST_F(AuditToolTest, SeesTheRegistrationUnderTheTemporaryName) {
  using enum audit::record::Direction;
  using enum audit::record::Kind;
  std::string manager;
  begin(manager, "league_manager");
  auto add_registration = [&](const std::string& name, const std::string& id) {
    auto in = record(kIn, kRequest, "player:" + name, "LEAGUE_REGISTER_REQUEST",
                     {{"player_meta", json::object()}});
    auto out = record(
        kOut, kReply, "player:" + name, "LEAGUE_REGISTER_RESPONSE",
        {{"status", "ACCEPTED"}, {"player_id", id}, {"auth_token", "tok_p01_aaaaaaaaaaaaaaaa"}});
    // All bots that were made from the same page may use the same conversation.
    in.notes.conversation_id = out.notes.conversation_id = "convregister";
    in.notes.said_by = "player:" + id;
    in.call = out.call = ++call_;
    add(manager, in);
    add(manager, out);
  };
  add_registration("alpha", "P01");
  add_registration("beta", "P02");
  std::ofstream(directory_ / "logs" / "league.log.jsonl") << manager;
  EXPECT_EQ(audit_log(directory_, "P01", {.json = true}, out_, err_), 0);
  json result = json::parse(out_.str());
  ASSERT_EQ(result["messages"].size(), 2U);
  EXPECT_EQ(result["messages"][0]["from"], "player:alpha");
  EXPECT_EQ(result["requests"], 1);
}

TEST_F(AuditToolTest, NobodyIsBlamedForWhatOthersSayInItsName) {
  const std::string manager = log_with_a_stranger();
  const auto file = directory_ / "logs" / "league.log.jsonl";
  std::ofstream(file) << manager;
  EXPECT_EQ(audit_log(directory_, "P01", {.json = true}, out_, err_), 1);
  const json result = json::parse(out_.str());
  ASSERT_EQ(result["faults"].size(), 1U) << result["faults"];
  EXPECT_EQ(result["faults"][0]["text"], "its own fault");
  EXPECT_EQ(result["faults"][0]["according_to"], "");
  EXPECT_EQ(result["leniencies"][0]["count"], 1);
  EXPECT_EQ(result["hearsay"], 6);
  EXPECT_EQ(result["messages"].size(), 2U) << "its request and the answer";
  out_.str("");
  audit_log(directory_, "P01", {}, out_, err_);
  EXPECT_NE(out_.str().find("6 messages in this player's name are left out"), std::string::npos);
  EXPECT_EQ(out_.str().find("stranger"), std::string::npos) << out_.str();

  // An old log does not say who said what.
  std::string old = manager;
  old.replace(old.find("\"version\":3"), 11, "\"version\":2");
  std::ofstream(file) << old;
  out_.str("");
  audit_log(directory_, "P01", {.json = true}, out_, err_);
  EXPECT_EQ(json::parse(out_.str())["faults"].size(), 7U);
}

TEST_F(AuditToolTest, FindsWhatAnAgentSaidAndOnRequestWhatOthersSaidInItsName) {
  std::ofstream(directory_ / "logs" / "league.log.jsonl") << log_with_a_stranger();
  FindQuery query{.player = "P01", .error = "any"};
  EXPECT_EQ(audit_find(directory_, query, {.json = true}, out_, err_), 0);
  const json found = json::parse(out_.str());
  ASSERT_EQ(found["records"].size(), 1U);
  EXPECT_EQ(found["records"][0]["said_by"], "player:P01");
  EXPECT_NE(err_.str().find("6 records only claim to be from or to P01"), std::string::npos)
      << err_.str();
  query.hearsay = true;
  out_.str("");
  EXPECT_EQ(audit_find(directory_, query, {}, out_, err_), 0);
  EXPECT_NE(out_.str().find("player:P01 (not proven) -> league_manager"), std::string::npos)
      << out_.str();
}

TEST_F(AuditToolTest, WhatOnlyARefereeSaysIsMarked) {
  lost_match();
  save();
  EXPECT_EQ(audit_log(directory_, "P01", {.json = true}, out_, err_), 1);
  const json result = json::parse(out_.str());
  for (const json& fault : result["faults"]) EXPECT_EQ(fault["according_to"], "REF01");
  EXPECT_EQ(result["leniencies"][0]["according_to"], "REF01");
  out_.str("");
  audit_log(directory_, "P01", {}, out_, err_);
  EXPECT_NE(out_.str().find("send even or odd (according to REF01)"), std::string::npos)
      << out_.str();
  out_.str("");
  EXPECT_EQ(audit_explain(directory_, "R1M1", {}, out_, err_), 0);
  EXPECT_NE(out_.str().find("player:P01 according to REF01, choice_field"), std::string::npos)
      << out_.str();
}

TEST_F(AuditToolTest, APlayerWithoutFaultsIsToldSo) {
  using enum audit::record::Direction;
  using enum audit::record::Kind;
  add(referee_,
      record(kOut, kRequest, "player:P01", "GAME_INVITATION", {{"role_in_match", "PLAYER_A"}}));
  add(referee_, record(kIn, kReply, "player:P01", "GAME_JOIN_ACK", {{"accept", true}}));
  save();
  EXPECT_EQ(audit_log(directory_ / "logs", "P01", {}, out_, err_), 0);
  EXPECT_NE(out_.str().find("no faults"), std::string::npos);
  EXPECT_NE(out_.str().find("accept=true"), std::string::npos);
}

TEST_F(AuditToolTest, OurOwnSearchForItsDialectIsNoFault) {
  using enum audit::record::Direction;
  using enum audit::record::Kind;
  for (auto why : {rpc::kTriesAnotherName, rpc::kTriesAnotherName, rpc::kTriesPlainMcp}) {
    add(referee_, record(kOut, kRequest, "player:P01", "GAME_INVITATION", json::object()));
    auto unknown = record(kIn, kReply, "player:P01", "", nullptr);
    unknown.body =
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}})";
    unknown.notes.verdict = core::ErrorCode::kUnexpectedMessage;
    unknown.notes.fault = why;
    add(referee_, unknown);
  }
  add(referee_, record(kOut, kRequest, "player:P01", "GAME_INVITATION", json::object()));
  add(referee_, record(kIn, kReply, "player:P01", "GAME_JOIN_ACK", {{"accept", true}}));
  save();
  EXPECT_EQ(audit_log(directory_, "P01", {}, out_, err_), 0);
  std::size_t note = out_.str().find("3 answers only showed how the player wants to be called");
  EXPECT_NE(note, std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find("E007"), std::string::npos) << out_.str();
  out_.str("");
  EXPECT_EQ(audit_log(directory_, "P01", {.json = true}, out_, err_), 0);
  EXPECT_EQ(json::parse(out_.str())["searches_for_dialect"], 3);
}

TEST_F(AuditToolTest, APeerCannotPaintOnTheTerminal) {
  using enum audit::record::Direction;
  using enum audit::record::Kind;
  auto evil = record(kIn, kReply, "player:P01\033[2J", "", nullptr);
  evil.body =
      "garbage \033]0;owned\a \xC2\x9B"
      "31m";
  evil.notes.fault = "\033[31m";
  evil.notes.verdict = core::ErrorCode::kMalformedMessage;
  add(referee_, evil);
  save();
  audit_show(directory_, "convr1m1001", {}, out_, err_);
  EXPECT_NE(out_.str().find("garbage"), std::string::npos);
  EXPECT_EQ(out_.str().find('\033'), std::string::npos);
  EXPECT_EQ(out_.str().find("\xC2\x9B"), std::string::npos);
}

TEST_F(AuditToolTest, ExplainsAMatch) {
  lost_match();
  save();
  EXPECT_EQ(audit_explain(directory_, "R1M1", {}, out_, err_), 0);
  for (std::string part :
       {"conversation convr1m1001", "CHOOSE_PARITY_CALL wrongly (E004). The fault is player:P01's",
        "did not answer CHOOSE_PARITY_CALL in time (E001)",
        "sent CHOOSE_PARITY_CALL to player:P01 2 times", "choice_field",
        "only referee:REF01 has a record of", "TECHNICAL_LOSS: P02 wins", "wall clock of player"}) {
    EXPECT_NE(out_.str().find(part), std::string::npos) << part << out_.str();
  }
  EXPECT_EQ(audit_explain(directory_, "R9M9", {}, out_, err_), 1);
  EXPECT_NE(err_.str().find("R9M9"), std::string::npos);
}

TEST_F(AuditToolTest, WritesAPage) {
  lost_match();
  save();
  auto file = directory_ / "page.html";
  EXPECT_EQ(audit_explain(directory_, "R1M1", {.html = file}, out_, err_), 0);
  std::stringstream page;
  page << std::ifstream(file).rdbuf();
  EXPECT_NE(page.str().find("CHOOSE_PARITY_CALL"), std::string::npos);
  EXPECT_EQ(audit_explain(directory_, "R1M1", {.html = directory_ / "none" / "x.html"}, out_, err_),
            2);
  EXPECT_NE(err_.str().find("cannot be written"), std::string::npos);
}

TEST_F(AuditToolTest, ExplainsAMatchThatTheManagerEnded) {
  lost_match();
  save();
  std::filesystem::create_directories(directory_ / "data");
  std::ofstream(directory_ / "data" / "results.json")
      << R"({"format":"league.results","results":[{"match_id":"R2M1","outcome":"B","by":"MANAGER","reason":"PLAYER_SHUT_DOWN"}]})";
  EXPECT_EQ(audit_explain(directory_, "R2M1", {}, out_, err_), 0);
  EXPECT_NE(out_.str().find("ended by the manager itself (PLAYER_SHUT_DOWN): player B wins"),
            std::string::npos)
      << out_.str();
}

TEST_F(AuditToolTest, FindsRecords) {
  lost_match();
  save();
  EXPECT_EQ(audit_find(directory_, {.error = "E004"}, {.json = true}, out_, err_), 0);
  json found = json::parse(out_.str());
  ASSERT_EQ(found["records"].size(), 1U);
  EXPECT_EQ(found["records"][0]["from"], "player:P01");
  out_.str("");
  EXPECT_EQ(audit_find(directory_, {.player = "P01", .type = "GAME_OVER", .match = "R1M1"}, {},
                       out_, err_),
            0);
  EXPECT_NE(out_.str().find("winner_player_id=P02"), std::string::npos);
  EXPECT_EQ(audit_find(directory_, {.since = "2035"}, {}, out_, err_), 1);
  EXPECT_EQ(audit_find(directory_, {.until = "2024"}, {}, out_, err_), 1);
  EXPECT_NE(err_.str().find("records in"), std::string::npos);
  EXPECT_EQ(audit_find(directory_, {.since = "10:30"}, {}, out_, err_), 2);
  EXPECT_NE(err_.str().find("time 10:30 is not"), std::string::npos);
  EXPECT_EQ(audit_find(directory_ / "none", {}, {}, out_, err_), 2);
}

TEST_F(AuditToolTest, UsesColourOnlyWhenTold) {
  lost_match();
  save();
  audit_show(directory_, "convr1m1001", {.colour = true}, out_, err_);
  EXPECT_NE(out_.str().find('\033'), std::string::npos);
}

}  // namespace
}  // namespace league::tools::auditor
