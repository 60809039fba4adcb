#include "tools/audit/inspect/audit_commands.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/audit/record/record_writer.h"
#include "tests/support/temporary_directory.h"

namespace league::tools::auditor {
namespace {

/// Logs of a referee and a player who exchange three calls and their answers.
class AuditDiffTest : public ::testing::Test {
 protected:
  using Change =
      std::function<bool(int, audit::record::Record&)>;  ///< false: the record is left out

  /// The log of one of the two, with changes to its records (from 0).
  std::filesystem::path log(const std::string& agent, const std::string& file,
                            const Change& change = {}) {
    bool referee = agent == "referee:REF01";
    std::string text;
    audit::record::RecordWriter writer;
    writer.append_header({.agent = agent, .league_id = "l", .created = {}}, text);
    std::uint64_t seq = 0;
    for (int i = 0; i < 6; ++i) {
      bool request = i % 2 == 0;
      audit::record::Record record;
      record.direction =
          request == referee ? audit::record::Direction::kOut : audit::record::Direction::kIn;
      record.kind = request ? audit::record::Kind::kRequest : audit::record::Kind::kReply;
      record.time =
          core::UtcTimestamp(core::UtcTimestamp::TimePoint(std::chrono::seconds(1736937000 + i)));
      record.mono = core::Clock::Steady(std::chrono::seconds(i));
      record.notes.peer = referee ? "player:P01" : "referee:REF01";
      record.notes.message_type = request ? "CHOOSE_PARITY_CALL" : "CHOOSE_PARITY_RESPONSE";
      record.notes.conversation_id = "convr1m1001";
      record.notes.match_id = i < 4 ? "R1M1" : "R2M1";
      record.body = "{\"id\":" + std::to_string(i) + "}";
      if (!change || change(i, record)) writer.append(record, ++seq, text);
    }
    auto path = directory_ / file;
    std::ofstream(path) << text;
    return path;
  }

  nlohmann::json diff(const std::filesystem::path& a, const std::filesystem::path& b, int expected,
                      const std::string& match = "") {
    out_.str("");
    DiffOptions options{.match = match, .output = {.json = true}};
    EXPECT_EQ(audit_diff(a, b, options, out_, err_), expected) << err_.str();
    return nlohmann::json::parse(out_.str(), nullptr, false);
  }

  static Change without(int which) {
    return [which](int i, audit::record::Record&) { return i != which; };
  }
  static Change other_body(int which) {
    return [which](int i, audit::record::Record& record) {
      if (i == which) record.body = "{\"id\":\"forged\"}";
      return true;
    };
  }

  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path directory_ = temporary_.path();
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(AuditDiffTest, TwoSidesThatAgree) {
  auto result = diff(log("referee:REF01", "a.jsonl"), log("player:P01", "b.jsonl"), 0);
  EXPECT_EQ(result["equal"], 6);
}

TEST_F(AuditDiffTest, AMessageThatOnlyOneSideHas) {
  auto result = diff(log("referee:REF01", "a.jsonl"), log("player:P01", "b.jsonl", without(2)), 1);
  EXPECT_EQ(result["equal"], 5);
  ASSERT_EQ(result["only_first"].size(), 1U);
  EXPECT_EQ(result["only_first"][0]["line"], 4);
  EXPECT_TRUE(result["only_second"].empty());
  EXPECT_TRUE(result["differ"].empty());
}

TEST_F(AuditDiffTest, AMessageThatArrivedOtherwiseThanItWasSent) {
  auto result =
      diff(log("referee:REF01", "a.jsonl"), log("player:P01", "b.jsonl", other_body(3)), 1);
  EXPECT_EQ(result["equal"], 5);
  ASSERT_EQ(result["differ"].size(), 1U);
  EXPECT_EQ(result["differ"][0]["first"]["line"], 5);
  EXPECT_EQ(result["differ"][0]["second"]["line"], 5);
  EXPECT_NE(result["differ"][0]["first"]["raw_sha256"],
            result["differ"][0]["second"]["raw_sha256"]);
}

TEST_F(AuditDiffTest, OnlyOneMatch) {
  auto a = log("referee:REF01", "a.jsonl");
  auto b = log("player:P01", "b.jsonl", other_body(5));
  EXPECT_EQ(diff(a, b, 0, "R1M1")["equal"], 4);
  EXPECT_EQ(diff(a, b, 1, "R2M1")["equal"], 1);
}

TEST_F(AuditDiffTest, CopiesThatAreEqual) {
  auto a = log("player:P01", "a.jsonl");
  EXPECT_TRUE(diff(a, log("player:P01", "b.jsonl"), 0)["first_different_line"].is_null());
}

TEST_F(AuditDiffTest, CopiesPartWhereOneWasChanged) {
  auto a = log("player:P01", "a.jsonl");
  auto result = diff(a, log("player:P01", "b.jsonl", other_body(2)), 1);
  EXPECT_EQ(result["first_different_line"], 4);
  EXPECT_EQ(result["differ"].size(), 1U);
  EXPECT_EQ(result["equal"], 5);
}

TEST_F(AuditDiffTest, ACopyThatWasCutOff) {
  auto a = log("player:P01", "a.jsonl");
  auto result =
      diff(a, log("player:P01", "b.jsonl", [](int i, audit::record::Record&) { return i < 3; }), 1);
  EXPECT_EQ(result["first_different_line"], 5);
  EXPECT_EQ(result["only_first"].size(), 3U);
}

TEST_F(AuditDiffTest, SaysItInWords) {
  auto a = log("referee:REF01", "a.jsonl");
  auto b = log("player:P01", "b.jsonl", without(0));
  EXPECT_EQ(audit_diff(a, b, {}, out_, err_), 1);
  EXPECT_NE(out_.str().find("only in the first   " + a.string() + ":2"), std::string::npos)
      << out_.str();
  EXPECT_NE(out_.str().find("5 messages are in both; 1 only in the first"), std::string::npos);
  std::ofstream(directory_ / "c.jsonl") << "{}\n";
  EXPECT_EQ(audit_diff(a, directory_ / "c.jsonl", {}, out_, err_), 2);
}

}  // namespace
}  // namespace league::tools::auditor
