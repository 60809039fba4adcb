#include "league_manager/journal_stream.h"

#include <gtest/gtest.h>

namespace league::league_manager {
namespace {

TEST(JournalPieces, AreReadAsTheyWereWritten) {
  JournalPiece piece{7, 41, {{"A", R"({"x":"\u00e9\"\\"})"}, {"B", ""}}, true};
  auto read = read_piece(write_piece(piece));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, piece);
  JournalPiece beginning{8, 43, {}, false};
  EXPECT_EQ(*read_piece(write_piece(beginning)), beginning);
}

TEST(JournalPieces, AreRefusedWhenTheyAreNone) {
  for (const char* text :
       {"", "[]", "{}", R"({"term":0,"first_sequence":1,"records":[]})",
        R"({"term":1,"first_sequence":0,"records":[]})", R"({"term":1,"first_sequence":1})",
        R"({"term":1,"first_sequence":1,"records":[{"type":"A"}]})",
        R"({"term":"1","first_sequence":1,"records":[]})"}) {
    auto read = read_piece(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, core::ErrorCode::kInvalidReply);
  }
}

TEST(JournalHads, AreReadAsTheyWereWritten) {
  auto read = read_had(write_had({3, 99}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->term, 3);
  EXPECT_EQ(read->sequence, 99U);
  for (const char* text : {"", "7", "{}", R"({"term":1})", R"({"term":1,"sequence":-1})"})
    EXPECT_FALSE(read_had(text)) << text;
}

}  // namespace
}  // namespace league::league_manager
