#include "common/transport/link/subject.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/core/random_source.h"

namespace league::transport::link {
namespace {

TEST(BusSession, TakesEightToSixtyFourPlainCharacters) {
  EXPECT_TRUE(BusSession::parse("abcdEF-_"));
  EXPECT_TRUE(BusSession::parse(std::string(64, 'z')));
  EXPECT_FALSE(BusSession::parse(""));
  EXPECT_FALSE(BusSession::parse("abcdefg"));
  EXPECT_FALSE(BusSession::parse(std::string(65, 'z')));
}

TEST(BusSession, TakesNothingThatChangesASubject) {
  for (char c : std::string(".*> \t\r\n/:$\"\0\x7f\xc3", 14)) {
    EXPECT_FALSE(BusSession::parse(std::string("abcd") + c + "efgh")) << static_cast<int>(c);
  }
}

TEST(BusSession, NewOnesAreValidAndDiffer) {
  core::CryptoRandom random;
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    auto session = BusSession::make(random);
    EXPECT_EQ(session.str().size(), 32U);
    EXPECT_EQ(BusSession::parse(session.str()), session);
    seen.insert(session.str());
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(Subjects, FollowFromTheSession) {
  auto session = *BusSession::parse("0f3c0f3c");
  EXPECT_EQ(session_in(session), "mcp.session.0f3c0f3c.in");
  EXPECT_EQ(session_out(session), "mcp.session.0f3c0f3c.out");
  EXPECT_EQ(session_inbox(session, "7"), "_INBOX.0f3c0f3c.7");
}

TEST(Subjects, AnOutNamesItsSession) {
  auto session = *BusSession::parse("3d594650-3436-11e5-bf21-0800200c9a66");
  EXPECT_EQ(session_of_out(session_out(session)), session);
  EXPECT_EQ(session_of_attached(session_attached(session)), session);
  EXPECT_EQ(session_of_attached(session_out(session)), std::nullopt);
  for (const char* other :
       {"", "mcp.session.0f3c0f3c.in", "mcp.session.out", "mcp.session.short.out",
        "mcp.session.0f3c0f3c.x.out", "mcp.session.*.out", "_INBOX.0f3c0f3c"}) {
    EXPECT_EQ(session_of_out(other), std::nullopt) << other;
  }
}

TEST(Subjects, OfEventsHoldNothingThatStrangersChose) {
  EXPECT_EQ(event_subject("league_2026", "MATCH_RESULT"), "mcp.events.league_2026.MATCH_RESULT");
  EXPECT_EQ(event_subject("a.b >*", ""), "mcp.events.a_b___._");
  EXPECT_EQ(event_subject("", "x\r\ny"), "mcp.events._.x__y");
}

TEST(Subjects, AnswersGoToInboxesAndToTheSessionsOwnOut) {
  auto session = *BusSession::parse("0f3c0f3c");
  EXPECT_TRUE(is_answerable("_INBOX.abc.1", nullptr));
  EXPECT_TRUE(is_answerable("_INBOX.abc", &session));
  EXPECT_TRUE(is_answerable("mcp.session.0f3c0f3c.out", &session));
  EXPECT_FALSE(is_answerable("mcp.session.0f3c0f3c.out", nullptr));
  EXPECT_FALSE(is_answerable("mcp.session.0f3c0f3d.out", &session));
  EXPECT_FALSE(is_answerable("mcp.session.0f3c0f3c.in", &session));
}

TEST(Subjects, AnswersGoNowhereElse) {
  for (const char* hostile :
       {"", "_INBOX", "_INBOX.", "_INBOX..a", "_INBOX.a.", "_INBOX.a..b", "_INBOX.*", "_INBOX.>",
        "_INBOX.a b", "_INBOX.a\r\nPUB x 0", "_inbox.a", "mcp.discovery", "mcp.events.l.T",
        "$SYS.REQ.SERVER.PING", "$JS.API.STREAM.DELETE.x", "x_INBOX.a"}) {
    EXPECT_FALSE(is_answerable(hostile, nullptr)) << hostile;
  }
  EXPECT_FALSE(is_answerable(std::string("_INBOX.a\0b", 10), nullptr));
  EXPECT_FALSE(is_answerable("_INBOX." + std::string(300, 'a'), nullptr));
}

TEST(Subject, EachIncarnationOfAJournalHasAStreamOfItsOwn) {
  EXPECT_EQ(journal_stream("cup.1", 12), "LEAGUE_STREAM_12_cup_1");
  EXPECT_EQ(journal_subject("cup.1", 12), "mcp.journal.cup_1.12");
  EXPECT_EQ(journal_incarnation("cup.1", "LEAGUE_STREAM_12_cup_1"), 12U);
  for (const char* other :
       {"LEAGUE_STREAM_12_cup", "LEAGUE_STREAM_012_cup_1", "LEAGUE_STREAM__cup_1",
        "LEAGUE_STREAM_0_cup_1", "LEAGUE_JOURNAL_cup_1", ""})
    EXPECT_FALSE(journal_incarnation("cup.1", other)) << other;
}

}  // namespace
}  // namespace league::transport::link
