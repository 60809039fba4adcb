#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/audit/inspect/explain_text.h"

namespace league::tools::auditor {
namespace {

using audit::log::LogEntry;

constexpr std::int64_t kMs = 1000;
const std::string kReferee = "referee:REF01";
const std::string kPlayer = "player:P01";

/// Two logs of one match; times in microseconds since its beginning, the player's clocks may be
/// others.
class ExplainTest : public ::testing::Test {
 protected:
  LogEntry entry(const std::string& agent, bool outbound, const std::string& kind,
                 const std::string& type, std::int64_t at) {
    LogEntry made;
    bool of_player = agent == kPlayer;
    made.agent = agent;
    made.peer = of_player ? kReferee : kPlayer;
    made.file = of_player ? "P01.log.jsonl" : "REF01.log.jsonl";
    made.seq = made.line = ++lines_;
    made.outbound = outbound;
    made.kind = kind;
    made.message_type = type;
    made.conversation_id = "convr1m1001";
    made.match_id = "R1M1";
    made.time =
        core::UtcTimestamp(core::UtcTimestamp::TimePoint(std::chrono::seconds(1736937000)) +
                           std::chrono::microseconds(at + (of_player ? player_wall_us_ : 0)));
    made.mono_ns = (at + (of_player ? player_mono_us_ : 0)) * 1000 + 1'000'000'000'000;
    return made;
  }

  /// A message with this JSON-RPC id on its way of 200 us; `logged` names who wrote it down.
  void message(bool from_referee, const std::string& kind, const std::string& type, int id,
               std::int64_t at, std::int64_t took = 0, const std::string& logged = "both") {
    auto sent = entry(from_referee ? kReferee : kPlayer, true, kind, type, at);
    auto received = entry(from_referee ? kPlayer : kReferee, false, kind, type, at + 200);
    for (LogEntry* one : {&sent, &received}) {
      one->raw = nlohmann::json{{"jsonrpc", "2.0"},
                                {"id", id},
                                {kind == "request" ? "params" : "result", {{"type", type}}}}
                     .dump();
      if (kind != "request") one->elapsed_us = took;
    }
    if (logged != "receiver") entries_.push_back(sent);
    if (logged != "sender") entries_.push_back(received);
  }

  void failure(const std::string& code, std::int64_t at, std::int64_t waited) {
    auto made = entry(kReferee, false, "failure", "", at);
    made.elapsed_us = waited;
    made.verdict = code;
    made.fault = "the deadline came first";
    entries_.push_back(made);
  }

  Explanation explained() {
    LogEnds log_ends;
    for (const auto& entry : entries_) {
      auto& end = log_ends.try_emplace(entry.agent, entry.time).first->second;
      end = std::max(end, entry.time);
    }
    return explain("convr1m1001", audit::log::merge_records(entries_), log_ends);
  }

  static void expect_one(const std::vector<std::string>& sentences, const std::string& part) {
    ASSERT_EQ(sentences.size(), 1U) << nlohmann::json(sentences).dump(1);
    EXPECT_NE(sentences[0].find(part), std::string::npos) << sentences[0];
  }

