#include "common/audit/record/log_chain.h"

#include <gtest/gtest.h>

#include "common/audit/record/record_writer.h"
#include "common/core/signing_key.h"

namespace league::audit::record {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(LogChain, EachLineHoldsTheHashOfTheOneBeforeAndItsOwn) {
  RecordWriter writer;
  std::string text;
  writer.append_header({.agent = "a", .league_id = {}, .created = {}}, text);
  writer.append(Record{}, 1, text);
  writer.append_seal({.agent = "a", .seq = 1, .time = {}, .head = {}, .signature = "00"}, text);
  std::string prev(kNoLine);
  for (const std::string& line : lines_of(text)) {
    auto parts = chained_line(line);
    ASSERT_TRUE(parts) << line;
    EXPECT_EQ(parts->prev, prev);
    EXPECT_EQ(parts->hash, core::to_hex(core::sha256(parts->covered)));
    EXPECT_EQ(parts->covered.size() + 9 + 1 + 64 + 2, line.size());
    prev = parts->hash;
  }
  EXPECT_EQ(writer.chain().hash(), prev);
}

TEST(LogChain, TheHashOfABodyIsThatOfTheBytesOnTheWire) {
  RecordWriter writer;
  Record record;
  std::string body = R"({"auth_token":"tok_p01_abcdefghijklmnop"})";
  record.body = body;
  std::string text;
  writer.append(record, 1, text);
  EXPECT_NE(text.find("\"raw_sha256\":\"" + core::to_hex(core::sha256(body)) + '"'), text.npos);
  EXPECT_EQ(text.find("abcdefghijkl"), text.npos);
}

TEST(LogChain, LinesWithoutAChainAreNotTaken) {
  std::string text;
  RecordWriter().append(Record{}, 1, text);
  std::string good = lines_of(text)[0];
  EXPECT_TRUE(chained_line(good));
  for (std::size_t cut = 1; cut < good.size(); cut += 3) {
    EXPECT_FALSE(chained_line(good.substr(0, good.size() - cut)));
  }
  for (std::size_t at = good.size() - 140; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = 'Z';
    EXPECT_FALSE(chained_line(bad)) << at;
  }
  EXPECT_FALSE(chained_line(""));
}

TEST(LogChain, ASealIsSignedWithAllThatItSays) {
  core::CryptoRandom random;
  auto key = core::SigningKey::generate(random);
  Seal seal{
      .agent = "player:P01", .seq = 7, .time = {}, .head = std::string(kNoLine), .signature = {}};
  EXPECT_EQ(signed_text(seal),
            "league.conversation-log seal 2\nplayer:P01\n7\n"
            "1970-01-01T00:00:00.000000Z\nopen\n" +
                std::string(kNoLine) + "\n");
  std::string signature = core::to_hex(key.sign(signed_text(seal)));
  EXPECT_TRUE(core::is_signature_of(key.public_key(), signed_text(seal), signature));
  seal.closed = true;
  EXPECT_FALSE(core::is_signature_of(key.public_key(), signed_text(seal), signature));
}

}  // namespace
}  // namespace league::audit::record
