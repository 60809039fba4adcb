#include "common/agent/host/option_table.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace league::agent::host {
namespace {

using nlohmann::json;

TEST(OptionTable, TellsWhatAnOptionTakes) {
  CLI::App app("Plays.", "toy");
  std::string mode = "open";
  app.add_option("-m,--mode", mode, "how \"exact\"")
      ->check(CLI::IsMember({"open", "strict"}))
      ->capture_default_str();
  bool is_new = false;
  app.add_flag("--new", is_new, "begin anew");
  std::vector<std::string> files;
  app.add_option("FILE", files, "what to read")->required();
  auto table = json::parse(option_table(app));
  EXPECT_EQ(table["name"], "toy");
  EXPECT_EQ(table["description"], "Plays.");
  EXPECT_EQ(table["version"], LEAGUE_VERSION);
  ASSERT_EQ(table["options"].size(), 4U);  // CLI11 adds --help
  EXPECT_EQ(table["options"][0]["names"], json({"-h", "--help"}));
  const auto& row = table["options"][1];
  EXPECT_EQ(row["names"], json({"-m", "--mode"}));
  EXPECT_EQ(row["description"], "how \"exact\"");
  EXPECT_EQ(row["type"], "TEXT:{open,strict}");
  EXPECT_EQ(row["least_values"], 1);
  EXPECT_EQ(row["default"], "open");
  EXPECT_EQ(row["required"], false);
  EXPECT_EQ(table["options"][2]["most_values"], 0);
  const auto& file = table["options"][3];
  EXPECT_EQ(file["names"], json::array());
  EXPECT_EQ(file["positional"], "FILE");
  EXPECT_EQ(file["required"], true);
}

TEST(OptionTable, GoesDownIntoCommandsAndKeepsHiddenThingsHidden) {
  CLI::App app("Plays.", "toy");
  auto* admin = app.add_subcommand("admin", "for the operator");
  int port = 0;
  admin->add_subcommand("stop", "stop it")->add_option("--port", port, "where");
  app.add_subcommand("secret", "not for people")->group("");
  app.add_option("--hidden", port, "not for people")->group("");
  auto table = json::parse(option_table(app));
  ASSERT_EQ(table["commands"].size(), 1U);
  EXPECT_EQ(table["options"].size(), 1U);
  EXPECT_EQ(table["commands"][0]["commands"][0]["name"], "stop");
  EXPECT_EQ(table["commands"][0]["commands"][0]["options"][1]["names"], json({"--port"}));
}

TEST(OptionTable, IsPrintedOnlyWhenItAloneIsAskedFor) {
  CLI::App app("Plays.", "toy");
  const char* const asked[] = {"toy", "--options-as-json"};
  const char* const among_others[] = {"toy", "--options-as-json", "--help"};
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(parse_arguments(app, 2, asked), 0);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), option_table(app) + "\n");
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(parse_arguments(app, 3, among_others), 0) << "--help";
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), app.help());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ParseArguments, EndsWithTwoAfterAMistake) {
  CLI::App app("Plays.", "toy");
  const char* const none[] = {"toy"};
  const char* const mistaken[] = {"toy", "--colour", "red"};
  EXPECT_EQ(parse_arguments(app, 1, none), std::nullopt);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(parse_arguments(app, 3, mistaken), 2);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("--colour"), std::string::npos);
}

TEST(ParseArguments, SuggestsWhatWasProbablyMeant) {
  CLI::App app("Plays.", "toy");
  app.require_subcommand(1);
  int players = 0;
  std::string url;
  auto* up = app.add_subcommand("up", "play");
  up->add_option("--players", players, "how many")->required();
  auto* admin = app.add_subcommand("admin", "for the operator");
  admin->require_subcommand(1);
  admin->add_subcommand("pause", "pause it")->add_option("URL", url, "of the manager");
  const auto said = [&app](std::vector<const char*> words) {
    words.insert(words.begin(), "toy");
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(parse_arguments(app, static_cast<int>(words.size()), words.data()), 2);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said({"up", "--player", "4"}),
            "error: there is no option --player; did you mean --players?\n"
            "Run `toy up --help` for more information.\n");
  EXPECT_EQ(said({"up", "--players=4", "--x=5"}),
            "error: there is no option --x\nRun `toy up --help` for more information.\n");
  EXPECT_EQ(said({"admin", "puase", "url"}),
            "error: there is no command puase; did you mean pause?\n"
            "Run `toy admin --help` for more information.\n");
  EXPECT_EQ(said({"audti"}),
            "error: there is no command audti\nRun `toy --help` for more information.\n");
  EXPECT_NE(said({"admin", "pause", "url", "another"}).find("another"), std::string::npos);
}

}  // namespace
}  // namespace league::agent::host
