#include <gtest/gtest.h>

#include "tests/support/temporary_directory.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/league_testing.h"

/// An agent that changes its own log and seals it again is judged by the records of the others.
namespace league::tools::auditor {
namespace {

using nlohmann::json;
using Rules = std::vector<std::string>;

bool is_of(const json& message, const std::string& player) {
  return text_at(message, "player_id") == player;
}

/// Keeps the digest of a record whose message is changed afterwards, as a careful liar does.
void keep_digests(TestLeague& league, const std::string& agent, const std::string& type) {
  for (TestRecord& one : league.log(agent)) {
    if (text_at(one.message, "message_type") != type) continue;
    json frame = {{"jsonrpc", "2.0"}, {"id", 1}};
    frame[one.is_reply ? "result" : "params"] = one.message;
    one.fields["raw_sha256"] = core::to_hex(core::sha256(frame.dump()));
  }
}

TEST(VerifyOthers, BothCopiesOfAMessageAreAlike) {
  for (int version : {2, 3}) {
    TestLeague league;
    league.version = version;
    keep_digests(league, "player:P01", "CHOOSE_PARITY_RESPONSE");
    league.change("player:P01", "CHOOSE_PARITY_RESPONSE",
                  [](json& answer) { answer["timestamp"] = "2026-01-15T10:31:00Z"; });
    EXPECT_EQ(league.found(), version == 2 ? Rules{} : Rules{"fault transfer.differs"}) << version;
  }
}

TEST(VerifyOthers, AnAnswerThatWasChangedIsOneFinding) {
  TestLeague league;
  league.version = 3;
  keep_digests(league, "player:P01", "CHOOSE_PARITY_RESPONSE");
  league.change("player:P01", "CHOOSE_PARITY_RESPONSE",
                [](json& answer) { answer["parity_choice"] = "odd"; });
  EXPECT_EQ(league.found(), Rules{"fault transfer.differs"});
}

TEST(VerifyOthers, AnAnswerHasItsCallAndNoCallHasTwoAnswers) {
  TestLeague orphan;
  orphan.end_match();
  auto& log = orphan.log("player:P01");
  log.erase(log.end() - 2);  // GAME_OVER, but not its acknowledgement
  EXPECT_EQ(orphan.found(), (Rules{"fault reply.orphan", "fault transfer.one_sided"}));
  TestLeague twice;
  twice.end_match();
  TestRecord second = twice.log("player:P01").back();
  second.message["status"] = "no";
  twice.log("player:P01").push_back(second);
  EXPECT_EQ(twice.found(), Rules{"fault reply.second"});
}

TEST(VerifyOthers, AReceiverHasWhatItAcknowledged) {
  for (const std::string type : {"GAME_OVER", "ROUND_ANNOUNCEMENT"}) {
    for (bool is_killed : {false, true}) {
      TestLeague league;
      league.end_match();
      league.drop("player:P01", type);
      if (is_killed) league.unclosed = {"player:P01"};
      EXPECT_EQ(league.found(), is_killed ? Rules{} : Rules{"fault transfer.one_sided"}) << type;
    }
  }
  TestLeague manager;
  manager.drop("league_manager", "MATCH_RESULT_REPORT");
  manager.has_results = false;
  EXPECT_EQ(manager.found({.without = {"journal"}}), Rules{"fault transfer.one_sided"});
}

TEST(VerifyOthers, APlayerIsToldWhatWasReported) {
  TestLeague honest;
  honest.end_match();
  EXPECT_EQ(honest.found(), Rules{});
  TestLeague league;
  league.end_match();
  for (const std::string agent : {"player:P01", "referee:REF01"}) {
    bool is_first = true;  // only P01 is told this
    league.change(agent, "GAME_OVER", [&](json& over) {
      if (std::exchange(is_first, false)) over["game_result"]["winner_player_id"] = "P09";
    });
  }
  EXPECT_EQ(league.found(), Rules{"fault over.contradicts"});
}

TEST(VerifyOthers, ACommitmentCountsOnlyIfTheOpponentsAnsweredCallHadIt) {
  auto forget = [](json& call) {
    if (is_of(call, "P01")) call["context"].erase("opponent_commitment");
  };
  TestLeague league;
  league.change("", "CHOOSE_PARITY_CALL", forget);
  EXPECT_EQ(league.found(), Rules{"fault commitment.handed"});
  TestLeague unsealed;
  unsealed.change("", "CHOOSE_PARITY_CALL", forget);
  unsealed.unclosed = {"player:P01"};
  EXPECT_EQ(unsealed.found(), Rules{}) << "no proof, so the match is only claimed to be fair";
  TestLeague other;
  other.change("", "CHOOSE_PARITY_CALL", [](json& call) {
    if (is_of(call, "P01")) call["context"]["opponent_commitment"] = std::string(64, '7');
  });
  EXPECT_EQ(other.found(), Rules{"fault commitment.handed"});
}

TEST(VerifyOthers, ASecondCallDoesNotMakeTheFirstOneGood) {
  TestLeague league;
  league.change("", "CHOOSE_PARITY_CALL", [](json& call) {
    if (is_of(call, "P01")) call["context"].erase("opponent_commitment");
  });
  for (const std::string agent : {"league_manager", "referee:REF01"})
    league.drop(agent, "MATCH_RESULT_REPORT");
  league.invite_and_choose();
  league.report();
  Rules found = league.found();
  EXPECT_NE(std::ranges::find(found, "fault commitment.handed"), found.end());
}

TEST(VerifyOthers, ACallThatLeftBeforeTheOtherHadJoinedIsLate) {
  TestLeague league;
  std::int64_t joined_ns = 0;
  for (TestRecord& one : league.log("referee:REF01")) {
    const std::string& type = text_at(one.message, "message_type");
    if (type == "GAME_JOIN_ACK" && is_of(one.message, "P02"))
      joined_ns = one.fields["mono_ns"].get<std::int64_t>();
    if (type == "CHOOSE_PARITY_CALL" && is_of(one.message, "P01"))
      one.fields["mono_ns"] = joined_ns - 1;
  }
  EXPECT_EQ(league.found(), Rules{"fault commitment.handed"});
}

TEST(VerifyOthers, ACallOfAnotherAttemptIsNotLate) {
  TestLeague league;
  auto& log = league.log("referee:REF01");
  const auto joined = std::ranges::find_if(log, [](const TestRecord& one) {
    return text_at(one.message, "message_type") == "GAME_JOIN_ACK" && is_of(one.message, "P02");
  });
  ASSERT_NE(joined, log.end());
  std::int64_t now = joined->fields["mono_ns"].get<std::int64_t>() - 3;
  std::vector<TestRecord> other;  // of an attempt whose assignment no log has
  for (TestRecord one : log) {
    const std::string& type = text_at(one.message, "message_type");
    if (!type.starts_with("CHOOSE_PARITY") || !is_of(one.message, "P01")) continue;
    one.message["conversation_id"] = one.fields["conversation_id"] = "convr1m1999";
    one.fields["call"] = one.fields["call"].get<int>() + 1000;
    one.fields["mono_ns"] = ++now;
    other.push_back(std::move(one));
  }
  ASSERT_EQ(other.size(), 2U);
  log.insert(joined, other.begin(), other.end());
  const Rules found = league.found();
  EXPECT_EQ(std::ranges::find(found, "fault commitment.handed"), found.end());
}

TEST(VerifyOthers, ARefereesRecordOfTheReportIsEvidence) {
  TestLeague league;
  league.drop("league_manager", "MATCH_RESULT_REPORT");
  league.kept["results"] = {{{"match_id", "R1M1"}, {"outcome", "DRAW"}, {"by", "REPORT"}}};
  league.unclosed = {"league_manager"};
  Rules found = league.found();
  EXPECT_EQ(std::ranges::find(found, "fault journal.unlogged"), found.end());
}

TEST(VerifyOthers, AThirdPartyRefereeMayCallInOneConversationAndReportInAnother) {
  TestLeague league(std::vector<std::string>{});
  league.change("", "REFEREE_REGISTER_REQUEST",
                [](json& request) { request["referee_meta"].erase("match_credentials"); });
  for (const std::string agent : {"league_manager", "referee:REF01"})
    league.drop(agent, "MATCH_RESULT_REPORT");
  for (const std::string agent : {"player:P01", "player:P02", "referee:REF01"}) {
    for (const char* type : {"GAME_INVITATION", "CHOOSE_PARITY_CALL"}) league.drop(agent, type);
  }
  league.conversation = "convownone";
  league.invite_and_choose();
  league.conversation = "convowntwo";
  league.report();
  EXPECT_EQ(league.found(), Rules{});
}

TEST(VerifyOthers, ADisputeIsDecidedOnlyByItsOwnClaim) {
  auto text_of = [](TestLeague& league, const std::string& reason) {
    for (const std::string agent : {"player:P01", "league_manager"})
      league.change(agent, "LEAGUE_QUERY",
                    [&](json& query) { query["query_params"]["reason"] = reason; });
    const league::testing::TemporaryDirectory temporary;
    league.write(temporary.path());
    auto report = verify_directory(temporary.path(), {});
    for (const auto& one : report->incidents)
      if (one.rule == "match.disputed") return one.text;
    return std::string();
  };
  TestLeague league;
  league.dispute();
  EXPECT_NE(text_of(league, "I do not like it").find("the records do not decide"),
            std::string::npos);
  const std::string never =
      "choice_commitments: the opponent's commitment was never handed over to us";
  EXPECT_NE(text_of(league, never).find("support the report"), std::string::npos);
  league.change("", "CHOOSE_PARITY_CALL", [](json& call) {
    if (is_of(call, "P01")) call["context"].erase("opponent_commitment");
  });
  EXPECT_NE(text_of(league, never).find("support P01"), std::string::npos);
}

TEST(VerifyOthers, ACopyOfARunningLeagueIsNotOfOneMoment) {
  TestLeague league;
  league.has_results = false;
  league.files["data/results.json"] = {{"format", "league.results"}, {"results", json::array()}};
  EXPECT_EQ(league.found(), Rules{"fault journal.missing"});
  league.unclosed = {"league_manager"};
  EXPECT_EQ(league.found(), Rules{"missing journal.missing"});
}

json manifest(const json& left_out) {
  return {{"format", "league.bundle"}, {"left_out", left_out}};
}

TEST(VerifyOthers, AManifestPermitsNothing) {
  TestLeague league;
  league.absent = {"player:P01"};
  league.files["MANIFEST.json"] =
      manifest({{{"what", "logs/agents/P01.log.jsonl"}, {"why", "not ours"}},
                {{"name", "keys"}, {"what", "x"}}});
  EXPECT_EQ(league.found(), (Rules{"missing bundle.left_out", "missing log.absent"}));
  EXPECT_EQ(league.found({.without = {"P01"}}), Rules{"missing bundle.left_out"});
  EXPECT_EQ(league.found({.without = {"P01", "keys"}}), Rules{});
}

TEST(VerifyOthers, TheFilesOfABundleAreThoseOfItsManifest) {
  TestLeague league;
  league.files["MANIFEST.json"] = manifest(json::array());
  league.files["MANIFEST.json"]["files"] = {{{"path", "data/results.json"}, {"sha256", "0"}},
                                            {{"path", "data/gone.json"}, {"sha256", "0"}}};
  EXPECT_EQ(league.found(), (Rules{"fault bundle.differs", "missing bundle.file"}));
}

/// A match's file as its referee writes it.
json match_file(const TestLeague& league, const json& report) {
  return {{"league_id", "l"},
          {"league_key", league.headers.at("league_key")},
          {"round_id", 1},
          {"match_id", "R1M1"},
          {"game_type", "even_odd"},
          {"attempt", 1},
          {"referee_id", "REF01"},
          {"player_A_id", "P01"},
          {"player_B_id", "P02"},
          {"draw_commitment", league.promised},
          {"made_by", "referee"},
          {"state", "FINISHED"},
          {"result", report["result"]},
          {"lifecycle", {{{"state", "FINISHED"}, {"at", "2026-01-15T10:30:04Z"}}}},
          {"transcript",
           {{{"from", "P01"}, {"to", "REF01"}, {"parity_choice", "even"}},
            {{"from", "P02"}, {"to", "REF01"}, {"parity_choice", "odd"}}}}};
}

TEST(VerifyOthers, AFileOfThisLeagueIsComparedInAllItsFields) {
  TestLeague league;
  json report;
  league.change("league_manager", "MATCH_RESULT_REPORT", [&](json& one) { report = one; });
  const json good = match_file(league, report);
  json& file = league.files["data/matches/l/R1M1.json"];
  file = good;
  EXPECT_EQ(league.found(), Rules{});
  const json wrong = {{"round_id", 2},
                      {"game_type", "chess"},
                      {"attempt", 2},
                      {"referee_id", "REF02"},
                      {"player_A_id", "P02"},
                      {"player_B_id", "P03"},
                      {"draw_commitment", nullptr},
                      {"result", {{"winner", "P09"}}},
                      {"lifecycle", {{{"state", "REFUSED"}}}},
                      {"transcript", {{{"from", "P01"}, {"parity_choice", "odd"}}}}};
  for (const auto& [key, value] : wrong.items()) {
    file = good;
    file[key] = value;
    EXPECT_EQ(league.found(), Rules{"fault projection.match"}) << key;
  }
  file = good;
  file["attempt"] = 2;
  file["league_key"] = std::string(64, 'd');
  EXPECT_EQ(league.found(), Rules{}) << "another league's";
  file.erase("league_key");
  EXPECT_EQ(league.found(), Rules{}) << "nobody knows whose";
  league.kept["files_keyed"] = true;
  EXPECT_EQ(league.found(), Rules{"fault projection.match"});
}

TEST(VerifyOthers, ARecordThatHasNoFileOfItsOwnYetIsComparedToo) {
  TestLeague league;
  json report;
  league.change("league_manager", "MATCH_RESULT_REPORT", [&](json& one) { report = one; });
  json record = match_file(league, report);
  const std::string torn = record.dump().substr(0, 40);
  const std::string good = record.dump();
  record["attempt"] = 2;
  json& lines = league.files["data/matches/l/REF01.jsonl"];
  lines = good + '\n' + torn + '\n' + good + '\n' + torn;
  EXPECT_EQ(league.found(), Rules{});
  lines = good + '\n' + record.dump() + '\n';
  EXPECT_EQ(league.found(), Rules{"fault projection.match"});
}

}  // namespace
}  // namespace league::tools::auditor
