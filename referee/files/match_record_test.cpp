#include "referee/files/match_record.h"

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "referee/files/match_files.h"
#include "tests/support/temporary_directory.h"

namespace league::referee::files {
namespace {

using nlohmann::json;

core::UtcTimestamp at(int after) {
  return core::UtcTimestamp(
      core::UtcTimestamp::TimePoint(std::chrono::seconds(1736937000 + after)));
}

MatchRecordHead head(int attempt = 1) {
  return {.league_id = core::LeagueId("league_2025"),
          .round_id = 1,
          .match_id = core::MatchId("R1M1"),
          .game_type = "even_odd",
          .attempt = attempt,
          .referee_id = "REF01",
          .player_a_id = "P01",
          .player_b_id = "P02",
          .draw_commitment = "00ff"};
}

TEST(MatchRecord, TellsLifeCycleTranscriptAndResult) {
  MatchRecord record(head());
  EXPECT_TRUE(record.enter("WAITING_FOR_PLAYERS", at(0)));
  EXPECT_FALSE(record.enter("WAITING_FOR_PLAYERS", at(1)));
  record.add({.at = at(1), .from = "REF01", .to = "P01", .message_type = "GAME_INVITATION"});
  record.add(
      {.at = at(2), .from = "P01", .to = "REF01", .message_type = "GAME_JOIN_ACK", .accept = true});
  record.add({.at = at(3),
              .from = "P02",
              .to = "REF01",
              .message_type = "GAME_JOIN_ACK",
              .error_code = "E001",
              .error = std::string(1000, '"')});
  record.set_result(R"({"winner":"P01"})");
  record.enter("FINISHED", at(4));
  auto file = json::parse(record.json());
  EXPECT_EQ(file["schema_version"], "1.0.0");
  EXPECT_EQ(file["attempt"], 1);
  EXPECT_EQ(file["state"], "FINISHED");
  EXPECT_EQ(file["result"]["winner"], "P01");
  ASSERT_EQ(file["lifecycle"].size(), 2U);
  EXPECT_EQ(file["lifecycle"][1]["at"], "2025-01-15T10:30:04.000000Z");
  ASSERT_EQ(file["transcript"].size(), 3U);
  EXPECT_EQ(file["transcript"][1]["accept"], true);
  EXPECT_EQ(file["transcript"][2]["error"].get<std::string>().size(), 500U);
}

TEST(MatchRecord, ShowsChoicesAndNoncesOnlyWhenTheResultIsAccepted) {
  for (const char* state : {"COLLECTING_CHOICES", "DRAWING_NUMBER", "REFUSED", "UNREPORTED"}) {
    MatchRecord record(head());
    record.add({.at = at(1),
                .from = "P01",
                .to = "REF01",
                .message_type = "GAME_JOIN_ACK",
                .accept = true,
                .choice_commitment = "c0c0"});
    record.add({.at = at(2),
                .from = "P01",
                .to = "REF01",
                .message_type = "CHOOSE_PARITY_RESPONSE",
                .parity_choice = "heads",
                .choice_nonce = "0e0e"});
    record.set_result(R"({"winner":"P01","details":{"choice_nonces":{"P01":"0e0e"}}})");
    record.enter(state, at(3));
    for (const char* secret : {"c0c0", "heads", "0e0e", "winner"})
      EXPECT_EQ(record.json().find(secret), std::string::npos) << state << " " << secret;
    record.enter("FINISHED", at(4));
    auto file = json::parse(record.json());
    EXPECT_EQ(file["transcript"][0]["choice_commitment"], "c0c0");
    EXPECT_EQ(file["transcript"][1]["parity_choice"], "heads");
    EXPECT_EQ(file["transcript"][1]["choice_nonce"], "0e0e");
    EXPECT_EQ(file["result"]["winner"], "P01");
  }
}

TEST(MatchRecord, IsJsonBeforeAnythingHasHappened) {
  auto file = json::parse(MatchRecord(head()).json());
  EXPECT_TRUE(file["state"].is_null());
  EXPECT_TRUE(file["result"].is_null());
  EXPECT_EQ(file["transcript"], json::array());
}

TEST(MatchFile, HasNoNameThatLeadsElsewhere) {
  auto good = match_file("d", core::LeagueId("league_2025"), core::MatchId("R1M1"));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->string(), "d/matches/league_2025/R1M1.json");
  EXPECT_FALSE(match_file("d", core::LeagueId(".."), core::MatchId("R1M1")));
  EXPECT_FALSE(match_file("d", core::LeagueId("l"), core::MatchId("../../x")));
  EXPECT_FALSE(match_file("d", core::LeagueId("l"), core::MatchId("")));
}

TEST(MatchFile, IsNotGivenBackToAnEarlierAttempt) {
  testing::TemporaryDirectory directory;
  auto file = directory.path() / "R1M1.json";
  EXPECT_FALSE(has_later_attempt(file, 1));
  std::ofstream(file) << MatchRecord(head(2)).json();
  EXPECT_TRUE(has_later_attempt(file, 1));
  EXPECT_FALSE(has_later_attempt(file, 2));
  EXPECT_FALSE(has_later_attempt(file, 3));
  std::ofstream(file) << "";
  EXPECT_FALSE(has_later_attempt(file, 1));
}

/// Publishes these attempts at R1M1 and ends.
void publish(const std::filesystem::path& data,
             const std::vector<std::pair<int, std::string>>& attempts) {
  agent::runtime::ProjectionWriter writer;
  auto files = MatchFiles::open(data, writer);
  ASSERT_TRUE(files) << files.error().message;
  for (const auto& [attempt, state] : attempts) {
    auto record = std::make_shared<MatchRecord>(head(attempt));
    record->enter(state, at(1));
    (*files)->publish(record);
  }
  writer.stop();
  EXPECT_EQ(writer.failed(), 0U);
}

TEST(MatchFiles, AtTheEndEachMatchHasItsNewestState) {
  testing::TemporaryDirectory directory;
  auto file = directory.path() / "matches" / "league_2025" / "R1M1.json";
  publish(directory.path(), {{1, "UNREPORTED"}, {1, "REFUSED"}});
  EXPECT_EQ(json::parse(std::ifstream(file))["state"], "REFUSED");
  publish(directory.path(), {{2, "FINISHED"}, {1, "FINISHED"}});
  publish(directory.path(), {{1, "REFUSED"}});
  auto left = json::parse(std::ifstream(file));
  EXPECT_EQ(left["attempt"], 2);
  EXPECT_EQ(left["state"], "FINISHED");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1)
      << "the common file is gone";
}

