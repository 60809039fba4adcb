#include <gtest/gtest.h>

#include "common/core/random_source.h"
#include "common/core/signing_key.h"
#include "game/receipt.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/league_testing.h"

/// Losses that both sides are heard about, receipts, and the ends of logs and of the league.
namespace league::tools::auditor {
namespace {

using nlohmann::json;
using Rules = std::vector<std::string>;

json lost_at(TestLeague& league, const std::string& phase) {
  league.lose("TIMEOUT_RESPONSE", "CHOOSE_PARITY_CALL", "E001");
  json report;
  league.change("", "MATCH_RESULT_REPORT", [&](json& one) {
    one["result"]["details"]["failures"][0]["phase"] = phase;
    report = one;
  });
  return report;
}

bool has_rule(const Rules& found, const std::string& rule) {
  return std::ranges::find(found, rule) != found.end();
}

TEST(VerifyEnds, ALossIsHeardOnBothSides) {
  for (const std::string phase : {"connect", "sent", "answered"}) {
    TestLeague league(std::vector<std::string>{});
    lost_at(league, phase);
    EXPECT_FALSE(has_rule(league.found(), "fault loss.unheard")) << "declared nothing";
    league.kept["with_receipts"] = {"P02"};
    EXPECT_EQ(has_rule(league.found(), "fault loss.unheard"), phase != "connect") << phase;
  }
}

TEST(VerifyEnds, AQuestionInJournalAndLogIsHearing) {
  TestLeague league(std::vector<std::string>{});
  json report = lost_at(league, "sent");
  for (const std::string agent : {"league_manager", "referee:REF01"})
    league.drop(agent, "MATCH_RESULT_REPORT");
  league.call("league_manager", "player:P02",
              {{"message_type", "get_match_record"}, {"match_id", "R1M1"}}, {{"match_id", "R1M1"}});
  league.call("referee:REF01", "league_manager", report, {{"status", "ok"}});
  league.kept = {{"with_receipts", {"P02"}},
                 {"questions", {{{"match_id", "R1M1"}, {"attempt", 1}, {"players", {"P02"}}}}}};
  EXPECT_FALSE(has_rule(league.found(), "fault loss.unheard"));
  league.kept.erase("questions");
  EXPECT_TRUE(has_rule(league.found(), "fault loss.unheard"));
}

TEST(VerifyEnds, ACallThatThePlayersLogDoesNotHaveIsUnwitnessed) {
  TestLeague league(std::vector<std::string>{});
  lost_at(league, "sent");
  league.end_match();
  EXPECT_FALSE(has_rule(league.found(), "incident loss.unwitnessed"));
  league.drop("player:P02", "CHOOSE_PARITY_CALL");
  EXPECT_TRUE(has_rule(league.found(), "incident loss.unwitnessed"));
}

TEST(VerifyEnds, ReceiptsAreRecomputedOnceTheirKeysArePublished) {
  const std::string key(64, 'e');
  TestLeague league;
  const game::ReceiptScope scope{.league_key = league.headers["league_key"],
                                 .match_id = "R1M1",
                                 .attempt = 1,
                                 .play = 0,
                                 .draw_commitment = league.promised};
  const std::string choice = game::receipt_of(
      key, game::choice_receipt_text(scope, {.choice = "even",
                                             .nonce = league.nonces["P01"],
                                             .opponent_commitment = league.commitment("P02")}));
  auto of_p01 = [&](const std::string& state, const std::string& receipt) {
    league.kept_row["receipts"] = {{"A", {{"state", state}, {"choice", receipt}}},
                                   {"B", {{"state", "not_declared"}}}};
  };
  of_p01("valid", std::string(64, '0'));
  EXPECT_EQ(league.found(), Rules{}) << "the keys are secret yet";
  league.notes.push_back({{"note", "receipt_keys"},
                          {"time", "2026-01-15T10:31:00.000000Z"},
                          {"mono_ns", 1},
                          {"content", {{"keys", {{"P01", {key}}}}}}});
  league.version = 3;
  EXPECT_EQ(league.found(), Rules{"fault receipt.false"});
  of_p01("valid", choice);
  EXPECT_EQ(league.found(), Rules{});
  of_p01("invalid", "");
  EXPECT_EQ(league.found(), Rules{"incident receipt.invalid"});
}

TEST(VerifyEnds, AnAgentsHeadIsInItsLog) {
  TestLeague league;
  json completed = league.message("ROUND_COMPLETED", "league_manager");
  league.call("league_manager", "player:P01", completed,
              {{"status", "ok"}, {"log_head", {{"seq", 2}, {"hash", std::string(64, '0')}}}});
  Rules found = league.found();
  std::erase(found, "fault schema");
  EXPECT_EQ(found, Rules{"fault witness.agent_head"});
}

TEST(VerifyEnds, TheEndIsSigned) {
  core::CryptoRandom random;
  const auto key = core::SigningKey::generate(random);
  TestLeague league;
  league.headers["league_key"] = key.public_key();
  json completed = league.message("LEAGUE_COMPLETED", "league_manager");
  completed["final_standings"] = json::array();
  const std::string empty = core::to_hex(core::sha256(""));
  const std::string statement = "league.result 1\n" + key.public_key() + "\ntable " + empty +
                                "\nresults x\njournal 1 x\nheads 0 " + empty + "\n";
  completed["attestation"] = {{"statement", statement},
                              {"signature", core::to_hex(key.sign(statement))}};
  league.call("league_manager", "player:P01", completed, {{"status", "ok"}});
  auto found = [&] {
    Rules rules = league.found();
    std::erase(rules, "fault schema");
    return rules;
  };
  EXPECT_EQ(found(), Rules{});
  const json good = completed["attestation"];
  auto attest = [&](const json& attestation) {
    league.change("", "LEAGUE_COMPLETED", [&](json& one) { one["attestation"] = attestation; });
  };
  json other = good;
  other["signature"] = core::to_hex(key.sign("x"));
  attest(other);
  EXPECT_EQ(found(), Rules{"fault attestation.signature"});
  other["statement"] = "league.result 1\n" + key.public_key() + "\ntable x\n";
  other["signature"] = core::to_hex(key.sign(text_at(other, "statement")));
  attest(other);
  EXPECT_EQ(found(), Rules{"fault attestation.differs"});
  attest(nullptr);
  EXPECT_EQ(found(), Rules{});
  league.version = 3;
  EXPECT_EQ(found(), Rules{"missing attestation.absent"});
}

}  // namespace
}  // namespace league::tools::auditor
