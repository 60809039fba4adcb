#include "tools/league/up/league_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace league::tools {
namespace {

std::string after(const ProgramSpec& spec, const std::string& option) {
  auto found = std::find(spec.arguments.begin(), spec.arguments.end(), option);
  return found == spec.arguments.end() || found + 1 == spec.arguments.end() ? "" : *(found + 1);
}

std::vector<std::string> names(const std::vector<ProgramSpec>& specs) {
  std::vector<std::string> all;
  for (const auto& spec : specs) all.push_back(after(spec, "--name"));
  return all;
}

int agents(const std::vector<ProgramSpec>& specs) {
  int sum = 0;
  for (const auto& spec : specs) sum += spec.agents;
  return sum;
}

constexpr const char* kUrl = "http://localhost:1234/mcp";
constexpr const char* kPrograms = "/opt/league/bin";

std::vector<ProgramSpec> player_specs(const UpOptions& options,
                                      const std::vector<std::string>& strategies) {
  return plan_players(options, strategies, kUrl, kPrograms).specs;
}

TEST(LeaguePlan, ReadsStrategiesAndMisbehaviours) {
  auto list = parse_strategies("random, slow:500,,even", *game::even_odd());
  ASSERT_TRUE(list);
  EXPECT_EQ(*list, (std::vector<std::string>{"random", "slow:500", "even"}));
}

TEST(LeaguePlan, NamesTheStrategiesThatThereAre) {
  auto list = parse_strategies("random,clever", *game::even_odd());
  ASSERT_FALSE(list);
  EXPECT_NE(list.error().message.find("\"clever\""), std::string::npos);
  EXPECT_NE(list.error().message.find("opposite"), std::string::npos);
  EXPECT_FALSE(parse_strategies("", *game::even_odd()));
  EXPECT_FALSE(parse_strategies("slow", *game::even_odd()));
}

TEST(LeaguePlan, DealsStrategiesInTurn) {
  UpOptions options;
  options.players = 5;
  auto specs = player_specs(options, {"random", "even"});
  EXPECT_EQ(names(specs),
            (std::vector<std::string>{"random-1", "even-1", "random-2", "even-2", "random-3"}));
  EXPECT_EQ(after(specs[1], "--strategy"), "even");
  EXPECT_EQ(after(specs[1], "--manager"), kUrl);
}

TEST(LeaguePlan, LeavesExternalPlayersToOthers) {
  UpOptions options;
  options.players = 5;
  options.external = 5;
  EXPECT_TRUE(player_specs(options, {"random"}).empty());
}

TEST(LeaguePlan, ManyPlayersOfAStrategyShareAProcessButNoneSharesWithACrash) {
  UpOptions options;
  options.players = 30;
  auto specs = player_specs(options, {"random", "crash", "slow:5"});
  EXPECT_EQ(agents(specs), 30);
  EXPECT_EQ(specs.size(), 12U);  // ten crash, one for each other strategy
  for (const auto& spec : specs) {
    bool is_crash = after(spec, "--strategy") == "crash";
    EXPECT_EQ(after(spec, "--count"), is_crash ? "1" : "10");
  }
  EXPECT_EQ(names(specs)[2], "slow-5-");  // the player program adds 1 to 10
}

TEST(LeaguePlan, APlayerAloneInItsGroupIsNumberedToo) {
  UpOptions options;
  options.players = 17;
  std::vector<std::string> strategies(16, "random");
  strategies.emplace_back("even");
  auto specs = player_specs(options, strategies);
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(after(specs[1], "--name"), "even-1");
}

TEST(LeaguePlan, SeedsDoNotDependOnTheGrouping) {
  UpOptions options;
  options.seed = 7;
  options.players = 4;
  auto specs = player_specs(options, {"random", "frequency"});
  EXPECT_EQ(after(specs[0], "--seed"), "7");
  EXPECT_EQ(after(specs[2], "--seed"), "8");  // random-2
  options.players = 40;
  auto groups = player_specs(options, {"random", "frequency"});
  EXPECT_EQ(after(groups[1], "--seed"), after(specs[1], "--seed"));
}

TEST(LeaguePlan, HandsSettingsOn) {
  UpOptions options;
  options.programs_config = "d/league_up.toml";
  options.limits["retry"]["max_attempts"] = 2;
  options.mode = "strict";
  options.data = "d";
  options.logs = "l";
  options.max_matches = 9;
  options.referees = 2;
  options.league_id = "cup";
  auto manager = manager_spec(options, kPrograms);
  EXPECT_EQ(after(manager, "--league"), "cup");
  EXPECT_EQ(after(manager, "--port"), "0");
  auto referees = referee_specs(options, kUrl, kPrograms);
  ASSERT_EQ(referees.size(), 2U);
  EXPECT_EQ(after(referees[1], "--max-matches"), "9");
  EXPECT_EQ(after(referees[1], "--name"), "referee-2");
  for (const auto& spec : {manager, referees[0], player_specs(options, {"odd"})[0]}) {
    EXPECT_EQ(after(spec, "--config"), "d/league_up.toml");
    EXPECT_EQ(after(spec, "--data"), "d");
    EXPECT_EQ(after(spec, "--mode"), "strict");
    EXPECT_EQ(after(spec, "--logs"), "l");
  }
  EXPECT_EQ(programs_config_text(options), "[limits.retry]\nmax_attempts = 2\n");
}

TEST(LeaguePlan, ReadsTransports) {
  using agent::host::Serving;
  EXPECT_EQ(*parse_transports(""), std::vector{Serving::kHttp});
  EXPECT_EQ(*parse_transports("tcp,websocket"), (std::vector{Serving::kTcp, Serving::kWebSocket}));
  auto wrong = parse_transports("http,pigeon");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("\"pigeon\"; there are http, sse,"), std::string::npos);
}

