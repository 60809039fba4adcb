#include "league_manager/files/journal_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/core/crypto.h"
#include "common/core/signing_key.h"
#include "common/journal/memory_journal_testing.h"
#include "league_manager/core/league_testing.h"
#include "league_manager/events/event_codec.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager::files {
namespace {

namespace fs = std::filesystem;
using testing::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kLeague = "cup";

class EvidenceTest : public ::testing::Test {
 protected:
  EvidenceTest() { put("secret.key", "x"); }

  void put(const fs::path& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary | std::ios::app) << text;
  }
  void put_table(std::uint64_t entry, int second, int matches = 0) const {
    put(fs::path("leagues") / kLeague / "standings.json",
        R"({"schema_version":"1.0.0","league_id":"cup","journal_entry":)" + std::to_string(entry) +
            R"(,"last_updated":")" + at(second).to_log() + R"(","matches_completed":)" +
            std::to_string(matches) + R"(,"standings":[{"journal_entry":99}]})");
  }
  void put_match(const std::string& match, int second,
                 const std::string& state = "FINISHED") const {
    put(fs::path("matches") / kLeague / (match + ".json"),
        R"({"state":")" + state + R"(","lifecycle":[{"state":"X","at":")" + at(second).to_log() +
            R"("}]})");
  }
  /// The public half of log.key, which is made.
  [[nodiscard]] std::string log_key() const {
    core::CryptoRandom random;
    return core::SigningKey::open(root_ / "log.key", random)->public_key();
  }
  void begin_log(const std::string& public_key) const {
    put(kLog,
        R"({"format":"league.conversation-log","version":2,"public_key":")" + public_key + "\"}\n");
  }
  static std::string record(const char* direction, const char* kind, int second,
                            const std::string& rest) {
    return std::string(R"({"seq":1,"time":")") + at(second).to_log() + R"(","dir":")" + direction +
           R"(","kind":")" + kind + R"(","peer":"referee:REF01","conversation_id":"convr1m1001",)" +
           rest + "}\n";
  }
  void log_report(const std::string& answer, int second = 5, const char* more = "") const {
    put(kLog, record("in", "request", second,
                     R"("message_type":"MATCH_RESULT_REPORT","match_id":"R1M1")"));
    put(kLog, record("out", "reply", second,
                     std::string(more) + R"("match_id":"R1M1","raw":")" + answer + '"'));
  }
  [[nodiscard]] std::vector<std::string> missing(const JournalContent& content) const {
    return find_missing({DataDirectory(root_), logs_, kLeague}, content);
  }
  /// A league with two players, a referee and the result of R2M1.
  static JournalContent some_league() {
    JournalContent content;
    content.entries = 10;
    content.league_id = kLeague;
    content.since = at(1);
    content.players = 2;
    content.referees = 1;
    content.finished = {{2, 1}};
    return content;
  }

  league::testing::TemporaryDirectory directory_;
  const fs::path root_ = directory_.path();
  const fs::path logs_ = directory_.path() / "logs";
  static constexpr const char* kLog = "logs/league/cup/league.log.jsonl";
};

TEST_F(EvidenceTest, ADirectoryWithoutFilesLacksNothing) {
  EXPECT_THAT(missing({}), IsEmpty());
  EXPECT_THAT(missing(some_league()), IsEmpty());
}

TEST_F(EvidenceTest, ATableOfALaterEntry) {
  put_table(11, 5);
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("made from entry 11")));
  EXPECT_THAT(missing({}), ElementsAre(HasSubstr("standings.json")));
}

TEST_F(EvidenceTest, ATableWithMoreResults) {
  put_table(10, 5, 2);
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("has 2 results")));
}

TEST_F(EvidenceTest, ATableThatAgreesOrIsOfAnEarlierLeague) {
  put_table(10, 5, 1);
  EXPECT_THAT(missing(some_league()), IsEmpty());
  fs::remove_all(root_ / "leagues");
  put_table(99, 0);
  EXPECT_THAT(missing(some_league()), IsEmpty());
}

TEST_F(EvidenceTest, ATableThatALossOfPowerHasDamagedClaimsNothing) {
  put(fs::path("leagues") / kLeague / "standings.json", R"({"journal_entry":99,"last_upd)");
  EXPECT_THAT(missing(some_league()), IsEmpty());
}

TEST_F(EvidenceTest, MatchesThatAreFinished) {
  put_match("R1M1", 5);
  put_match("R1M2", 5);
  put_match("R2M1", 5);
  put_match("R3M1", 5, "DRAWING_NUMBER");
  put_match("R3M2", 0);
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("the result of R1M1 and 1 more")));
}

TEST_F(EvidenceTest, MatchesThatHaveNoFileOfTheirOwnYet) {
  auto line = [](const std::string& match, const std::string& state) {
    return R"({"match_id":")" + match + R"(","state":")" + state +
           R"(","lifecycle":[{"state":"X","at":")" + at(5).to_log() + "\"}]}\n";
  };
  put(fs::path("matches") / kLeague / "REF01.jsonl",
      "{\"match_id\":\"R1M2\n" + line("R1M1", "FINISHED") + line("R1M2", "REFUSED") +
          line("x", "FINISHED") + line("R2M1", "FINISHED") + line("R3M1", "FINISHED"));
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("the result of R1M1 and 1 more")));
}

TEST_F(EvidenceTest, MatchesOfOthersInADirectoryWhereNoManagerHasBeen) {
  put_match("R1M1", 5);
  fs::remove(root_ / "secret.key");
  EXPECT_THAT(missing({}), IsEmpty());
}

