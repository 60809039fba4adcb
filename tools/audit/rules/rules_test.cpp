#include <gtest/gtest.h>

#include <limits>

#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/league_testing.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;
using Rules = std::vector<std::string>;

const std::vector<std::string> kNobody;

/// Changes the report that everybody's log holds.
void change_report(TestLeague& league, const std::function<void(json&)>& change) {
  league.change("", "MATCH_RESULT_REPORT", change);
}

json& details_of(json& report) { return report["result"]["details"]; }

TestRecord& record_of(TestLeague& league, const std::string& agent, const std::string& type) {
  for (TestRecord& one : league.log(agent)) {
    if (text_at(one.message, "message_type") == type) return one;
  }
  throw std::runtime_error(agent + " has no " + type);
}

/// One more report with its answer, in the logs of both.
void report_again(TestLeague& league, const std::function<void(json&)>& change) {
  json report = record_of(league, "league_manager", "MATCH_RESULT_REPORT").message;
  change(report);
  league.call(report["sender"], "league_manager", report, {{"status", "ok"}});
}

/// In a conversation that nobody assigned, as a third-party referee does.
void report_in_its_own_words(TestLeague& league) {
  for (const std::string agent : {"league_manager", "referee:REF01"})
    league.drop(agent, "MATCH_RESULT_REPORT");
  league.conversation = "convownone";
  league.report();
}

TEST(VerifyRules, AnHonestLeagueHasNoFault) {
  EXPECT_EQ(TestLeague().found(), Rules{});
  EXPECT_EQ(TestLeague(std::vector<std::string>{"P02"}).found(), Rules{});
  EXPECT_EQ(TestLeague(kNobody).found(), Rules{});
  EXPECT_EQ(TestLeague(kNobody, true).found(), Rules{}) << "a log without call and league_key";
}

TEST(VerifyRules, AMissingLogIsMissingUnlessItIsKeptElsewhere) {
  for (const std::string agent : {"player:P01", "referee:REF01", "league_manager"}) {
    TestLeague league;
    league.absent = {agent};
    EXPECT_EQ(league.found(), Rules{"missing log.absent"}) << agent;
    EXPECT_EQ(league.found({.without = {agent.substr(agent.find(':') + 1)}}), Rules{}) << agent;
  }
}

TEST(VerifyRules, AMissingJournalIsMissing) {
  TestLeague league;
  league.has_results = false;
  EXPECT_EQ(league.found(), Rules{"missing journal.absent"});
  EXPECT_EQ(league.found({.without = {"journal"}}), Rules{});
}

TEST(VerifyRules, ALogThatWasClosedInOrderHasEverythingThatItSent) {
  TestLeague league;
  league.log("referee:REF01").pop_back();
  league.drop("referee:REF01", "MATCH_RESULT_REPORT");
  EXPECT_EQ(league.found(), Rules{"fault transfer.one_sided"});
}

TEST(VerifyRules, AKillMayCostAFewSecondsAndNoMore) {
  for (std::int64_t quiet_ms : {100, 6000}) {
    TestLeague league(kNobody);
    json query = league.message("LEAGUE_QUERY", "player:P01");
    query["query_type"] = "GET_STANDINGS";
    json reply = league.message("LEAGUE_QUERY_RESPONSE", "league_manager");
    reply["query_type"] = "GET_STANDINGS";
    reply["success"] = true;
    reply["data"] = json::object();
    for (int i = 0; i < 2; ++i) {
      league.call("player:P01", "league_manager", query, reply);
      auto& log = league.log("player:P01");
      log.resize(log.size() - 2);
      league.wait(quiet_ms);
      query["query_params"] = {{"n", i}};
    }
    league.unclosed = {"player:P01"};
    EXPECT_EQ(league.found(),
              Rules{quiet_ms > 5000 ? "fault log.short" : "incident log.tail_lost"});
  }
}

TEST(VerifyRules, AKillMayCostTheAnswerThatTheLastCallFollowsFrom) {
  for (std::int64_t later_ms : {0, 100, 2000}) {
    TestLeague league(kNobody);
    league.log("referee:REF01").pop_back();  // the manager's answer to the report
    league.end_match();
    if (later_ms > 0) {
      league.wait(later_ms);
      league.call("referee:REF01", "player:P01",
                  {{"message_type", "PING"}, {"conversation_id", "convping001"}},
                  {{"status", "ok"}});
    }
    EXPECT_EQ(league.found(), Rules{"fault order.over_before_report"}) << "it ended in order";
    league.unclosed = {"referee:REF01"};
    Rules found = league.found();
    if (later_ms > 1000) {
      EXPECT_EQ(found, Rules{"fault order.over_before_report"});
    } else {
      EXPECT_EQ(found, Rules{}) << later_ms;
    }
  }
}

