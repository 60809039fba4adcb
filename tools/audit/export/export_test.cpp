#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/audit/record/record_writer.h"
#include "common/core/text.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/core/league_testing.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/view/web_files.h"
#include "tests/support/temporary_directory.h"
#include "tools/audit/export/export_files.h"
#include "tools/audit/export/export_league.h"
#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
namespace lm = league_manager;
using nlohmann::json;
using testing::TemporaryDirectory;

std::string content_of(const fs::path& file) {
  std::stringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

/// What the page of the site in `directory` shows.
json snapshot_in(const fs::path& directory) {
  std::istringstream lines(content_of(directory / "snapshot.js"));
  std::string line;
  for (int number = 1; number <= 3; ++number) std::getline(lines, line);
  return json::parse(line);
}

/// A league of four with three rounds, of which two are played; one bot has an evil name.
lm::events::Events events_of_a_league() {
  auto settings = lm::testing::settings(4, 1);
  settings.league_id = core::LeagueId("league_2025");
  lm::testing::PlayedLeague played(settings);
  played.enter_all(4);
  for (auto& event : played.events) {
    auto* one = std::get_if<lm::events::AgentRegistered>(&event.body);
    if (one != nullptr && one->agent == lm::events::AgentRef::player(1))
      one->profile.display_name = "=HYPERLINK(\"http://evil\"),<script>alert('x')</script>";
  }
  played.step();
  for (int round = 1; round <= 2; ++round) {
    for (int number = 1; number <= 2; ++number) {
      auto report = lm::testing::report_of(played.league, {round, number}, number);
      EXPECT_FALSE(played.report(0, report, lm::testing::at(round)).refusal);
    }
    played.step(lm::testing::at(round));
  }
  return played.events;
}

class Export : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(data_ / "journal");
    journal::SqliteJournalOptions options;
    options.file = data_ / "journal" / "journal.sqlite";
    auto opened = journal::SqliteJournal::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    journal_ = std::move(*opened);
    ASSERT_TRUE(journal::append_and_wait(*journal_, lm::events::to_records(events_of_a_league())));
  }

  int run(const std::string& format, const fs::path& out = {}, bool force = false) {
    out_.str("");
    err_.str("");
    return export_league({.directory = directory_.path(),
                          .logs = {},
                          .out = out,
                          .format = format,
                          .may_overwrite = force},
                         out_, err_);
  }

  TemporaryDirectory directory_;
  const fs::path data_ = directory_.path() / "data";
  const fs::path there_ = directory_.path() / "there";
  std::unique_ptr<journal::SqliteJournal> journal_;  // open, as beside a running manager
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Export, MakesTheLayoutBesideARunningManager) {
  ASSERT_EQ(run("json"), 0) << err_.str();
  auto standings = json::parse(content_of(data_ / "leagues" / "league_2025" / "standings.json"));
  EXPECT_EQ(standings["matches_completed"], 4);
  auto match = json::parse(content_of(data_ / "matches" / "league_2025" / "R1M1.json"));
  EXPECT_EQ(match["made_by"], "league export");
  EXPECT_EQ(match["state"], "FINISHED");
  EXPECT_EQ(match["result"]["details"]["drawn_number"], 4);
  EXPECT_NE(out_.str().find("league league_2025: 8 files"), std::string::npos) << out_.str();
  EXPECT_EQ(run("json"), 0) << "its own files may be replaced: " << err_.str();
}

TEST_F(Export, WithoutLogsAWholeFileOfTheRefereeStays) {
  auto file = there_ / "matches" / "league_2025" / "R1M1.json";
  fs::create_directories(file.parent_path());
  for (const auto& [state, stays] : {std::pair("FINISHED", true), std::pair("DRAWING", false)}) {
    std::ofstream(file) << json{
        {"schema_version", "1.0.0"}, {"league_id", "league_2025"}, {"attempt", 1}, {"state", state},
        {"transcript", {1}},         {"made_by", "referee"}};
    ASSERT_EQ(run("json", there_), 0) << err_.str();
    EXPECT_EQ(json::parse(content_of(file))["made_by"] == "referee", stays) << state;
  }
}

