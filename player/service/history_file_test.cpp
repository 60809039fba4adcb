#include "player/service/history_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/temporary_directory.h"

namespace league::player::service {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

PlayedMatch match(int number) {
  return {.league_id = core::LeagueId("league_2025"),
          .match_id = core::MatchId("R1M" + std::to_string(number)),
          .round_id = 1,
          .opponent_id = core::PlayerId("P02"),
          .verdict = MatchVerdict::kWin,
          .own_choice = "even",
          .drawn_number = 4};
}

class HistoryFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] core::Result<std::unique_ptr<HistoryFile>> open(
      agent::runtime::ProjectionWriter& writer, const std::string& name = "alpha") {
    return HistoryFile::open(directory_.path(),
                             {.player_id = core::PlayerId("P01"), .display_name = name}, writer);
  }
  /// Plays two matches under `name`.
  void play(const std::string& name, int first) {
    agent::runtime::ProjectionWriter writer;
    auto history = open(writer, name);
    ASSERT_TRUE(history) << history.error().message;
    (*history)->add(match(first));
    (*history)->add(match(first + 1));
    writer.stop();
  }
  void expect_refused(const std::string& expected) {
    auto before = content(file_);
    agent::runtime::ProjectionWriter writer;
    auto history = open(writer);
    ASSERT_FALSE(history);
    EXPECT_NE(history.error().message.find(expected), std::string::npos) << history.error().message;
    EXPECT_NE(history.error().message.find("history.json"), std::string::npos);
    EXPECT_EQ(content(file_), before);
  }
  static std::string content(const fs::path& file) {
    std::stringstream out;
    out << std::ifstream(file, std::ios::binary).rdbuf();
    return out.str();
  }

  testing::TemporaryDirectory directory_;
  const fs::path file_ = directory_.path() / "players" / "P01" / "history.json";
};

TEST_F(HistoryFileTest, IsContinued) {
  play("alpha", 1);
  play("alpha", 3);
  auto document = json::parse(content(file_));
  EXPECT_EQ(document["schema_version"], "1.0.0");
  EXPECT_EQ(document["player_id"], "P01");
  EXPECT_EQ(document["display_name"], "alpha");
  EXPECT_EQ(document["stats"]["wins"], 4);
  EXPECT_EQ(document["matches"].size(), 4U);
  agent::runtime::ProjectionWriter writer;
  auto again = open(writer);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->read().matches().size(), 4U);
}

TEST_F(HistoryFileTest, AMatchThatIsInItAlreadyIsNotCountedTwice) {
  play("alpha", 1);
  play("alpha", 1);
  EXPECT_EQ(json::parse(content(file_))["stats"]["total_matches"], 2);
}

TEST_F(HistoryFileTest, AnotherPlayersIsPutAside) {
  play("alpha", 1);
  auto of_alpha = content(file_);
  play("beta", 5);
  play("gamma", 7);
  EXPECT_EQ(content(file_.parent_path() / "history-1.json"), of_alpha);
  EXPECT_TRUE(fs::exists(file_.parent_path() / "history-2.json"));
  EXPECT_EQ(json::parse(content(file_))["matches"].size(), 2U);
}

TEST_F(HistoryFileTest, OneOfAnEarlierLeagueWithTheSameNameIsPutAside) {
  play("alpha", 1);
  agent::runtime::ProjectionWriter writer;
  HistoryOwner owner{.player_id = core::PlayerId("P01"), .display_name = "alpha"};
  owner.new_league = core::LeagueId("league_2026");
  auto other = HistoryFile::open(directory_.path(), owner, writer);
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->read().matches().size(), 2U);
  owner.new_league = core::LeagueId("league_2025");
  auto same = HistoryFile::open(directory_.path(), owner, writer);
  ASSERT_TRUE(same);
  EXPECT_TRUE((*same)->read().matches().empty());
  EXPECT_TRUE(fs::exists(file_.parent_path() / "history-1.json"));
}

TEST_F(HistoryFileTest, ADamagedOneIsRefusedAndLeftAlone) {
  play("alpha", 1);
  fs::resize_file(file_, fs::file_size(file_) / 2);
  expect_refused("is damaged");
  std::ofstream(file_) << R"({"schema_version":"2.0.0","stats":{},"matches":[]})";
  expect_refused("/schema_version must be \"1.0.0\"");
  std::ofstream(file_) << R"({"schema_version":"1.0.0","stats":[]})";
  expect_refused("/stats must be an object");
}

TEST_F(HistoryFileTest, AnEmptyOneIsWhatALossOfPowerLeaves) {
  fs::create_directories(file_.parent_path());
  std::ofstream(file_) << "";
  play("alpha", 1);
  EXPECT_EQ(json::parse(content(file_))["matches"].size(), 2U);
}

TEST_F(HistoryFileTest, SaysBeforehandThatItCannotWrite) {
  std::ofstream(directory_.path() / "players") << "in the way";
  agent::runtime::ProjectionWriter writer;
  auto history = open(writer);
  ASSERT_FALSE(history);
  EXPECT_NE(history.error().message.find("Not a directory"), std::string::npos)
      << history.error().message;
}

TEST_F(HistoryFileTest, ItsNameLeadsNowhereElse) {
  agent::runtime::ProjectionWriter writer;
  EXPECT_FALSE(HistoryFile::open(directory_.path(),
                                 {.player_id = core::PlayerId(".."), .display_name = "x"}, writer));
}

}  // namespace
}  // namespace league::player::service
