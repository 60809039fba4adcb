#include <gtest/gtest.h>

#include <fstream>

#include "common/core/crypto.h"
#include "tests/support/temporary_directory.h"
#include "tools/league/verify_journal.h"
#include "tools/league/verify_league.h"

namespace league::tools {
namespace {

using audit::LogFault;
using nlohmann::json;

const std::string kSeed(64, '5');

std::string commitment_of(const std::string& match) {
  auto bytes = *core::from_hex(kSeed);
  return core::to_hex(core::sha256(std::string(bytes.begin(), bytes.end()) + match));
}

/// The manager's log of a league of P01 and P02 in which R1M1 was promised, and what follows.
class VerifyResultsTest : public ::testing::Test {
 protected:
  VerifyResultsTest() : logs_(1) {
    logs_.reserve(3);  // places point into the logs
    CheckedLog& log = logs_.front();
    log.chain.agent = "league_manager";
    log.facts.files.push_back("league.log.jsonl");
    place_ = {&log.facts.files.front(), 7};
    log.facts.pairings["R1M1"] = {"P01", "P02"};
    log.facts.commitments["R1M1"][commitment_of("R1M1")] = place_;
  }

  void report(const std::string& termination, const std::string& proof) {
    json details = {{"termination", termination}, {"draw_proof", proof}};
    if (proof.empty()) details.erase("draw_proof");
    logs_.front().facts.reports.push_back(
        {"R1M1",
         "referee:REF01",
         "convr1m1001",
         {{"winner", nullptr}, {"score", {{"P01", 0}, {"P02", 0}}}, {"details", details}},
         place_});
  }

  void end() {
    json row = {{"player_id", "P01"}, {"rank", 1},   {"points", 0}, {"wins", 0},
                {"draws", 0},         {"losses", 0}, {"played", 0}};
    json other = row;
    other["player_id"] = "P02";
    if (!logs_.front().facts.reports.empty()) {
      for (json* one : {&row, &other}) (*one)["played"] = (*one)["losses"] = 1;
    }
    logs_.front().facts.final_standings = {row, other};
  }

  void keep(json results) {
    std::ofstream(data_ / "results.json")
        << json{{"format", "league.results"}, {"version", 1}, {"results", std::move(results)}};
  }

  /// `fault draw.proof`, `incident draw.unrevealed`, in order.
  std::vector<std::string> found(const std::vector<DecidedAttempt>& decided = {}) {
    findings_ = {};
    check_results(logs_, data_, decided, findings_);
    std::vector<std::string> rules;
    for (const auto& fault : findings_.faults) rules.push_back("fault " + fault.rule);
    for (const auto& incident : findings_.incidents) rules.push_back("incident " + incident.rule);
    return rules;
  }

