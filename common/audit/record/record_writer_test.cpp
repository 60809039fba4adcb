#include "common/audit/record/record_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/core/base64.h"
#include "common/core/crypto.h"

namespace league::audit::record {
namespace {

using nlohmann::json;

Record sample(std::string body) {
  Record record;
  record.direction = Direction::kIn;
  record.kind = Kind::kReply;
  record.time = *core::UtcTimestamp::parse("2025-01-15T10:30:00.123456Z");
  record.mono = core::Clock::Steady(std::chrono::nanoseconds(987654321));
  record.context.type = rpc::TransportType::kHttp;
  record.http_status = 200;
  record.elapsed = std::chrono::microseconds(412);
  record.notes.peer = "player:P01";
  record.notes.conversation_id = "convr1m1001";
  record.notes.message_type = "CHOOSE_PARITY_RESPONSE";
  record.notes.match_id = "R1M1";
  record.body = std::move(body);
  return record;
}

/// Without the chain, whose tests are in log_chain_test.cpp.
std::string line_of(const Record& record, RecordWriter::Options options = {}) {
  options.chained = false;
  RecordWriter writer(options);
  std::string out;
  writer.append(record, 7, out);
  return out;
}

TEST(RecordWriter, WritesTheGoldenLine) {
  Record record =
      sample(R"({"result":{"auth_token":"tok_p01_abcdefghijk","parity_choice":"Even"}})");
  record.notes.leniencies = {"missing_sender", "choice_field"};
  record.notes.verdict = core::ErrorCode::kInvalidParityChoice;
  record.notes.fault = "parity_choice is \"Even\"; send even or odd";
  EXPECT_EQ(
      line_of(record),
      R"({"seq":7,"time":"2025-01-15T10:30:00.123456Z","mono_ns":987654321,"dir":"in","kind":"reply",)"
      R"("peer":"player:P01","transport":"http","conversation_id":"convr1m1001",)"
      R"("message_type":"CHOOSE_PARITY_RESPONSE","match_id":"R1M1","http_status":200,"elapsed_us":412,)"
      R"("leniencies":["missing_sender","choice_field"],"verdict":"E004",)"
      R"("fault":"parity_choice is \"Even\"; send even or odd",)"
      R"("raw":"{\"result\":{\"auth_token\":\"tok_p01_...\",\"parity_choice\":\"Even\"}}"})"
      "\n");
}

TEST(RecordWriter, TheContextStandsBehindTheTransport) {
  Record record = sample("");
  record.context.type = rpc::TransportType::kWebSocket;
  record.context = rpc::TransportContext::web_socket({});
  EXPECT_NE(
      line_of(record).find(R"("transport":"websocket","context":{"frame":"text","final":true,)"
                           R"("compressed":false},"conversation_id")"),
      std::string::npos)
      << line_of(record);
}

TEST(RecordWriter, LeavesOutWhatIsNotKnown) {
  Record record;
  record.time = *core::UtcTimestamp::parse("2025-01-15T10:30:00Z");
  EXPECT_EQ(
      line_of(record),
      R"({"seq":7,"time":"2025-01-15T10:30:00.000000Z","mono_ns":0,"dir":"in","kind":"request","transport":"unknown"})"
      "\n");
}

TEST(RecordWriter, TheCallStandsBehindTheKind) {
  Record record = sample("");
  record.call = 12;
  EXPECT_NE(line_of(record).find(R"("kind":"reply","call":12,"peer":)"), std::string::npos);
}