  std::int64_t player_wall_us_ = 0;
  std::int64_t player_mono_us_ = 0;
  std::uint64_t lines_ = 0;
  std::vector<LogEntry> entries_;
};

TEST_F(ExplainTest, APlayerThatAnswersTooLateIsAtFault) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  failure("E001", 500 * kMs, 500 * kMs);
  message(false, "reply", "GAME_JOIN_ACK", 7, 900 * kMs, 900 * kMs, "sender");
  message(true, "request", "GAME_OVER", 8, 1000 * kMs);
  auto all = explained();
  expect_one(all.causes,
             "did not answer GAME_INVITATION in time (E001). The fault is player:P01's");
  expect_one(all.causes, "answered after 900.0 ms; referee:REF01 waited 500.0 ms");
  expect_one(all.one_sided, "only player:P01 has a record of GAME_JOIN_ACK: answers that");
}

TEST_F(ExplainTest, ARefereeThatWasLateItselfIsAtFault) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  failure("E001", 500 * kMs, 500 * kMs);
  message(true, "request", "GAME_INVITATION", 8, 600 * kMs);
  failure("E001", 1100 * kMs, 500 * kMs);
  auto clock = [](bool late) {
    return nlohmann::json{{"player_id", "P01"},
                          {"call", "GAME_INVITATION"},
                          {"error_code", "E001"},
                          {"clock",
                           {{"limit_ms", 500},
                            {"scheduling_delay_us", late ? 480'000 : 300},
                            {"canary_us", 700},
                            {"void", late}}}};
  };
  auto report = entry(kReferee, true, "request", "MATCH_RESULT_REPORT", 1200 * kMs);
  report.peer = "league_manager";
  nlohmann::json details = {{"failures", {clock(true), clock(false)}}};
  report.raw = nlohmann::json{{"params", {{"result", {{"details", details}}}}}}.dump();
  entries_.push_back(report);
  auto causes = explained().causes;
  ASSERT_EQ(causes.size(), 2U) << nlohmann::json(causes).dump(1);
  EXPECT_NE(
      causes[0].find(
          "The fault is referee:REF01's, according to its own report: it was late itself (its "
          "own delay was 480.0 ms"),
      std::string::npos)
      << causes[0];
  EXPECT_NE(causes[1].find("says that it was on time (its own delay was 300 us"), std::string::npos)
      << causes[1];
}

TEST_F(ExplainTest, APlayerThatWasNotAskedIsNamed) {
  auto report = entry(kReferee, true, "request", "MATCH_RESULT_REPORT", 0);
  report.peer = "league_manager";
  report.raw =
      R"({"params":{"result":{"details":{"failures":[{"player_id":"P01","error_code":"E038"}]}}}})";
  entries_.push_back(report);
  expect_one(explained().causes, "player:P01 was not asked (E038). The fault is player:P01's");
}

TEST_F(ExplainTest, APlayerThatAnsweredInTimeIsNotAtFault) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  message(false, "reply", "GAME_JOIN_ACK", 7, 3 * kMs, 3 * kMs, "sender");
  failure("E001", 500 * kMs, 500 * kMs);
  expect_one(explained().causes,
             "The fault is not player:P01's, by its own log: it answered after 3.0 ms");
}

TEST_F(ExplainTest, AWaitMayBeAnyNumber) {
  message(true, "request", "GAME_INVITATION", 7, 0, 0, "sender");
  for (const std::int64_t waited : {INT64_MAX, INT64_MIN, INT64_MAX / 1000 + 1})
    failure("E001", 500 * kMs, waited);
  entries_.back().mono_ns = INT64_MAX;
  EXPECT_FALSE(explained().causes.empty());
}

TEST_F(ExplainTest, ACallThatThePlayerNeverSawIsNobodysForSure) {
  message(true, "request", "GAME_INVITATION", 7, 0, 0, "sender");
  failure("E001", 500 * kMs, 500 * kMs);
  message(true, "request", "GAME_OVER", 8, 600 * kMs);
  auto all = explained();
  expect_one(all.causes, "The fault is not clear: player:P01's own log does not have the call");
  expect_one(all.one_sided,
             "only referee:REF01 has a record of GAME_INVITATION, though player:P01");
}

TEST_F(ExplainTest, OneWitnessIsOneWitness) {
  message(true, "request", "GAME_INVITATION", 7, 0, 0, "sender");
  failure("E001", 500 * kMs, 500 * kMs);
  auto all = explained();
  expect_one(all.causes, "according only to referee:REF01");
  expect_one(all.one_sided, "player:P01 keeps no log here");
  EXPECT_EQ(all.steps[0].only_in, "");
}

