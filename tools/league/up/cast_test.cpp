#include "tools/league/up/cast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace league::tools {
namespace {

std::string after(const Part& part, const std::string& option) {
  auto found = std::find(part.arguments.begin(), part.arguments.end(), option);
  return found == part.arguments.end() || found + 1 == part.arguments.end() ? "" : *(found + 1);
}

std::vector<std::string> names(const std::vector<Part>& parts) {
  std::vector<std::string> all;
  for (const auto& part : parts) all.push_back(after(part, "--name"));
  return all;
}

int agents(const std::vector<Part>& parts) {
  int sum = 0;
  for (const auto& part : parts) sum += part.agents;
  return sum;
}

constexpr const char* kUrl = "http://localhost:1234/mcp";
constexpr const char* kPrograms = "/opt/league/bin";

std::vector<Part> player_parts(const UpOptions& options,
                               const std::vector<std::string>& strategies) {
  return cast_players(options, strategies, kUrl, kPrograms).parts;
}

TEST(Cast, ReadsStrategiesAndMisbehaviours) {
  auto list = parse_strategies("random, slow:500,,even");
  ASSERT_TRUE(list);
  EXPECT_EQ(*list, (std::vector<std::string>{"random", "slow:500", "even"}));
}

TEST(Cast, NamesTheStrategiesThatThereAre) {
  auto list = parse_strategies("random,clever");
  ASSERT_FALSE(list);
  EXPECT_NE(list.error().message.find("\"clever\""), std::string::npos);
  EXPECT_NE(list.error().message.find("opposite"), std::string::npos);
  EXPECT_FALSE(parse_strategies(""));
  EXPECT_FALSE(parse_strategies("slow"));
}

TEST(Cast, DealsStrategiesInTurn) {
  UpOptions options;
  options.players = 5;
  auto parts = player_parts(options, {"random", "even"});
  EXPECT_EQ(names(parts),
            (std::vector<std::string>{"random-1", "even-1", "random-2", "even-2", "random-3"}));
  EXPECT_EQ(after(parts[1], "--strategy"), "even");
  EXPECT_EQ(after(parts[1], "--manager"), kUrl);
}

TEST(Cast, LeavesExternalPlayersToOthers) {
  UpOptions options;
  options.players = 5;
  options.external = 5;
  EXPECT_TRUE(player_parts(options, {"random"}).empty());
}

TEST(Cast, ManyPlayersOfAStrategyShareAProcessButNoneSharesWithACrash) {
  UpOptions options;
  options.players = 30;
  auto parts = player_parts(options, {"random", "crash", "slow:5"});
  EXPECT_EQ(agents(parts), 30);
  EXPECT_EQ(parts.size(), 12U);  // ten crash, one for each other strategy
  for (const auto& part : parts) {
    bool is_crash = after(part, "--strategy") == "crash";
    EXPECT_EQ(after(part, "--count"), is_crash ? "1" : "10");
  }
  EXPECT_EQ(names(parts)[2], "slow-5-");  // the player program adds 1 to 10
}

TEST(Cast, APlayerAloneInItsGroupIsNumberedToo) {
  UpOptions options;
  options.players = 17;
  std::vector<std::string> strategies(16, "random");
  strategies.emplace_back("even");
  auto parts = player_parts(options, strategies);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(after(parts[1], "--name"), "even-1");
}

TEST(Cast, SeedsDoNotDependOnTheGrouping) {
  UpOptions options;
  options.seed = 7;
  options.players = 4;
  auto parts = player_parts(options, {"random", "frequency"});
  EXPECT_EQ(after(parts[0], "--seed"), "7");
  EXPECT_EQ(after(parts[2], "--seed"), "8");  // random-2
  options.players = 40;
  auto groups = player_parts(options, {"random", "frequency"});
  EXPECT_EQ(after(groups[1], "--seed"), after(parts[1], "--seed"));
}

TEST(Cast, HandsSettingsOn) {
  UpOptions options;
  options.limits_file = "fast.json";
  options.mode = "strict";
  options.data = "d";
  options.logs = "l";
  options.max_matches = 9;
  options.referees = 2;
  options.league_id = "cup";
  auto manager = manager_part(options, kPrograms);
  EXPECT_EQ(after(manager, "--league"), "cup");
  EXPECT_EQ(after(manager, "--data"), "d");
  EXPECT_EQ(after(manager, "--port"), "0");
  auto referees = referee_parts(options, kUrl, kPrograms);
  ASSERT_EQ(referees.size(), 2U);
  EXPECT_EQ(after(referees[1], "--max-matches"), "9");
  EXPECT_EQ(after(referees[1], "--name"), "referee-2");
  for (const auto& part : {manager, referees[0], player_parts(options, {"odd"})[0]}) {
    EXPECT_EQ(after(part, "--limits"), "fast.json");
    EXPECT_EQ(after(part, "--mode"), "strict");
    EXPECT_EQ(after(part, "--logs"), "l");
  }
}

TEST(Cast, ReadsTransports) {
  using agent::Serving;
  EXPECT_EQ(*parse_transports(""), std::vector{Serving::kHttp});
  EXPECT_EQ(*parse_transports("tcp,websocket"), (std::vector{Serving::kTcp, Serving::kWebSocket}));
  EXPECT_EQ(parse_transports("mixed")->size(), agent::kAllServings.size());
  auto wrong = parse_transports("http,pigeon");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("\"pigeon\"; there are http, sse,"), std::string::npos);
}

