#include "common/agent/runtime/config_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/agent/runtime/settings.h"

namespace league::agent::runtime {
namespace {

class ConfigFileTest : public ::testing::Test {
 protected:
  /// Loads a file with this text.
  core::Result<ConfigFile> load(const std::string& text) {
    std::ofstream(path_) << text;
    return ConfigFile::load(path_);
  }
  /// What is wrong with a file of this text, without its directory; empty if nothing is.
  std::string fault(const std::string& text) {
    auto loaded = load(text);
    return loaded ? std::string() : loaded.error().message.substr(directory_.size() + 1);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string directory_ = ::testing::TempDir() + "config_file_test";
  const std::filesystem::path path_ = [this] {
    std::filesystem::create_directories(directory_);
    return std::filesystem::path(directory_) /
           (std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".toml");
  }();
};

TEST_F(ConfigFileTest, OptionsAreTheWordsOfACommandLine) {
  auto file = load(
      "[league_manager]\nplayers = 30\nlogs = 'a \"b\"'\nephemeral = true\n"
      "allow-host = ['one', 'two']\n[limits.retry]\nmax_attempts = 2\n");
  ASSERT_TRUE(file) << file.error().message;
  const auto& options = file->options("league_manager");
  ASSERT_EQ(options.size(), 4);
  EXPECT_EQ(options[0].values, (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(options[1].is_switch);
  EXPECT_EQ(options[2].values, std::vector<std::string>{"a \"b\""});
  EXPECT_EQ(options[3].key, "players");
  EXPECT_EQ(options[3].values, std::vector<std::string>{"30"});
  EXPECT_TRUE(options[3].place.ends_with(".toml:2:1")) << options[3].place;
  EXPECT_TRUE(file->options("referee").empty());
  EXPECT_EQ(file->limits()["retry"]["max_attempts"], 2);
  EXPECT_TRUE(file->place_of_limit("/retry/max_attempts").ends_with(".toml:7:1"));
}

TEST_F(ConfigFileTest, FaultsAreNamedWithPlaceAndRule) {
  EXPECT_EQ(fault("players = 3\n").find("FaultsAreNamedWithPlaceAndRule.toml:1:1: players is in"),
            0);
  EXPECT_NE(fault("[manager]\nplayers = 3\n").find("there is no table [manager]; the tables are"),
            std::string::npos);
  EXPECT_NE(fault("[up]\n\nlogs = {a = 1}\n").find(".toml:3:1: logs in [up] must be"),
            std::string::npos);
  EXPECT_NE(fault("[limits]\nmax = 3\n").find(".toml:2:1: max is in [limits] itself"),
            std::string::npos);
  EXPECT_NE(fault("[limits.retry]\nmax_attempts = 'x'\n").find(".toml:2:1: a limit must be"),
            std::string::npos);
  EXPECT_NE(fault("[up]\nplayers = \n").find(".toml:2:"), std::string::npos);
  EXPECT_NE(fault("[up]\nplayers = 3\nplayers = 4\n").find(".toml:3:"), std::string::npos);
}

TEST_F(ConfigFileTest, LimitsAreSettingsAndTheirFaultsHaveAPlace) {
  auto file = load(config_text(
      {{"retry", {{"max_attempts", 2}}}, {"time_limits_ms", {{"CHOOSE_PARITY_CALL", 700}}}}));
  ASSERT_TRUE(file) << file.error().message;
  auto settings = settings_of(*file);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->retry.max_attempts, 2);
  EXPECT_EQ(settings->time_limit(envelope::MessageType::kChooseParityCall).count(), 700);
  file = load("[limits.retry]\n\nmax_attempts = 500\n");
  ASSERT_TRUE(file) << file.error().message;
  settings = settings_of(*file);
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().message.find(".toml:3:1: limits: /retry/max_attempts: 500 is not "
                                          "between 1 and 100"),
            std::string::npos)
      << settings.error().message;
}

TEST_F(ConfigFileTest, AFileThatIsNotThereIsNamed) {
  auto missing = ConfigFile::load(directory_ + "/nowhere.toml");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("nowhere.toml"), std::string::npos);
  auto directory = ConfigFile::load(directory_);
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().message.find("is a directory"), std::string::npos);
}

}  // namespace
}  // namespace league::agent::runtime
