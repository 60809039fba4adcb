#include "league_manager/standby/journal_stream.h"

#include <gtest/gtest.h>

namespace league::league_manager::standby {
namespace {

TEST(JournalPieces, AreReadAsTheyWereWritten) {
  JournalPiece piece{7, 41, {{"A", R"({"x":"\u00e9\"\\"})"}, {"B", ""}}, true};
  JournalPiece packed{7, 41, {{"A", std::string(10'000, 'a')}, {"B", ""}}, false, true};
  JournalPiece beginning{8, 43, {}, false, false, Replication::kSync};
  for (const auto& one : {piece, packed, JournalPiece{8, 43, {}, false}, beginning}) {
    auto read = read_piece(write_piece("l", one));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, one);
  }
  EXPECT_EQ(write_piece("l", piece).subject, "mcp.journal.l");
  EXPECT_EQ(write_piece("l", packed).subject, "mcp.journal.l.packed");
  EXPECT_LT(write_piece("l", packed).payload.size(), 1'000U);
}

TEST(JournalPieces, AreRefusedWhenTheyAreNone) {
  for (const char* text :
       {"", "[]", "{}", R"({"term":0,"first_sequence":1,"records":[]})",
        R"({"term":1,"first_sequence":0,"records":[]})", R"({"term":1,"first_sequence":1})",
        R"({"term":1,"first_sequence":1,"records":[{"type":"A"}]})",
        R"({"term":"1","first_sequence":1,"records":[]})",
        R"({"term":1e46,"first_sequence":1,"records":[]})"}) {
    for (const char* subject : {"mcp.journal.l", "mcp.journal.l.packed"}) {
      auto read = read_piece({subject, {}, {}, text, false});
      ASSERT_FALSE(read) << text;
      EXPECT_EQ(read.error().code, core::ErrorCode::kInvalidReply);
    }
  }
}

TEST(JournalHads, AreReadAsTheyWereWritten) {
  auto read = read_follower_position(write_follower_position({3, 99}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->term, 3);
  EXPECT_EQ(read->sequence, 99U);
  for (const char* text : {"", "7", "{}", R"({"term":1})", R"({"term":1,"sequence":-1})"})
    EXPECT_FALSE(read_follower_position(text)) << text;
}

}  // namespace
}  // namespace league::league_manager::standby
