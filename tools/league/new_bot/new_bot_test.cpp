#include "tools/league/new_bot/new_bot.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "tools/league/new_bot/bot_files.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;

class NewBotTest : public ::testing::Test {
 protected:
  NewBotTest() { fs::create_directories(place_); }
  ~NewBotTest() override { fs::remove_all(place_); }

  static std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string embedded(std::string_view name) {
    for (const EmbeddedFile& file : bot_files())
      if (file.name == name) return std::string(file.text);
    return {};
  }

  const fs::path place_ =
      fs::temp_directory_path() / ("new_bot_" + core::to_hex(core::CryptoRandom().bytes<8>()));
};

TEST_F(NewBotTest, WritesABotWithItsLibraryAndSaysHowItIsRun) {
  const auto written = write_bot({"python", place_ / "in" / "clever", ""});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->name, "clever");
  EXPECT_EQ(written->command, "python3 bot.py");
  ASSERT_EQ(written->files.size(), 3U);
  EXPECT_EQ(text_of(place_ / "in/clever/league_player.py"), embedded("league_player.py"));
  const std::string bot = text_of(place_ / "in/clever/bot.py");
  EXPECT_NE(bot.find("Player(\"clever\")"), std::string::npos) << bot;
  EXPECT_NE(bot.find("python3 bot.py --manager"), std::string::npos) << bot;
  const std::string readme = text_of(place_ / "in/clever/README.md");
  EXPECT_EQ(readme.find('@'), std::string::npos) << readme;
  EXPECT_NE(readme.find("league check --start \"python3 bot.py"), std::string::npos) << readme;
}

TEST_F(NewBotTest, ANodeBotIsAModuleWithTypes) {
  const auto written = write_bot({"javascript", place_, "it's \"Ünï\""});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->files.size(), 5U);
  EXPECT_EQ(text_of(place_ / "league_player.d.ts"), embedded("league_player.d.ts"));
  EXPECT_NE(text_of(place_ / "package.json").find(R"("type": "module")"), std::string::npos);
  EXPECT_NE(text_of(place_ / "bot.mjs").find(R"(new Player("it's \"Ünï\""))"), std::string::npos);
}

TEST_F(NewBotTest, NothingIsOverwritten) {
  std::ofstream(place_ / "bot.py") << "mine";
  fs::create_directory(place_ / ".git");
  const auto refused = write_bot({"python", place_, "bot"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("it has bot.py"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(text_of(place_ / "bot.py"), "mine");
  EXPECT_FALSE(fs::exists(place_ / "README.md"));
  fs::remove(place_ / "bot.py");
  EXPECT_TRUE(write_bot({"python", place_, "bot"})) << "hidden files are not in the way";
  EXPECT_FALSE(write_bot({"python", place_ / "bot.py", "bot"})) << "a file";
}

TEST_F(NewBotTest, TheNameMustBeThatOfAPlayer) {
  EXPECT_FALSE(write_bot({"python", place_ / "a", std::string(51, 'x')}));
  EXPECT_FALSE(write_bot({"python", place_ / "a", "two\nlines"}));
  EXPECT_FALSE(write_bot({"python", place_ / std::string(60, 'x'), ""}));
  EXPECT_FALSE(fs::exists(place_ / "a"));
  EXPECT_TRUE(write_bot({"python", place_ / "a", std::string(50, 'x')}));
}

}  // namespace
}  // namespace league::tools