TEST_F(Export, FollowsAJournalThatGrows) {
  ASSERT_EQ(run("json", there_), 0);
  lm::events::Event late{lm::testing::at(9), lm::events::StaleReportRecorded{
                                                 .match = {1, 1}, .attempt = 1, .referee = 0}};
  ASSERT_TRUE(journal::append_and_wait(*journal_, lm::events::to_records({late})));
  ASSERT_EQ(run("json", there_), 0);
  auto rounds = json::parse(content_of(there_ / "leagues" / "league_2025" / "rounds.json"));
  EXPECT_EQ(rounds["rounds"][0]["matches"][0]["incidents"], 1);
}

TEST_F(Export, LeavesForeignFilesAlone) {
  const std::vector<std::pair<std::string, fs::path>> kPlaces = {
      {"json", fs::path("leagues") / "league_2025" / "rounds.json"},
      {"json", fs::path("matches") / "league_2025" / "R1M2.json"},
      {"csv", "matches.csv"},
      {"html", "index.html"},
      {"html", "page.js"},
      {"html", "snapshot.js"}};
  for (const auto& [format, place] : kPlaces) {
    fs::remove_all(there_);
    fs::create_directories((there_ / place).parent_path());
    std::ofstream(there_ / place) << "my diary, league_2025";
    EXPECT_EQ(run(format, there_), 2) << place;
    EXPECT_NE(err_.str().find("--force"), std::string::npos) << err_.str();
    EXPECT_EQ(content_of(there_ / place), "my diary, league_2025");
    auto files = fs::recursive_directory_iterator(there_);
    EXPECT_EQ(std::count_if(begin(files), end(files),
                            [](const auto& one) { return one.is_regular_file(); }),
              1)
        << "nothing else was written beside " << place;
    EXPECT_EQ(run(format, there_, true), 0) << err_.str();
    EXPECT_EQ(run(format, there_), 0) << "now it is ours: " << err_.str();
  }
}

TEST_F(Export, ForeignJsonOfAnyFormIsForeign) {
  auto file = there_ / "matches" / "league_2025" / "R1M1.json";
  fs::create_directories(file.parent_path());
  for (const char* text : {R"({"league_id":7,"state":null,"attempt":"x","transcript":1})", "[1]",
                           R"({"schema_version":"1.0.0","league_id":"other"})", "null", "{"}) {
    std::ofstream(file) << text;
    EXPECT_EQ(run("json", there_), 2) << text;
    EXPECT_EQ(content_of(file), text);
  }
}

TEST_F(Export, ReplacesNoLinkAndNoDirectory) {
  fs::create_directories(there_ / "standings.csv");
  EXPECT_EQ(run("csv", there_, true), 2);
  fs::remove_all(there_);
  fs::create_directories(there_);
  std::ofstream(directory_.path() / "precious") << "x";
  fs::create_symlink(directory_.path() / "precious", there_ / "standings.csv");
  EXPECT_EQ(run("csv", there_, true), 2);
  EXPECT_EQ(content_of(directory_.path() / "precious"), "x");
}

TEST_F(Export, NamesStayTextInASpreadsheet) {
  lm::events::AgentProfile profile = lm::testing::profile("1-2", 10000);
  ASSERT_TRUE(journal::append_and_wait(
      *journal_,
      lm::events::to_records(
          {{lm::testing::at(9), lm::events::AgentReregistered{lm::events::AgentRef::player(0),
                                                              profile,
                                                              {"n", "h"},
                                                              "",
                                                              lm::events::Recognition::kToken}}})));
  ASSERT_EQ(run("csv", there_), 0) << err_.str();
  EXPECT_NE(content_of(there_ / "standings.csv").find(",P01,'1-2,"), std::string::npos);
}

TEST_F(Export, CsvRunsNoFormulas) {
  ASSERT_EQ(run("csv", there_), 0);
  std::string table = content_of(there_ / "standings.csv");
  EXPECT_TRUE(
      table.starts_with("\xEF\xBB\xBFrank,player_id,display_name,played,wins,draws,losses,points,"
                        "state,state_reason,rating,rating_error,p_first\r\n"));
  EXPECT_NE(table.find(",\"'=HYPERLINK(\"\"http://evil\"\"),<script>alert('x')</script>\","),
            std::string::npos)
      << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);
  std::string matches = content_of(there_ / "matches.csv");
  EXPECT_EQ(std::count(matches.begin(), matches.end(), '\n'), 7);
}