TEST(MatchFiles, WhatAKilledProgramHasLeftIsTakenApartToo) {
  testing::TemporaryDirectory directory;
  const auto league = directory.path() / "matches" / "league_2025";
  std::filesystem::create_directories(league);
  std::ofstream(league / "REF01.jsonl") << R"({"match_id":"R1M7","attempt":1})"
                                        << "\n"
                                        << R"({"match_id":"../R1M8","attempt":1})"
                                        << "\n"
                                        << R"({"match_id":7,"attempt":"x"})"
                                        << "\n"
                                        << R"({"match_id":"R1M9","att)";
  publish(directory.path(), {{1, "FINISHED"}});
  EXPECT_TRUE(std::filesystem::exists(league / "R1M1.json"));
  EXPECT_TRUE(std::filesystem::exists(league / "R1M7.json"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(league), {}), 2);
}

TEST(MatchFiles, NoFileIsMadeWhileMatchesArePlayedAndThenItHasTheTextOfItsRecord) {
  testing::TemporaryDirectory directory;
  const auto league = directory.path() / "matches" / "league_2025";
  agent::runtime::ProjectionWriter::Options options;
  options.interval = std::chrono::milliseconds(1);
  options.share = 1e-9;
  agent::runtime::ProjectionWriter writer(options);
  auto files = MatchFiles::open(directory.path(), writer);
  ASSERT_TRUE(files) << files.error().message;
  auto wait_for_job = [&](agent::runtime::ProjectionWriter::When when) {
    std::promise<void> done;
    writer.run("job", when, [&]() -> core::Result<void> {
      done.set_value();
      return {};
    });
    done.get_future().wait();
  };
  wait_for_job(agent::runtime::ProjectionWriter::When::kWhenQuiet);  // uses up the share
  auto record = std::make_shared<MatchRecord>(head(1));
  record->enter("FINISHED", at(1));
  (*files)->publish(record);
  for (int i = 0; i < 2; ++i) wait_for_job(agent::runtime::ProjectionWriter::When::kSoon);
  EXPECT_TRUE(std::filesystem::exists(league / "REF01.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(league / "R1M1.json"));
  writer.stop();
  EXPECT_FALSE(std::filesystem::exists(league / "REF01.jsonl"));
  std::ostringstream content;
  content << std::ifstream(league / "R1M1.json").rdbuf();
  EXPECT_EQ(content.str(), record->json());
}

TEST(MatchFiles, SayBeforehandThatTheyCannotBeWritten) {
  testing::TemporaryDirectory directory;
  std::ofstream(directory.path() / "matches") << "in the way";
  agent::runtime::ProjectionWriter writer;
  auto files = MatchFiles::open(directory.path(), writer);
  ASSERT_FALSE(files);
  EXPECT_NE(files.error().message.find("Not a directory"), std::string::npos);
}

}  // namespace
}  // namespace league::referee::files
