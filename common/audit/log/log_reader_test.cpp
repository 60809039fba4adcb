#include "common/audit/log/log_reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/audit/record/record_writer.h"
#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

class LogReaderTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    auto path = directory_ / "x.log.jsonl";
    std::ofstream(path) << text;
    return path;
  }

  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path directory_ = temporary_.path();
};

std::string header() {
  std::string out;
  record::append_header(
      {.agent = "referee:REF01", .league_id = "l", .created = {}, .segment = 3, .first_seq = 1},
      out);
  return out;
}

record::Record broadcast(const std::string& token) {
  record::Record record;
  record.direction = record::Direction::kOut;
  record.broadcast = true;
  record.time = *core::UtcTimestamp::parse("2025-01-15T10:30:00.000007Z");
  record.notes.message_type = "ROUND_COMPLETED";
  record.notes.conversation_id = "convround1completed";
  record.notes.leniencies = {"choice_field"};
  record.notes.verdict = core::ErrorCode::kTimeout;
  record.notes.fault = "late";
  record.elapsed = std::chrono::microseconds(5);
  record.body =
      "{\"auth_token\":\"" + token + "\",\"t\":\"" + std::string(500, 's') + "\xC3\xA4\"}";
  return record;
}

TEST_F(LogReaderTest, ReadsBackWhatWasWrittenAndPutsBroadcastsTogetherAgain) {
  std::string text = header();
  record::RecordWriter writer;
  for (std::uint64_t seq = 1; seq <= 40; ++seq) {
    writer.append(broadcast("tok_p" + std::to_string(seq) + "_aaaaaaaaaaaaaaaaaaaaaaaa"), seq,
                  text);
  }
  std::vector<LogEntry> entries;
  auto summary =
      read_log(write(text), [&](LogEntry entry) { entries.push_back(std::move(entry)); });
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->records, 40U);
  EXPECT_FALSE(summary->torn);
  EXPECT_TRUE(summary->problems.empty());
  const LogEntry& last = entries.back();
  EXPECT_EQ(last.raw,
            "{\"auth_token\":\"tok_p40_...\",\"t\":\"" + std::string(500, 's') + "\xC3\xA4\"}");
  EXPECT_EQ(last.agent, "referee:REF01");
  EXPECT_EQ(last.segment, 3);
  EXPECT_EQ(last.seq, 40U);
  EXPECT_EQ(last.line, 41U);
  EXPECT_EQ(last.time.to_log(), "2025-01-15T10:30:00.000007Z");
  EXPECT_EQ(last.verdict, "E001");
  EXPECT_EQ(last.fault, "late");
  EXPECT_EQ(last.leniencies, std::vector<std::string>{"choice_field"});
  EXPECT_EQ(last.elapsed_us, 5);
  EXPECT_EQ(last.from(), "referee:REF01");
}

TEST_F(LogReaderTest, PutsRepeatedAnswersTogetherAgainBesideBroadcasts) {
  std::string text = header();
  record::RecordWriter writer;
  auto body = [](std::uint64_t seq) {
    return R"({"id":)" + std::to_string(seq) + R"(,"result":")" +
           std::string(3000, static_cast<char>('a' + seq % 10)) + R"("})";
  };
  for (std::uint64_t seq = 1; seq <= 100; ++seq) {
    record::Record record = broadcast("tok");
    if (seq % 3 != 0) {
      record.kind = record::Kind::kReply;
      record.body = body(seq);
    }
    writer.append(record, seq, text);
  }
  auto summary = read_log(write(text), [&](const LogEntry& entry) {
    if (entry.seq % 3 != 0) {
      EXPECT_EQ(entry.raw, body(entry.seq));
    }
  });
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->problems.empty());
}

TEST_F(LogReaderTest, AnAnswerBelongsToTheConversationOfItsRequest) {
  record::RecordWriter writer;
  std::string text = header();
  auto add = [&](record::Kind kind, std::uint64_t call, const std::string& conversation) {
    record::Record record = broadcast("tok");
    record.kind = kind;
    record.call = call;
    record.notes.conversation_id = conversation;
    static std::uint64_t seq = 0;
    writer.append(record, ++seq, text);
  };
  add(record::Kind::kRequest, 1, "one");
  add(record::Kind::kRequest, 2, "two");
  add(record::Kind::kReply, 2, "one");
  add(record::Kind::kFailure, 1, "another");
  add(record::Kind::kReply, 3, "asked elsewhere");
  add(record::Kind::kRequest, 0, "of old");
  add(record::Kind::kReply, 0, "of old");
  std::vector<std::string> conversations;
  ASSERT_TRUE(read_log(
      write(text), [&](const LogEntry& entry) { conversations.push_back(entry.conversation_id); }));
  EXPECT_EQ(conversations, (std::vector<std::string>{"one", "two", "two", "one", "asked elsewhere",
                                                     "of old", "of old"}));
}

TEST_F(LogReaderTest, ATornLastLineIsNoFaultWhereverItIsTorn) {
  std::string text = header();
  record::RecordWriter writer;
  writer.append(broadcast("one"), 1, text);
  std::size_t whole = text.size();
  writer.append(broadcast("two"), 2, text);
  for (std::size_t end = whole + 1; end < text.size() - 1; end += 7) {
    int seen = 0;
    auto summary = read_log(write(text.substr(0, end)), [&](const LogEntry&) { ++seen; });
    ASSERT_TRUE(summary);
    EXPECT_EQ(seen, 1);
    EXPECT_TRUE(summary->torn);
    EXPECT_TRUE(summary->problems.empty());
  }
}

TEST_F(LogReaderTest, NamesALineThatIsNoRecordAndGoesOn) {
  std::string text = header() + "garbage\n[1]\n";
  record::RecordWriter().append(broadcast("one"), 1, text);
  auto path = write(text);
  int seen = 0;
  auto summary = read_log(path, [&](const LogEntry&) { ++seen; });
  ASSERT_TRUE(summary);
  EXPECT_EQ(seen, 1);
  ASSERT_EQ(summary->problems.size(), 2U);
  EXPECT_EQ(summary->problems[0], path.string() + ":2: not a record");
}

TEST_F(LogReaderTest, RefusesWhatIsNoLog) {
  auto ignore = [](const LogEntry&) {};
  EXPECT_FALSE(read_log(directory_ / "none.jsonl", ignore));
  EXPECT_FALSE(read_log(write(""), ignore));
  EXPECT_FALSE(read_log(write("{\"seq\":1}\n"), ignore));
  EXPECT_FALSE(read_log(write("{\"format\":\"other\",\"version\":1}\n"), ignore));
  auto newer = read_log(write("{\"format\":\"league.conversation-log\",\"version\":9}\n"), ignore);
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message.find("version 9"), std::string::npos);
}

TEST_F(LogReaderTest, FindsLogsAtAnyDepthInOrder) {
  for (std::string name : {"b/agents/P01.log.jsonl", "a/league.log.jsonl", "a/other.json"}) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << header();
  }
  EXPECT_EQ(find_logs(directory_),
            (std::vector<std::filesystem::path>{directory_ / "a/league.log.jsonl",
                                                directory_ / "b/agents/P01.log.jsonl"}));
  EXPECT_TRUE(find_logs(directory_ / "missing").empty());
}

}  // namespace
}  // namespace league::audit::log