TEST(Cast, EverybodyTakesTheOneTransport) {
  UpOptions options;
  options.players = 2;
  options.transports = {agent::Serving::kUnix};
  options.sockets = "/tmp/s";
  auto manager = manager_part(options, kPrograms);
  EXPECT_EQ(after(manager, "--transport"), "unix");
  EXPECT_EQ(after(manager, "--socket"), "/tmp/s/league_manager.sock");
  EXPECT_EQ(after(manager, "--endpoints"), "local,unix:/tmp/s/");
  auto referee = referee_parts(options, kUrl, kPrograms)[0];
  EXPECT_EQ(after(referee, "--socket"), "/tmp/s/referee-1.sock");
  EXPECT_EQ(after(referee, "--endpoints"), "any,unix:/tmp/s/");
  EXPECT_EQ(after(player_parts(options, {"odd"})[1], "--socket"), "/tmp/s/odd-2.sock");
}

TEST(Cast, PlayersOnStandardStreamsAreStartedByTheirCallers) {
  UpOptions options;
  options.players = 20;
  options.transports = {agent::Serving::kStdio};
  options.logs = "/var/my logs";
  auto cast = cast_players(options, {"odd"}, kUrl, kPrograms);
  EXPECT_TRUE(cast.parts.empty());
  ASSERT_EQ(cast.residents.size(), 20U);
  EXPECT_EQ(cast.residents[19].name, "odd-20");
  EXPECT_EQ(cast.residents[19].endpoint,
            "stdio:/opt/league/bin/player --name odd-20 --strategy odd --transport stdio "
            "--mode open --logs \"/var/my logs\"");
  auto manager = manager_part(options, kPrograms);
  EXPECT_EQ(after(manager, "--transport"), "") << "nobody could call it";
  EXPECT_EQ(after(manager, "--endpoints"), "local,stdio:/opt/league/bin/player");
}

TEST(Cast, SeveralTransportsAreDealtOutInTurn) {
  UpOptions options;
  options.players = 40;
  options.seed = 7;
  options.transports = {agent::Serving::kHttp, agent::Serving::kTcp};
  auto parts = player_parts(options, {"random"});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(names(parts), (std::vector<std::string>{"random-http-", "random-tcp-"}));
  EXPECT_EQ(after(parts[1], "--count"), "20");
  EXPECT_EQ(after(parts[0], "--seed"), "7");
  EXPECT_EQ(after(parts[1], "--seed"), "400008") << "no seed of the other process";
  EXPECT_EQ(after(manager_part(options, kPrograms), "--transport"), "");
}

TEST(Cast, NoTwoPlayersHaveOneName) {
  UpOptions options;
  options.players = 150;
  options.transports = {agent::Serving::kHttp, agent::Serving::kStdio, agent::Serving::kTcp};
  auto cast = cast_players(options, {"random", "even"}, kUrl, kPrograms);
  std::set<std::string> names;
  for (const auto& resident : cast.residents) names.insert(resident.name);
  for (const auto& part : cast.parts) {
    const std::string name = after(part, "--name");
    if (part.agents == 1) names.insert(name);
    for (int i = 1; part.agents > 1 && i <= part.agents; ++i)
      names.insert(name + std::to_string(i));
  }
  EXPECT_EQ(names.size(), 150U);
}

TEST(Cast, RefereesShowTheManagersKey) {
  UpOptions options;
  options.data = "d";
  EXPECT_EQ(after(referee_parts(options, kUrl, kPrograms)[0], "--admission-key"), "d/referee.key");
}

}  // namespace
}  // namespace league::tools
