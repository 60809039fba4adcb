#include "common/rpc/shown_subject.h"

#include <gtest/gtest.h>

namespace league::rpc {
namespace {

TEST(ShownSubject, OnlyTheBeginningOfNamesIsShown) {
  EXPECT_EQ(shown_subject("mcp.session.0123456789abcdef.in"), "mcp.session.01234567....in");
  EXPECT_EQ(shown_subject("mcp.session.12345678.out"), "mcp.session.12345678.out");
  EXPECT_EQ(shown_subject("_INBOX.0123456789.abcdefghijk.17"), "_INBOX.01234567....abcdefgh....17");
}

TEST(ShownSubject, OthersAreShownWhole) {
  for (const char* subject :
       {"", "mcp.discovery", "mcp.events.league_2026_even_odd.standings", "mcp.session", "_INBOX"})
    EXPECT_EQ(shown_subject(subject), subject);
}

TEST(ShownSubject, OddTextsDoNoHarm) {
  EXPECT_EQ(shown_subject("_INBOX."), "_INBOX.");
  EXPECT_EQ(shown_subject("mcp.session.."), "mcp.session..");
  EXPECT_EQ(shown_subject("_INBOX....0123456789"), "_INBOX....01234567...");
}

}  // namespace
}  // namespace league::rpc
