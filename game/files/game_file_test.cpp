#include "game/files/game_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace league::game::files {
namespace {

namespace fs = std::filesystem;

class GameFile : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  static std::string coin(int win) {
    return R"({"game_type": "coin", "choices": ["a", "b"], "technical": {"winner": 1, "loser": 0, "both": 0},
               "payoffs": {"a": {"a": 0, "b": )" +
           std::to_string(win) + R"(}, "b": {"a": 0, "b": 0}}})";
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("game_file_" + std::to_string(::getpid()));
};

TEST_F(GameFile, AGameIsANameOrAFile) {
  Games games = Games::standard();
  EXPECT_EQ((*find_game(games, "prisoners_dilemma"))->game_type(), "prisoners_dilemma");
  EXPECT_FALSE(find_game(games, "coin"));
  const auto read = find_game(games, write("coin.json", coin(1)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, *games.find("coin"));
  EXPECT_EQ(games.names().size(), Games::standard().names().size() + 1);
}

TEST_F(GameFile, TheGamesThatComeAlongAreTheFilesOfTheSources) {
  for (const std::string& name : Games::standard().names()) {
    const auto read = read_game_file(LEAGUE_SOURCE_DIR "/games/" + name + ".json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, **Games::standard().find(name));
  }
  EXPECT_EQ(Games::standard().names().size(), 4U);
}

TEST_F(GameFile, ANameStandsForOneGame) {
  Games games = Games::standard();
  ASSERT_TRUE(find_game(games, write("one.json", coin(1))));
  EXPECT_TRUE(find_game(games, write("same.json", coin(1))));
  const auto other = find_game(games, write("other.json", coin(2)));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, core::ErrorCode::kGameTypeNotSupported);
  EXPECT_NE(other.error().message.find("other.json: two games are called coin"), std::string::npos);
}

TEST_F(GameFile, AnErrorNamesTheFileThePlaceAndTheRule) {
  std::string text = coin(1);
  text.replace(text.find("\"b\": 1"), 6, "\"c\": 1");
  const auto unknown = read_game_file(write("coin.json", text));
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("coin.json: /payoffs/a/c: is none of the choices a, b"),
            std::string::npos)
      << unknown.error().message;
  for (const std::string& bad : {std::string("{"), std::string(70'000, ' '),
                                 std::string(R"({"game_type": "a", "game_type": "b"})")}) {
    const auto read = read_game_file(write("bad.json", bad));
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("bad.json: "), std::string::npos) << read.error().message;
  }
  EXPECT_NE(read_game_file("none.json").error().message.find("none.json: cannot be read"),
            std::string::npos);
}

}  // namespace
}  // namespace league::game::files