TEST(VerifyRules, AReportedChoiceIsThePlayersOwn) {
  TestLeague league(kNobody);
  league.change("player:P01", "CHOOSE_PARITY_RESPONSE",
                [](json& answer) { answer["parity_choice"] = "odd"; });
  for (TestRecord& one : league.log("player:P01"))
    if (text_at(one.message, "message_type") == "CHOOSE_PARITY_RESPONSE")
      one.fields["raw_sha256"] = std::string(64, '0');
  Rules found = league.found();
  EXPECT_NE(std::ranges::find(found, "fault choice.differs"), found.end());
}

TEST(VerifyRules, OfAPlayerWithoutALogTheRefereesRecordCounts) {
  TestLeague league(kNobody);
  league.absent = {"player:P01"};
  league.change("referee:REF01", "CHOOSE_PARITY_RESPONSE", [](json& answer) {
    if (answer["player_id"] == "P01") answer["parity_choice"] = "odd";
  });
  EXPECT_EQ(league.found({.without = {"P01"}}), Rules{"fault choice.differs"});
}

TEST(VerifyRules, APlayedMatchIsInThePlayersLog) {
  TestLeague league(kNobody);
  league.drop("player:P01", "CHOOSE_PARITY_CALL");
  Rules found = league.found();
  EXPECT_NE(std::ranges::find(found, "missing choice.absent"), found.end());
}

TEST(VerifyRules, ALossIsContradictedByATimelyAnswer) {
  struct Case {
    const char* termination;
    const char* call;
    const char* code;
    Rules found;
  };
  for (const Case& one :
       {Case{"INVALID_CHOICE", "CHOOSE_PARITY_CALL", "E004", {"fault loss.contradicted"}},
        Case{"CONNECTION_CHOICE", "CHOOSE_PARITY_CALL", "E009", {"incident loss.contradicted"}},
        Case{"CONNECTION_JOIN", "GAME_INVITATION", "E009", {"incident loss.contradicted"}},
        Case{"NOT_ASKED", "CHOOSE_PARITY_CALL", "E038", {}}}) {
    TestLeague league(kNobody);
    league.lose(one.termination, one.call, one.code);
    EXPECT_EQ(league.found(), one.found) << one.termination;
  }
  TestLeague rightly(kNobody);
  rightly.lose("INVALID_CHOICE", "CHOOSE_PARITY_CALL", "E004");
  rightly.change("", "CHOOSE_PARITY_RESPONSE", [](json& answer) {
    if (answer["player_id"] == "P02") answer["parity_choice"] = "Odd";
  });
  for (TestRecord& one : rightly.log("referee:REF01"))
    if (one.message.is_object() && one.message.value("parity_choice", "") == "Odd")
      one.fields["verdict"] = "E004";
  change_report(rightly, [](json& report) { details_of(report)["choices"]["P02"] = nullptr; });
  EXPECT_EQ(rightly.found(), Rules{});
}