TEST_F(Export, ASiteIsThePageOfAManagerWithItsData) {
  ASSERT_EQ(run("html", there_), 0) << err_.str();
  for (const lm::view::EmbeddedFile& file : lm::view::web_files()) {
    if (file.name == "index.html") continue;
    EXPECT_EQ(content_of(there_ / file.name), file.text) << file.name;
  }
  const json snapshot = snapshot_in(there_);
  EXPECT_EQ(snapshot["view"]["league"]["id"], "league_2025");
  EXPECT_EQ(snapshot["view"]["players"][1][0],
            "=HYPERLINK(\"http://evil\"),<script>alert('x')</script>");
  ASSERT_EQ(snapshot["view"]["matches"].size(), 6U) << "also those of the round that is played";
  const json& match = snapshot["match"]["R1M1"];
  EXPECT_EQ(match["match"], snapshot["view"]["matches"][0]);
  EXPECT_EQ(match["seed"].get<std::string>().size(), 64U);
  EXPECT_FALSE(match.contains("transcript")) << "there are no logs";
  EXPECT_FALSE(snapshot["match"]["R3M1"].contains("seed")) << "it is not played yet";
  EXPECT_EQ(snapshot["player"].size(), 4U);
  const std::string first = content_of(there_ / "snapshot.js");
  ASSERT_EQ(run("html", there_), 0) << err_.str();
  EXPECT_EQ(content_of(there_ / "snapshot.js"), first);
}

TEST_F(Export, ASiteHasATableForReadersWithoutJavaScript) {
  ASSERT_EQ(run("html", there_), 0) << err_.str();
  const std::string index = content_of(there_ / "index.html");
  EXPECT_NE(index.find("<tr><th>Rank</th><th>Name</th><th>Points</th><th>Played</th>"),
            std::string::npos);
  EXPECT_NE(index.find("&lt;script&gt;alert(&#39;x&#39;)"), std::string::npos);
  EXPECT_EQ(index.find("<script>"), std::string::npos);
  EXPECT_NE(index.find("name=\"viewport\""), std::string::npos);
  const auto snapshot = index.find("<script defer src=\"snapshot.js\">");
  EXPECT_LT(snapshot, index.find("<script defer src=\"page.js\">")) << "the data come first";
  for (const char* attribute : {"href=\"", "src=\""}) {
    for (std::size_t at = index.find(attribute); at != std::string::npos;
         at = index.find(attribute, at + 1)) {
      const auto begin = index.find('"', at) + 1;
      const std::string target = index.substr(begin, index.find('"', begin) - begin);
      EXPECT_TRUE(target.starts_with('#') || fs::exists(there_ / target)) << target;
    }
  }
}

TEST_F(Export, ADamagedJournalIsSaidToBeDamaged) {
  journal_->close();
  journal_.reset();
  std::ofstream(data_ / "journal" / "journal.sqlite") << "no journal at all, but a long text";
  EXPECT_EQ(run("json", there_), 2);
  EXPECT_NE(err_.str().find("is not a journal"), std::string::npos) << err_.str();
  EXPECT_FALSE(fs::exists(there_));
}

TEST_F(Export, ADirectoryWithoutALeagueIsNamed) {
  fs::remove_all(data_);
  EXPECT_EQ(run("json", there_), 2);
  EXPECT_NE(err_.str().find("contains no league"), std::string::npos) << err_.str();
}

TEST(Csv, QuotesAsRfc4180Says) {
  EXPECT_EQ(csv_record({"a", "", "b c", "1,5", "\"", "x\r\ny"}),
            "a,,b c,\"1,5\",\"\"\"\",\"x\r\ny\"\r\n");
  for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)"})
    EXPECT_EQ(csv_record({formula}), "'" + std::string(formula) + "\r\n");
  EXPECT_EQ(csv_record({"\r=1"}), "\"'\r=1\"\r\n");
  EXPECT_EQ(csv_record({"\t=1"}), "\"'\t=1\"\r\n");
  EXPECT_EQ(csv_record({"a=1"}), "a=1\r\n");
}