TEST(RecordWriter, WritesWhatTheWireCarriedAsTheConversation) {
  Record record = sample("");
  record.notes.conversation_id = std::string(30'000, 'c') + " \"\xC3\xA4";
  EXPECT_EQ(json::parse(line_of(record))["conversation_id"], record.notes.conversation_id);
  record.notes.conversation_id = std::string(30'000, 'c');
  EXPECT_FALSE(json::parse(line_of(record, {.max_body = 29'999})).contains("conversation_id"))
      << "a stranger does not fill the disk";
}

TEST(RecordWriter, MasksNamesAsTheBodyIsMasked) {
  const std::string token = "tok_p01_abcdefghijklmnopqrstuvwxyz";
  for (const std::string& id :
       {token, std::string("TOK_P01_ABCDEFGHIJKLMN"), std::string("auth_token=abcdefghijklmnop")}) {
    Record record = sample(json{{"conversation_id", id}}.dump());
    record.notes.conversation_id = id;
    record.notes.match_id = id;
    record.notes.peer = "player:" + token;
    json line = json::parse(line_of(record));
    EXPECT_EQ(line["conversation_id"],
              json::parse(line["raw"].get<std::string>())["conversation_id"]);
    EXPECT_EQ(line["match_id"], line["conversation_id"]);
    EXPECT_NE(line["match_id"], id);
    EXPECT_EQ(line["peer"], "player:tok_p01_...");
  }
}

TEST(RecordWriter, WritesTheHeader) {
  std::string out;
  RecordWriter({.chained = false})
      .append_header({.agent = "player:P01",
                      .league_id = "league_1",
                      .created = *core::UtcTimestamp::parse("2025-01-15T10:30:00Z"),
                      .segment = 2,
                      .first_seq = 41},
                     out);
  EXPECT_EQ(
      out,
      R"({"format":"league.conversation-log","version":3,"agent":"player:P01","league_id":"league_1",)"
      R"("created":"2025-01-15T10:30:00.000000Z","segment":2,"first_seq":41})"
      "\n");
}

TEST(RecordWriter, KeepsTheBodyAsItWasOnTheWire) {
  std::string body;
  for (int c = 0; c < 128; ++c) body += static_cast<char>(c);
  body += "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80 {\"a\" :\t1}";
  EXPECT_EQ(json::parse(line_of(sample(body)))["raw"], body);
}

TEST(RecordWriter, WritesOtherBytesThanUtf8AsBase64AndMasksThemFirst) {
  json line = json::parse(line_of(sample("\xff\xfe tok_p01_abcdefghijklmnopqrstuvwxyz")));
  std::string expected;
  core::append_base64("\xff\xfe tok_p01_...", expected);
  EXPECT_EQ(line["raw_base64"], expected);
  EXPECT_FALSE(line.contains("raw"));
}

TEST(RecordWriter, CutsALongBodyAndSaysHowLongItWas) {
  std::string body = std::string(99, 'x') + "\xC3\xA4" + std::string(50, 'y');
  json line = json::parse(line_of(sample(body), {.max_body = 100}));
  EXPECT_EQ(line["raw"], std::string(99, 'x'));
  EXPECT_EQ(line["raw_bytes"], body.size());
  EXPECT_EQ(line["raw_sha256"], core::to_hex(core::sha256(body)));
}

TEST(RecordWriter, ATokenThatIsCutInTwoIsStillMasked) {
  std::string body = R"({"auth_token":"AAAAAAAABBBBBBBBCCCCCCCC"})";
  EXPECT_EQ(line_of(sample(body), {.max_body = 30}).find("BBBB"), std::string::npos);
}

TEST(RecordWriter, WritesABroadcastOnceAndThenWhatDiffers) {
  std::string table(2000, 's');
  auto body = [&](std::string id, std::string token) {
    return R"({"id":)" + id + R"(,"params":{"auth_token":")" + token + R"(","standings":")" +
           table + R"("}})";
  };
  RecordWriter writer;
  std::string out;
  Record record = sample(body("1", "tok_p01_aaaaaaaaaaaaaaaaaaaa"));
  record.broadcast = true;
  writer.append(record, 1, out);
  EXPECT_EQ(json::parse(out).contains("raw_ref"), false);
  out.clear();
  record.body = body("22", "tok_p02_bbbbbbbbbbbbbbbbbbb");
  writer.append(record, 2, out);
  json line = json::parse(out);
  EXPECT_EQ(line["raw_ref"], 1);
  std::string base = body("1", "tok_p01_...");
  std::size_t before = line["raw_keep"][0];
  std::size_t after = line["raw_keep"][1];
  EXPECT_EQ(
      base.substr(0, before) + line["raw"].get<std::string>() + base.substr(base.size() - after),
      body("22", "tok_p02_..."));
  EXPECT_LT(out.size(), 800U);

  writer.forget_broadcasts();
  out.clear();
  writer.append(record, 3, out);
  EXPECT_FALSE(json::parse(out).contains("raw_ref"));
}

TEST(RecordWriter, WritesARepeatedAnswerByReference) {
  const std::string tools(35'000, 't');
  auto answer = [&](int id, const std::string& list) {
    Record record = sample(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                           R"(,"result":{"tools":")" + list + R"("}})");
    record.kind = Kind::kReply;
    record.broadcast = true;
    return record;
  };
  RecordWriter writer;
  std::string out;
  writer.append(answer(1, tools), 1, out);
  EXPECT_TRUE(json::parse(out)["broadcast"]);
  for (std::uint64_t seq = 2; seq < 100; ++seq) {
    out.clear();
    writer.append(answer(static_cast<int>(seq), tools), seq, out);
    ASSERT_EQ(json::parse(out)["raw_ref"], 1) << seq;
    ASSERT_LT(out.size(), 1000U);
  }
  // Another answer of the same type is one that may be referred to as well.
  out.clear();
  writer.append(answer(100, std::string(5000, 'u')), 100, out);
  EXPECT_TRUE(json::parse(out)["broadcast"]);
  out.clear();
  writer.append(answer(101, tools), 101, out);
  EXPECT_EQ(json::parse(out)["raw_ref"], 1);
}

TEST(RecordWriter, AnswersPushNoBroadcastOut) {
  RecordWriter writer;
  std::string out;
  Record broadcast = sample(R"({"table":")" + std::string(3000, 's') + R"("})");
  broadcast.broadcast = true;
  broadcast.kind = Kind::kRequest;
  writer.append(broadcast, 1, out);
  for (std::uint64_t seq = 2; seq < 30; ++seq) {
    Record answer = sample(std::string(3000, static_cast<char>('A' + seq)));
    answer.kind = Kind::kReply;
    answer.broadcast = true;
    writer.append(answer, seq, out);
  }
  out.clear();
  writer.append(broadcast, 30, out);
  EXPECT_EQ(json::parse(out)["raw_ref"], 1);
}

}  // namespace
}  // namespace league::audit::record