TEST(VerifyRules, ALossIsJudgedByTheDeadlineOfTheCall) {
  struct Case {
    const char* sent_at;  ///< empty: that of the call
    std::int64_t limit_ms;
    Rules found;
  };
  const Rules both = {"fault clock.limit", "incident loss.contradicted"};
  for (const Case& one : {Case{"", 30'000, {"incident loss.contradicted"}},
                          Case{"", 29'001, {"incident loss.contradicted"}}, Case{"", 0, both},
                          Case{"", std::numeric_limits<std::int64_t>::max(), both},
                          Case{"2025-01-01T00:00:00Z", 0, {"incident loss.contradicted"}}}) {
    TestLeague league(kNobody);
    league.lose("TIMEOUT_CHOICE", "CHOOSE_PARITY_CALL", "E001");
    const json& call = record_of(league, "player:P02", "CHOOSE_PARITY_CALL").message;
    const std::string sent_at = *one.sent_at != 0 ? one.sent_at : text_at(call, "timestamp");
    change_report(league, [&](json& report) {
      json& failure = details_of(report)["failures"][0];
      failure["elapsed_ms"] = 0;
      failure["clock"] = {{"limit_ms", one.limit_ms}, {"sent_at", sent_at}, {"gave_up_at", sent_at},
                          {"scheduling_delay_us", 0}, {"canary_us", 0},     {"void", false}};
    });
    EXPECT_EQ(league.found(), one.found) << one.limit_ms;
  }
}

TEST(VerifyRules, EachFalseReportIsFoundByItsRule) {
  struct Case {
    const char* rule;
    std::function<void(json&)> change;
  };
  auto number = [](json& report) -> json& { return details_of(report)["drawn_number"]; };
  for (const Case& one : std::vector<Case>{
           {"draw.number",
            [&](json& r) {
              number(r) = number(r) == 1 ? 2 : 1;
              details_of(r).erase("number_parity");
            }},
           {"result.number",
            [](json& r) {
              json& parity = details_of(r)["number_parity"];
              parity = parity == "even" ? "odd" : "even";
            }},
           {"draw.winner",
            [](json& r) {
              r["result"]["winner"] = nullptr;
              r["result"]["score"] = {{"P01", 1}, {"P02", 1}};
            }},
           {"result.winner", [](json& r) { r["result"]["winner"] = nullptr; }},
           {"result.winner", [](json& r) { r["result"]["winner"] = "P99"; }},
           {"result.score", [](json& r) { r["result"]["score"]["P01"] = 2; }},
           {"result.round", [](json& r) { r["round_id"] = 2; }},
           {"result.game", [](json& r) { r["game_type"] = "chess"; }},
           {"result.attempt", [](json& r) { details_of(r)["attempt"] = 2; }},
           {"draw.version", [](json& r) { details_of(r)["draw_version"] = 1; }},
           {"draw.unrevealed", [](json& r) { details_of(r).erase("draw_proof"); }},
           {"draw.proof", [](json& r) { details_of(r)["draw_proof"] = std::string(64, '6'); }},
           {"commitment.dropped",
            [](json& r) { details_of(r)["choice_commitments"]["P01"] = std::string(64, '1'); }},
           {"commitment.opening",
            [](json& r) { details_of(r)["choice_nonces"]["P01"] = std::string(64, '1'); }}}) {
    TestLeague league;
    change_report(league, one.change);
    Rules found = league.found();
    if (std::string(one.rule) == "result.score") std::erase(found, "fault journal.unlogged");
    if (std::string(one.rule) == "commitment.dropped")
      std::erase(found, "fault commitment.opening");
    EXPECT_EQ(found, Rules{std::string("fault ") + one.rule});
  }
}

TEST(VerifyRules, ASecondResultAnUnknownMatchAndAForeignReporterAreFound) {
  TestLeague second(kNobody);
  report_again(second, [](json& report) {
    details_of(report)["termination"] = "BOTH_FAILED";
    details_of(report)["drawn_number"] = details_of(report)["number_parity"] = nullptr;
    report["result"]["winner"] = nullptr;
    report["result"]["score"] = {{"P01", 0}, {"P02", 0}};
  });
  Rules found = second.found();
  std::erase_if(found, [](const auto& one) { return one.starts_with("fault loss."); });
  EXPECT_EQ(found, Rules{"fault result.second"});
  TestLeague unknown(kNobody);
  report_again(unknown, [](json& report) { report["match_id"] = "R7M1"; });
  unknown.has_results = false;
  EXPECT_EQ(unknown.found({.without = {"journal"}}), Rules{"fault result.unknown_match"});
  TestLeague foreign(kNobody);
  for (const std::string agent : {"league_manager"}) {
    foreign.change(agent, "ROUND_ANNOUNCEMENT", [](json& announced) {
      for (json& match : announced["matches"])
        if (match.contains("conversation_id")) match["referee_id"] = "REF02";
    });
  }
  found = foreign.found();
  EXPECT_NE(std::ranges::find(found, "fault authority.report"), found.end());
}

TEST(VerifyRules, ARefereeOfOtherOriginMayLeaveAMatchUnproven) {
  TestLeague league(kNobody);
  league.change("", "REFEREE_REGISTER_REQUEST",
                [](json& request) { request["referee_meta"].erase("match_credentials"); });
  change_report(league, [](json& report) { details_of(report).erase("draw_proof"); });
  EXPECT_EQ(league.found(), Rules{"incident result.unproven"});
}

TEST(VerifyRules, ARefereeOfOtherOriginMayReportAMatchThatItHasAgain) {
  // Its first attempt was taken back and given to another; what it reports names no attempt.
  for (bool had_it : {true, false}) {
    TestLeague league(kNobody);
    league.change("", "REFEREE_REGISTER_REQUEST",
                  [](json& request) { request["referee_meta"].erase("match_credentials"); });
    league.change("league_manager", "ROUND_ANNOUNCEMENT", [had_it](json& announced) {
      for (json& match : announced["matches"]) {
        if (!match.contains("conversation_id")) continue;
        json again = match;
        again["attempt"] = 2;
        again["conversation_id"] = "convr1m1002";
        again["referee_id"] = "REF02";
        if (!had_it) match["referee_id"] = "REF03";
        announced["matches"].push_back(again);
        break;
      }
    });
    report_in_its_own_words(league);
    Rules found = league.found();
    bool is_accused = std::ranges::find(found, "fault authority.report") != found.end();
    EXPECT_EQ(is_accused, !had_it);
    EXPECT_EQ(std::ranges::find(found, "incident draw.abandoned"), found.end());
  }
}

TEST(VerifyRules, DecidedAttemptsBelongToOneLeague) {
  const std::vector<LeagueLog> logs;
  const AcceptedLosses past(nullptr);
  const LeagueEvidence evidence(logs, nullptr);
  const audit::log::LeagueIdentity identity;
  Findings findings;
  findings.decided.push_back({"R1M1", "convr1m1002", {}});
  check_order({.logs = logs, .league = identity, .past = past, .evidence = evidence}, findings);
  EXPECT_TRUE(findings.decided.empty());
}

TEST(VerifyRules, AMatchMayBeGivenToARefereeOfOtherOriginInACallOfItsOwn) {
  for (bool is_given : {true, false}) {
    TestLeague league(kNobody);
    league.change("", "REFEREE_REGISTER_REQUEST",
                  [](json& request) { request["referee_meta"].erase("match_credentials"); });
    json given;
    league.change("league_manager", "ROUND_ANNOUNCEMENT", [&given](json& announced) {
      for (json& match : announced["matches"]) {
        if (!match.contains("conversation_id")) continue;
        if (given.is_null()) given = match;
        match["referee_id"] = "REF02";
      }
    });
    if (is_given) {
      json call = league.message("START_MATCH", "league_manager");
      call.update(given);
      call["attempt"] = 2;
      call["conversation_id"] = "convr1m1002";
      league.call("league_manager", "referee:REF01", call, {{"status", "ok"}});
    }
    report_in_its_own_words(league);
    Rules found = league.found();
    bool is_accused = std::ranges::find(found, "fault authority.report") != found.end();
    EXPECT_EQ(is_accused, !is_given);
  }
}

TEST(VerifyRules, AMatchThatOneRefereeRefusedMayBeTakenByAnotherInTheSameConversation) {
  TestLeague league(kNobody);
  league.change("league_manager", "ROUND_ANNOUNCEMENT", [](json& announced) {
    for (json& match : announced["matches"])
      if (match.contains("conversation_id")) match["referee_id"] = "REF02";
  });
  json call = league.message("START_MATCH", "league_manager");
  call.update({{"match_id", "R1M1"},
               {"player_A_id", "P01"},
               {"player_B_id", "P02"},
               {"referee_id", "REF01"},
               {"attempt", 1},
               {"conversation_id", "convr1m1001"}});
  league.call("league_manager", "referee:REF01", call, {{"status", "ok"}});
  Rules found = league.found();
  EXPECT_EQ(std::ranges::find(found, "fault authority.report"), found.end());
}

TEST(VerifyRules, ACommitmentThatNoSealedLogHoldsIsClaimed) {
  TestLeague league;
  auto forget = [](json& message) {
    message.erase("choice_commitment");
    if (message.contains("context")) message["context"].erase("opponent_commitment");
  };
  league.change("", "GAME_JOIN_ACK", forget);
  league.change("", "CHOOSE_PARITY_CALL", forget);
  EXPECT_EQ(league.found(), Rules{"fault commitment.handed"}) << "a sealed log denies it";
  league.unclosed = {"player:P01", "player:P02"};
  EXPECT_EQ(league.found(), Rules{"incident commitment.claimed"});
}

TEST(VerifyRules, AnAttemptThatIsDeliveredAfterTheEndBindsNobody) {
  for (bool is_told : {false, true}) {
    TestLeague league;
    if (is_told) league.end_match();
    league.attempt = 2;
    league.conversation = "convr1m1002";
    league.nonces["P02"] = std::string(64, 'd');
    league.announce();
    league.invite_and_choose();
    Rules found = league.found();
    bool is_accused = std::ranges::find(found, "fault commitment.second") != found.end();
    EXPECT_EQ(is_accused, !is_told);
  }
}

TEST(VerifyRules, ADisputeIsAnIncidentThatSaysWhoIsSupported) {
  TestLeague league;
  league.dispute();
  Rules found = league.found();
  std::erase(found, "fault schema");  // until the schemas know the query
  EXPECT_EQ(found, Rules{"incident match.disputed"});
}

TEST(VerifyRules, AnotherPromiseToOnePlayerIsFound) {
  TestLeague league(kNobody);
  league.change("referee:REF01", "CHOOSE_PARITY_CALL",
                [](json& call) { call["context"]["draw_commitment"] = std::string(64, '0'); });
  Rules found = league.found();
  EXPECT_NE(std::ranges::find(found, "fault draw.commitment"), found.end());
}

}  // namespace
}  // namespace league::tools::auditor