TEST_F(EvidenceTest, AMarkOfALaterEntryOrOfAnotherJournal) {
  journal::JournalMark(root_ / "journal.mark").write({11, {}});
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("names entry 11")));
  journal::JournalMark(root_ / "journal.mark").write({9, {}});
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("names another entry 9")));
  auto whole = some_league();
  whole.has_marked = true;
  EXPECT_THAT(missing(whole), IsEmpty());
}

TEST_F(EvidenceTest, AReportThatTheManagerHasAccepted) {
  begin_log(log_key());
  log_report(R"({\"result\":{\"match_id\":\"R1M1\",\"status\":\"ok\"}})");
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("R1M1 was accepted")));
  auto whole = some_league();
  whole.finished = {{1, 1}, {2, 1}};
  EXPECT_THAT(missing(whole), IsEmpty());
}

TEST_F(EvidenceTest, AReportThatCameAsAToolsCall) {
  begin_log(log_key());
  log_report(
      R"({\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"status\\\":\\\"ok\\\"}\"}]}})");
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("R1M1 was accepted")));
}

TEST_F(EvidenceTest, AnswersThatAcceptNothing) {
  begin_log(log_key());
  log_report(
      R"({\"id\":\"\\\"status\\\":\\\"ok\\\"\",\"result\":{\"message_type\":\"LEAGUE_ERROR\"}})");
  log_report(R"({\"result\":{\"status\":\"ok\"}})", 5, R"("verdict":"E003",)");
  log_report(R"({\"result\":{\"status\":\"ok\"}})", 0);  // of an earlier league
  put(kLog,
      record("out", "reply", 5, R"("match_id":"R1M1","raw":"{\"result\":{\"status\":\"ok\"}}")"));
  put(kLog, R"({"seq":1,"time":"2025-01-)");
  EXPECT_THAT(missing(some_league()), IsEmpty());
}

TEST_F(EvidenceTest, AnAgentThatTheManagerHasAccepted) {
  begin_log(log_key());
  auto accepted = [&](const char* id) {
    put(kLog,
        record("out", "reply", 5,
               std::string(R"("message_type":"LEAGUE_REGISTER_RESPONSE","raw":)") +
                   R"("{\"result\":{\"status\":\"ACCEPTED\",\"player_id\":\")" + id + R"(\"}}")"));
  };
  accepted("P02");
  EXPECT_THAT(missing(some_league()), IsEmpty());
  accepted("P03");
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("P03 was accepted")));
}

TEST_F(EvidenceTest, AnotherManagersLogSaysNothing) {
  (void)log_key();
  begin_log(std::string(64, '0'));
  log_report(R"({\"result\":{\"status\":\"ok\"}})");
  EXPECT_THAT(missing(some_league()), IsEmpty());
}

TEST_F(EvidenceTest, OlderFilesOfTheLogAreReadUntilSomethingIsFound) {
  begin_log(log_key());
  log_report(R"({\"result\":{\"status\":\"ok\"}})");
  fs::rename(root_ / kLog, root_ / "logs/league/cup/league.log.000001.jsonl");
  begin_log(log_key());
  EXPECT_THAT(missing(some_league()), ElementsAre(HasSubstr("R1M1 was accepted")));
}

TEST(JournalContent, CountsWhatOthersMayClaim) {
  journal::MemoryJournal journal;
  auto records = events::to_records(
      {{at(1), events::LeagueCreated{core::LeagueId(kLeague), "even_odd", 2, 1}},
       {at(2), events::AgentRegistered{events::AgentRef::referee(0), {}, {}, ""}},
       {at(3), events::MatchForfeited{{2, 1}, {}}},
       {at(4), events::MatchForfeited{{1, 1}, {}}},
       {at(5), events::LeagueContinued{}}});
  ASSERT_TRUE(journal::append_and_wait(journal, records));
  core::Digest digest{};
  for (int i = 0; i < 2; ++i)
    digest = journal::chained(digest, records[static_cast<std::size_t>(i)]);
  auto content = read_content(journal, journal::JournalPosition{2, digest});
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(content->text(), "entry 5 (0 players, 1 referee, 2 results)");
  EXPECT_EQ(content->league_id, kLeague);
  EXPECT_EQ(content->since, at(1));
  EXPECT_TRUE(content->has_marked);
  EXPECT_TRUE(content->has_finished({1, 1}));
  EXPECT_FALSE(content->has_finished({1, 2}));
  EXPECT_FALSE(read_content(journal, journal::JournalPosition{2, {}})->has_marked);
  EXPECT_FALSE(read_content(journal, journal::JournalPosition{9, digest})->has_marked);
}

TEST(JournalContent, WhatWasGivenUpCountsFromThen) {
  for (const auto& event :
       {events::LeagueContinued{.term = 2}, events::LeagueContinued{.given_up = "R1M1"}}) {
    journal::MemoryJournal journal;
    ASSERT_TRUE(journal::append_and_wait(
        journal, events::to_records(
                     {{at(1), events::LeagueCreated{core::LeagueId(kLeague), "even_odd", 2, 1}},
                      {at(5), event}})));
    EXPECT_EQ(read_content(journal, std::nullopt)->since, at(5));
  }
}

TEST(BehindError, NamesWhatWasComparedAndWhatToDo) {
  JournalContent content;
  content.entries = 3;
  std::string text = behind_error("d/journal.sqlite", content, {"a", "b", "c", "d", "e"}).message;
  EXPECT_THAT(text, HasSubstr("journal d/journal.sqlite is behind: it ends with entry 3"));
  EXPECT_THAT(text, HasSubstr("a; b; c; d; and more"));
  EXPECT_THAT(text, HasSubstr("Restore a backup"));
  text = behind_error("d/journal.sqlite", {}, {"a"}).message;
  EXPECT_THAT(text, HasSubstr("is gone"));
}

}  // namespace
}  // namespace league::league_manager::files