TEST_F(Export, GradesHaveARowForEachPlayerAndTheColumnsOfTheCourse) {
  const fs::path names = directory_.path() / "course.csv";
  std::ofstream(names) << "student;name;code\n4711;P0;tok_secret\n";
  const fs::path checks = directory_.path() / "check.json";
  std::ofstream(checks)
      << R"({"bots":[{"subject":"http://127.0.0.1:10002/mcp","level":"robust"}]})";
  const auto grade = [&](GradeSources sources) {
    out_.str("");
    err_.str("");
    return export_league({.directory = directory_.path(),
                          .logs = {},
                          .out = there_,
                          .format = "grades",
                          .grades = std::move(sources)},
                         out_, err_);
  };
  ASSERT_EQ(grade({names, {checks}}), 0) << err_.str();
  std::istringstream lines(content_of(there_ / "grades.csv"));
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(lines, line);) rows[line.substr(0, line.find(','))] = line;
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_TRUE(rows["\xEF\xBB\xBFplayer_id"].ends_with(",state,check_level\r"));
  EXPECT_TRUE(rows["P01"].starts_with("P01,p0,4711,")) << rows["P01"];
  EXPECT_TRUE(rows["P02"].starts_with("P02,\"'=HYPERLINK(")) << "no formula: " << rows["P02"];
  EXPECT_TRUE(rows["P03"].ends_with(",ACTIVE,robust\r")) << rows["P03"];
  EXPECT_EQ(content_of(there_ / "grades.csv").find("tok_secret"), std::string::npos);
  EXPECT_EQ(grade({names, {names}}), 2) << "no report of a check";
  EXPECT_EQ(grade({checks, {}}), 2) << "no column `name`";
}

TEST_F(Export, GradesHaveARowForEachPersonAndSayWhatDoesNotMatch) {
  const fs::path names = directory_.path() / "course.csv";
  std::ofstream(names) << "name,id\np0,1\nZora,2\nP0,3\n";
  ASSERT_EQ(export_league({.directory = directory_.path(),
                           .logs = {},
                           .out = there_,
                           .format = "grades",
                           .grades = {names, {}}},
                          out_, err_),
            0)
      << err_.str();
  const std::string grades = content_of(there_ / "grades.csv");
  EXPECT_NE(grades.find("\r\nP01,p0,1,"), std::string::npos) << grades;
  EXPECT_NE(grades.find("\r\n,Zora,2,,0,0,0,0,0,6,0,0,"), std::string::npos) << grades;
  EXPECT_NE(grades.find(",ABSENT,\r\n,P0,3,,"), std::string::npos) << grades;
  EXPECT_TRUE(grades.ends_with(",ABSENT,\r\n"));
  for (const char* note :
       {"line 3, \"Zora\", has no bot", "line 4, \"P0\", has the same name as line 2",
        "P03 \"p2\" is not on the list"})
    EXPECT_NE(err_.str().find(note), std::string::npos) << err_.str();
  EXPECT_EQ(err_.str().find("P01"), std::string::npos) << err_.str();
}

TEST_F(Export, OnlyWhatAPlayerIsProvenToHaveSaidCountsForIt) {
  std::uint64_t seq = 0;
  const auto log_of = [&seq](const std::string& agent, const std::vector<std::string>& speakers) {
    std::string log;
    audit::record::RecordWriter writer;
    writer.append_header({.agent = agent, .league_id = "league_2025", .created = {}}, log);
    for (const std::string& speaker : speakers) {
      audit::record::Record record;
      record.notes.peer = "player:P01";
      record.notes.said_by = speaker;
      record.notes.leniencies = {"choice_field"};
      record.call = ++seq;
      writer.append(record, seq, log);
    }
    return log;
  };
  const fs::path logs = directory_.path() / "logs";
  fs::create_directories(logs / "agents");
  std::ofstream(logs / "league.log.jsonl")
      << log_of("league_manager", {"player:P01", "", "", "", "player:P02"});
  std::ofstream(logs / "agents" / "REF01.log.jsonl")
      << log_of("referee:REF01", {"player:P01", "player:P01", ""});
  ASSERT_EQ(run("grades", there_), 0) << err_.str();
  EXPECT_NE(content_of(there_ / "grades.csv").find(",1,ACTIVE,"), std::string::npos)
      << content_of(there_ / "grades.csv");
  ASSERT_EQ(run("html", directory_.path() / "pages"), 0) << err_.str();
  const json players = snapshot_in(directory_.path() / "pages")["player"];
  EXPECT_EQ(players["P01"]["leniencies"],
            json::parse(R"([["choice_field",1,""],["choice_field",2,"REF01"]])"));
  EXPECT_EQ(players["P02"]["leniencies"], json::parse(R"([["choice_field",1,""]])"));
}