TEST(LeaguePlan, EverybodyTakesTheOneTransport) {
  UpOptions options;
  options.players = 2;
  options.transports = {agent::host::Serving::kUnix};
  options.sockets = "/tmp/s";
  auto manager = manager_spec(options, kPrograms);
  EXPECT_EQ(after(manager, "--transport"), "unix");
  EXPECT_EQ(after(manager, "--socket"), "/tmp/s/league_manager.sock");
  EXPECT_EQ(after(manager, "--endpoints"), "local,unix:/tmp/s/");
  auto referee = referee_specs(options, kUrl, kPrograms)[0];
  EXPECT_EQ(after(referee, "--socket"), "/tmp/s/referee-1.sock");
  EXPECT_EQ(after(referee, "--endpoints"), "any,unix:/tmp/s/");
  EXPECT_EQ(after(player_specs(options, {"odd"})[1], "--socket"), "/tmp/s/odd-2.sock");
}

TEST(LeaguePlan, PlayersOnStandardStreamsAreStartedByTheirCallers) {
  UpOptions options;
  options.players = 20;
  options.transports = {agent::host::Serving::kStdio};
  options.logs = "/var/my logs";
  options.data = "/var/data";
  options.programs_config = "/var/data/league_up.toml";
  auto plan = plan_players(options, {"odd"}, kUrl, kPrograms);
  EXPECT_TRUE(plan.specs.empty());
  ASSERT_EQ(plan.subprocess_players.size(), 20U);
  EXPECT_EQ(plan.subprocess_players[19].name, "odd-20");
  EXPECT_EQ(plan.subprocess_players[19].endpoint,
            "stdio:/opt/league/bin/player --name odd-20 --strategy odd --transport stdio "
            "--config /var/data/league_up.toml");
  EXPECT_EQ(programs_config_text(options),
            "[player]\nmode = \"open\"\nlogs = \"/var/my logs\"\ndata = \"/var/data\"\n");
  auto manager = manager_spec(options, kPrograms);
  EXPECT_EQ(after(manager, "--transport"), "") << "nobody could call it";
  EXPECT_EQ(after(manager, "--endpoints"), "local,stdio:/opt/league/bin/player");
}

TEST(LeaguePlan, SeveralTransportsAreDealtOutInTurn) {
  UpOptions options;
  options.players = 40;
  options.seed = 7;
  options.transports = {agent::host::Serving::kHttp, agent::host::Serving::kTcp};
  auto specs = player_specs(options, {"random"});
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(names(specs), (std::vector<std::string>{"random-http-", "random-tcp-"}));
  EXPECT_EQ(after(specs[1], "--count"), "20");
  EXPECT_EQ(after(specs[0], "--seed"), "7");
  EXPECT_EQ(after(specs[1], "--seed"), "300008") << "no seed of the other process";
  EXPECT_EQ(after(manager_spec(options, kPrograms), "--transport"), "");
}

TEST(LeaguePlan, NoTwoPlayersHaveOneName) {
  UpOptions options;
  options.players = 150;
  options.transports = {agent::host::Serving::kHttp, agent::host::Serving::kStdio,
                        agent::host::Serving::kTcp};
  auto plan = plan_players(options, {"random", "even"}, kUrl, kPrograms);
  std::set<std::string> names;
  for (const auto& player : plan.subprocess_players) names.insert(player.name);
  for (const auto& spec : plan.specs) {
    const std::string name = after(spec, "--name");
    if (spec.agents == 1) names.insert(name);
    for (int i = 1; spec.agents > 1 && i <= spec.agents; ++i)
      names.insert(name + std::to_string(i));
  }
  EXPECT_EQ(names.size(), 150U);
}

TEST(LeaguePlan, RefereesShowTheManagersKey) {
  UpOptions options;
  options.data = "d";
  EXPECT_EQ(after(referee_specs(options, kUrl, kPrograms)[0], "--admission-key"), "d/referee.key");
}

}  // namespace
}  // namespace league::tools