TEST_F(ExplainTest, ALogThatEndsExplainsAConnectionThatIsGone) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  message(false, "reply", "GAME_JOIN_ACK", 7, 1 * kMs, 1 * kMs);
  message(true, "request", "CHOOSE_PARITY_CALL", 8, 2 * kMs, 0, "sender");
  failure("E009", 4 * kMs, 2 * kMs);
  auto all = explained();
  expect_one(all.causes,
             "could not be reached for CHOOSE_PARITY_CALL (E009). The fault is player:P01's: its "
             "own log ends");
  expect_one(all.one_sided, "the log of player:P01 ends before");
}

TEST_F(ExplainTest, SaysHowFarClocksAreApart) {
  player_wall_us_ = 5000 * kMs;
  player_mono_us_ = 3600 * 1000 * kMs;
  message(true, "request", "GAME_INVITATION", 7, 0);
  message(false, "reply", "GAME_JOIN_ACK", 7, 3 * kMs, 3 * kMs);
  expect_one(explained().clocks,
             "wall clock of player:P01: +5.00 s against referee:REF01's, with an error of at most "
             "200 us; the "
             "monotonic clocks belong to different machines");
}

TEST_F(ExplainTest, ClocksOfOneMachineShowNoDifference) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  message(false, "reply", "GAME_JOIN_ACK", 7, 3 * kMs, 3 * kMs);
  expect_one(explained().clocks,
             "(no measurable difference); monotonic clock: +0 us, so both run on the same machine");
}

TEST_F(ExplainTest, SeesThatAClockWasSet) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  message(false, "reply", "GAME_JOIN_ACK", 7, 3 * kMs, 3 * kMs);
  player_wall_us_ = -2000 * kMs;
  player_mono_us_ = 0;
  message(true, "request", "GAME_OVER", 8, 10 * kMs);
  auto clocks = explained().clocks;
  ASSERT_EQ(clocks.size(), 2U);
  EXPECT_NE(clocks[1].find("the wall clock of player:P01 was set during the match"),
            std::string::npos)
      << clocks[1];
}

TEST_F(ExplainTest, DrawsAnArrowPerMessage) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  message(false, "reply", "GAME_JOIN_ACK", 7, 3 * kMs, 3 * kMs);
  std::ostringstream out;
  print_explanation(explained(), Paint(false), out);
  EXPECT_NE(out.str().find("|------GAME_INVITATION----->|"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("|<------GAME_JOIN_ACK-------|  after 3.0 ms"), std::string::npos);
  EXPECT_NE(out.str().find("10:30:00.003000  +2.8 ms   200 us"), std::string::npos);
}

TEST_F(ExplainTest, APageRunsNothingThatABotHasWritten) {
  const std::string evil = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>";
  message(true, "request", "GAME_INVITATION", 7, 0);
  for (LogEntry& entry : entries_) {
    entry.conversation_id = entry.match_id = entry.message_type = entry.raw = evil;
    entry.verdict = entry.fault = evil;
    entry.leniencies = {evil};
    entry.peer = entry.agent == kReferee ? "player:" + evil : kReferee;
  }
  message(false, "reply", evil, 7, 3 * kMs, 3 * kMs, "sender");
  std::string page = html_of({explain(evil, audit::log::merge_records(entries_), {})}, evil);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("http"), page.find("http-equiv")) << "loads nothing from elsewhere";
}

TEST_F(ExplainTest, APageShowsWhatTheTextShows) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  failure("E001", 500 * kMs, 500 * kMs);
  std::string page = html_of({explained()}, "R1M1");
  for (std::string part :
       {"<svg", "GAME_INVITATION", "E001", "whose fault it was", "REF01.log.jsonl:1"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(ExplainTest, TheSameForMachines) {
  message(true, "request", "GAME_INVITATION", 7, 0);
  auto row = json_of_explanation(explained());
  EXPECT_EQ(row["parties"], (std::vector<std::string>{kReferee, kPlayer}));
  ASSERT_EQ(row["messages"].size(), 1U);
  EXPECT_EQ(row["messages"][0]["way_us"], 200);
  EXPECT_EQ(row["messages"][0]["records"].size(), 2U);
}

}  // namespace
}  // namespace league::tools::auditor