  using Rules = std::vector<std::string>;
  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path data_ = temporary_.path();
  std::vector<CheckedLog> logs_;
  Place place_;
  Findings findings_;
};

TEST_F(VerifyResultsTest, EveryReportRevealsItsSeed) {
  report("TIMEOUT_JOIN", kSeed);
  EXPECT_EQ(found(), Rules{});
  logs_.front().facts.reports.clear();
  report("TIMEOUT_JOIN", "");
  EXPECT_EQ(found(), Rules{"fault draw.unrevealed"});
  logs_.front().facts.reports.clear();
  report("TIMEOUT_JOIN", std::string(64, '6'));
  EXPECT_EQ(found(), Rules{"fault draw.proof"});
}

TEST_F(VerifyResultsTest, APromiseThatIsNeverKeptIsAnIncidentWhenTheLeagueIsOver) {
  EXPECT_EQ(found(), Rules{});
  end();
  EXPECT_EQ(found(), Rules{"incident draw.unrevealed"});
  EXPECT_EQ(findings_.incidents.front().line, 7U);
}

TEST_F(VerifyResultsTest, TheKeptSeedOfAMatchWithoutDrawMustBeThePromisedOne) {
  json row = {{"match_id", "R1M1"},
              {"outcome", "NONE"},
              {"by", "MANAGER"},
              {"reason", "NO_REFEREE"},
              {"draw_seed", kSeed}};
  keep({row});
  EXPECT_EQ(found(), Rules{"incident draw.unrevealed"});
  EXPECT_NE(findings_.incidents.front().text.find("NO_REFEREE"), std::string::npos);
  EXPECT_NE(findings_.incidents.front().text.find("the promised one"), std::string::npos);
  row["draw_seed"] = std::string(64, '6');
  keep({row});
  EXPECT_EQ(found(), (Rules{"fault draw.proof", "incident draw.unrevealed"}));
}

TEST_F(VerifyResultsTest, AnAttemptThatIsGivenUpWhenBothHaveChosenIsAnIncident) {
  report("TIMEOUT_JOIN", kSeed);
  EXPECT_EQ(found({{"R1M1", "convr1m1001", place_}}), Rules{});
  EXPECT_EQ(found({{"R1M1", "convr1m1002", place_}}), Rules{"incident draw.abandoned"});
}

TEST_F(VerifyResultsTest, TwoPlayersKnowOfAnAttemptWhoseRefereeLostItsLog) {
  report("TIMEOUT_JOIN", kSeed);
  for (const char* conversation : {"convr1m1001", "convr1m1002"}) {
    logs_.resize(1);
    std::vector<LogFault> faults;
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(check_talks(logs_, faults).empty()) << "one player alone decides nothing";
      logs_.emplace_back().facts.choices[conversation] = {"R1M1", conversation, place_};
    }
    Rules expected;
    if (std::string(conversation) == "convr1m1002") expected = {"incident draw.abandoned"};
    EXPECT_EQ(found(check_talks(logs_, faults)), expected) << conversation;
  }
}

TEST_F(VerifyResultsTest, KeptResultsAreComparedWithTheReports) {
  report("TIMEOUT_JOIN", kSeed);
  end();
  json row = {{"match_id", "R1M1"}, {"outcome", "NONE"}, {"by", "REPORT"}};
  keep({row});
  EXPECT_EQ(found(), Rules{});
  row["outcome"] = "A";
  keep({row});
  EXPECT_EQ(found(), Rules{"fault journal.differs"});
  keep({row, row});
  EXPECT_EQ(found(),
            (Rules{"fault journal.differs", "fault journal.twice", "fault journal.differs"}));
  keep(json::array());
  EXPECT_EQ(found(), Rules{"fault journal.missing"});
  row["outcome"] = "?";
  keep({row});
  EXPECT_EQ(found(), Rules{"fault journal.damaged"});
}

TEST_F(VerifyResultsTest, ARoundThatWasNeverAnnouncedCountsInTheTable) {
  logs_.front().facts.pairings.clear();
  logs_.front().facts.commitments.clear();
  json row = {{"match_id", "R1M1"}, {"outcome", "NONE"}, {"by", "MANAGER"}};
  keep({row});
  end();
  EXPECT_EQ(found(), Rules{"fault table.differs"});
  for (json& one : logs_.front().facts.final_standings) one["played"] = one["losses"] = 1;
  EXPECT_EQ(found(), Rules{});
}

TEST_F(VerifyResultsTest, ResultsAreReadAsTheyWereWritten) {
  KeptLeague league;
  league.results.push_back({"R1M1", league_manager::Outcome::kPlayerBWins, true, "NO_REFEREE", 3});
  league.seeds = {{"R1M1", kSeed}, {"R2M1", std::string(64, '7')}};
  std::string text = results_json(league).dump();
  EXPECT_EQ(text.find(std::string(64, '7')), std::string::npos) << "a seed that is still secret";
  std::ofstream(data_ / "results.json") << text;
  auto read = read_kept_league(data_);
  ASSERT_TRUE(read && *read);
  ASSERT_EQ((*read)->results.size(), 1U);
  EXPECT_EQ((*read)->results[0].match_id, "R1M1");
  EXPECT_EQ((*read)->results[0].outcome, league_manager::Outcome::kPlayerBWins);
  EXPECT_TRUE((*read)->results[0].by_manager);
  EXPECT_EQ((*read)->results[0].reason, "NO_REFEREE");
  EXPECT_EQ((*read)->seeds.at("R1M1"), kSeed);
}

}  // namespace
}  // namespace league::tools