TEST_F(Export, GradescopeGetsATestForEachMatch) {
  ASSERT_EQ(run("gradescope", there_), 0) << err_.str();
  const auto result = json::parse(content_of(there_ / "P01.json"));
  ASSERT_EQ(result["tests"].size(), 2u);
  int points = 0;
  for (const auto& test : result["tests"]) points += test["score"].get<int>();
  EXPECT_EQ(points, result["score"]);
  EXPECT_EQ(run("gradescope", there_), 0) << "its own files may be replaced";
}

TEST_F(Export, ASiteSaysWhatWentWrong) {
  const auto round = [](int number) { return lm::events::MatchKey{3, number}; };
  lm::events::FailureCause cause{"GAME_INVITATION", "E010", 2, "HTTP 500: <b>Traceback</b>"};
  lm::events::Events lost;
  for (int number : {1, 2}) {
    cause.text += "; received: " + std::to_string(number);
    const auto pairing = lm::Schedule(4).pairing(round(number));
    lost.push_back(
        {lm::testing::at(5),
         lm::events::FailureCounted{lm::events::AgentRef::player(pairing.player_b),
                                    lm::events::FailureKind::kValidation, round(number), cause}});
    lost.push_back(
        {lm::testing::at(5),
         lm::events::MatchForfeited{round(number), game::technical_result(game::Side::kA, "X")}});
  }
  lost.push_back(
      {lm::testing::at(6), lm::events::OperatorActed{.act = lm::events::OperatorAct::kVoidMatch,
                                                     .by = "<Ann>",
                                                     .reason = "hung",
                                                     .match = lm::events::MatchKey{1, 1}}});
  ASSERT_TRUE(journal::append_and_wait(*journal_, lm::events::to_records(lost)));
  ASSERT_EQ(run("html", there_), 0) << err_.str();
  const json snapshot = snapshot_in(there_);
  const json& match = snapshot["match"]["R3M1"];
  const json& failure = match["match"][17];
  EXPECT_EQ(failure[1], "E010");
  EXPECT_EQ(failure[3], "HTTP 500: <b>Traceback</b>; received: 1");
  EXPECT_TRUE(match["remedies"][0].is_null());
  EXPECT_TRUE(match["remedies"][1][1].get<std::string>().starts_with("Answer with a JSON-RPC"));
  const json& act = snapshot["view"]["acts"][0];
  EXPECT_EQ(act, json::array({act[0], "VOID_MATCH", "R1M1", "", nullptr, "hung", "<Ann>"}));
}

TEST_F(Export, ASiteHasWhatALogSaysOfAMatch) {
  std::string log;
  audit::record::RecordWriter writer;
  writer.append_header({.agent = "referee:REF01", .league_id = "league_2025", .created = {}}, log);
  audit::record::Record record;
  record.notes.peer = "player:P01";
  record.notes.message_type = "GAME_INVITATION";
  record.notes.conversation_id = lm::events::match_conversation({1, 1}, 1).str();
  record.direction = audit::record::Direction::kOut;
  writer.append(record, 1, log);
  record.notes.message_type = "CHOOSE_PARITY_CALL";
  writer.append(record, 2, log);
  record.direction = audit::record::Direction::kIn;
  record.kind = audit::record::Kind::kReply;
  record.elapsed = std::chrono::microseconds(7);
  writer.append(record, 3, log);
  // Anybody can have written the log.
  log = core::replaced(log, "\"elapsed_us\":7", "\"elapsed_us\":9223372036854775807");
  fs::create_directories(directory_.path() / "logs");
  std::ofstream(directory_.path() / "logs" / "REF01.log.jsonl") << log;
  ASSERT_EQ(run("html", there_), 0) << err_.str();
  const json lines = snapshot_in(there_)["match"]["R1M1"]["transcript"];
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], json::array({lines[0][0], "REF01", "P01", "GAME_INVITATION", "", ""}));
}

}  // namespace
}  // namespace league::tools::auditor
