#include "common/agent/host/configured_arguments.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/agent/host/option_table.h"

namespace league::agent::host {
namespace {

/// A program with a file of its own.
class ConfiguredArgumentsTest : public ::testing::Test {
 protected:
  ConfiguredArgumentsTest() {
    app_.add_option("--players", players_)->check(CLI::Range(2, 10));
    app_.add_option("--allow-host", hosts_)->expected(1, -1);
    app_.add_option("--config", config_);
    app_.add_flag("--ephemeral", is_ephemeral_);
    app_.add_flag("!--no-commitments", commits_);
    app_.add_option("--mode", mode_)->capture_default_str();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// Reads a command line with a file of this text; the exit code where it is refused.
  std::optional<int> parse(const std::string& text, std::vector<std::string> more = {}) {
    std::ofstream(path_) << text;
    std::vector<std::string> words{"league_manager", "--config", path_};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<const char*> texts;
    for (const auto& word : words) texts.push_back(word.c_str());
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    auto code = parse_arguments(app_, static_cast<int>(texts.size()), texts.data(), &file_);
    error_ = ::testing::internal::GetCapturedStderr();
    output_ = ::testing::internal::GetCapturedStdout();
    return code;
  }

  CLI::App app_{"Manages.", "league_manager"};
  int players_ = 2;
  std::vector<std::string> hosts_;
  std::string config_;
  runtime::ConfigFile file_;
  std::string mode_ = "open";
  bool is_ephemeral_ = false;
  bool commits_ = true;
  std::string error_;
  std::string output_;
  const std::string path_ = ::testing::TempDir() +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".toml";
};

TEST_F(ConfiguredArgumentsTest, TheFileSaysWhatTheCommandLineDoesNot) {
  EXPECT_EQ(parse("[league_manager]\nplayers = 4\nmode = 'strict'\nallow-host = ['a', 'b']\n"
                  "ephemeral = true\nno-commitments = true\n[referee]\nplayers = 99\n"
                  "[limits.retry]\nmax_attempts = 2\n",
                  {"--players", "5"}),
            std::nullopt)
      << error_;
  EXPECT_EQ(players_, 5);
  EXPECT_EQ(mode_, "strict");
  EXPECT_EQ(hosts_, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(is_ephemeral_);
  EXPECT_FALSE(commits_);
  EXPECT_EQ(file_.limits(), nlohmann::json::parse(R"({"retry":{"max_attempts":2}})"));
}

TEST_F(ConfiguredArgumentsTest, FalseIsTheAbsenceOfASwitch) {
  EXPECT_EQ(parse("[league_manager]\nephemeral = false\nno-commitments = false\n"), std::nullopt);
  EXPECT_FALSE(is_ephemeral_);
  EXPECT_TRUE(commits_);
  EXPECT_TRUE(file_.limits().empty());
}

TEST_F(ConfiguredArgumentsTest, FaultsHaveAPlaceAndARule) {
  EXPECT_EQ(parse("[league_manager]\nplayers = 99\n"), 2);
  EXPECT_NE(error_.find(path_ + ":2:1: --players: "), std::string::npos) << error_;
  EXPECT_NE(error_.find("2 to 10"), std::string::npos) << error_;
  EXPECT_EQ(parse("[league_manager]\n\nplayer = 3\n"), 2);
  EXPECT_NE(error_.find(path_ + ":3:1: there is no option player in [league_manager]"),
            std::string::npos)
      << error_;
  EXPECT_EQ(parse("[league_manager]\nmode = true\n"), 2);
  EXPECT_NE(error_.find(":2:1: mode in [league_manager] needs a value"), std::string::npos);
  EXPECT_EQ(parse("[league_manager]\nephemeral = 3\n"), 2);
  EXPECT_NE(error_.find("must be true or false"), std::string::npos);
  EXPECT_EQ(parse("[league_manager]\nhelp = true\n"), 2);
  EXPECT_EQ(parse("[league_manager]\nmode = ['a', 'b']\n"), 2);
  EXPECT_NE(error_.find(":2:1: "), std::string::npos) << error_;
}

TEST_F(ConfiguredArgumentsTest, EveryFaultIsTold) {
  EXPECT_EQ(parse("[league_manager]\nplayer = 3\nplayers = 99\nmdoe = 'open'\nallow-host = ''\n"),
            2);
  for (const char* fault :
       {":2:1: there is no option player in [league_manager]; did you mean players?",
        ":3:1: --players: ",
        ":4:1: there is no option mdoe in [league_manager]; did you mean mode?",
        ":5:1: allow-host in [league_manager] is empty"})
    EXPECT_NE(error_.find(path_ + fault), std::string::npos) << error_;
  EXPECT_EQ(std::ranges::count(error_, '\n'), 4) << error_;
}

TEST_F(ConfiguredArgumentsTest, AFractionIsNoValue) {
  for (const char* value : {"30.0", "inf", "2026-01-01"}) {
    EXPECT_EQ(parse("[league_manager]\nplayers = " + std::string(value) + "\n"), 2);
    EXPECT_NE(error_.find(path_ + ":2:1: players in [league_manager] must be a string, a whole "),
              std::string::npos)
        << error_;
  }
}

TEST_F(ConfiguredArgumentsTest, AFaultOfTheCommandLineIsNotTheFilesFault) {
  EXPECT_EQ(parse("[league_manager]\nplayers = 3\n", {"--players", "99"}), 2);
  EXPECT_EQ(error_.find(".toml"), std::string::npos) << error_;
}

TEST_F(ConfiguredArgumentsTest, SettingsSayWhereTheyComeFrom) {
  EXPECT_EQ(parse("[league_manager]\nplayers = 4\n", {"--ephemeral", "--settings-as-json"}), 0);
  const auto rows = nlohmann::json::parse(output_);
  const auto row = [&rows](const std::string& name) {
    for (const auto& one : rows)
      if (one["name"] == name)
        return one["value"].get<std::string>() + " " + one["from"].get<std::string>();
    return std::string();
  };
  EXPECT_EQ(row("players"), "4 " + path_ + ":2:1");
  EXPECT_EQ(row("ephemeral"), "true command line");
  EXPECT_EQ(row("mode"), "open default");
}

TEST_F(ConfiguredArgumentsTest, ACommandHasATableOfItsOwn) {
  CLI::App league("Plays.", "league");
  auto* up = league.add_subcommand("up", "play");
  int players = 2;
  std::string config;
  up->add_option("--players", players);
  up->add_option("--config", config);
  std::ofstream(path_) << "[up]\nplayers = 7\n[league_manager]\nplayers = 4\n";
  const char* const words[] = {"league", "up", "--config", path_.c_str()};
  EXPECT_EQ(parse_arguments(league, 4, words), std::nullopt);
  EXPECT_EQ(players, 7);
}

}  // namespace
}  // namespace league::agent::host
