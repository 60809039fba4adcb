#include "bus/commands/bus_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/support/scripted_random.h"
#include "tests/support/temporary_directory.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;

BusConfig sample(int players = 2, int referees = 2) {
  league::testing::ScriptedRandom random;
  return {.league_id = "cup 2026",
          .agents = make_bus_agents(numbered_bus_agents(players, referees), random),
          .brokers = {BrokerAddress{}},
          .tls = std::nullopt,
          .jetstream = "",
          .broker_version = std::nullopt,
          .route_password = "between brokers"};
}

const BusUser& agent_of(const BusConfig& config, std::string_view name) {
  for (const auto& agent : config.agents) {
    if (agent.name == name) return agent;
  }
  throw std::runtime_error("no agent " + std::string(name));
}

BusConfig with_streams(int players = 2, int referees = 2) {
  auto config = sample(players, referees);
  config.jetstream = "/var/lib/league";
  return config;
}

/// The text of one account.
std::string account(const BusConfig& config, std::string_view name) {
  std::string text = render_users(config);
  auto begin = text.find("\n" + std::string(name) + ": {\n");
  EXPECT_NE(begin, std::string::npos);
  return text.substr(begin, text.find("\n}\n", begin) - begin);
}

/// The block of one user.
std::string user_block(const BusConfig& config, std::string_view name) {
  std::string text = render_users(config);
  auto begin = text.find("user: \"" + std::string(name) + "\"");
  EXPECT_NE(begin, std::string::npos);
  return text.substr(begin, text.find("\n    }\n", begin) - begin);
}

/// The subjects of `allow:` or `deny:` behind `which` in a user's block.
std::set<std::string> subjects(const std::string& block, const std::string& which) {
  std::smatch list;
  std::set<std::string> found;
  if (!std::regex_search(block, list, std::regex(which + R"re(: \[([^\]]*)\])re"))) return found;
  std::string inside = list[1];
  static const std::regex kText("\"([^\"]*)\"");
  for (std::sregex_iterator it(inside.begin(), inside.end(), kText), end; it != end; ++it)
    found.insert((*it)[1]);
  return found;
}

TEST(BusConfig, APlayerHasItsOwnSubjectsAndNoMore) {
  auto config = sample();
  std::string session = agent_of(config, "player01").session.str();
  std::string block = user_block(config, "player01");
  auto subscribe = block.find("subscribe:");
  EXPECT_EQ(subjects(block.substr(0, subscribe), "allow"),
            (std::set<std::string>{"mcp.discovery." + session, "mcp.session." + session + ".in"}));
  EXPECT_EQ(subjects(block.substr(subscribe), "allow"),
            (std::set<std::string>{"mcp.session." + session + ".out", "_INBOX." + session + ".>",
                                   "mcp.events.cup_2026.>"}));
  EXPECT_NE(block.find("allow_responses"), std::string::npos);
}

TEST(BusConfig, NoRefereeMaySpeakToReferees) {
  auto config = with_streams(1, 3);
  std::set<std::string> all;
  for (int i = 1; i <= 3; ++i)
    all.insert("mcp.session." + agent_of(config, "referee0" + std::to_string(i)).session.str() +
               ".out");
  auto block = user_block(config, "referee02");
  EXPECT_EQ(subjects(block, "deny"), all);
  EXPECT_TRUE(subjects(block, "allow").contains("mcp.session.*.out"));
}

TEST(BusConfig, StreamsAreInAnAccountOfTheManagerAndTheOperator) {
  auto config = with_streams();
  std::string streams = account(config, "STREAMS");
  std::string league = account(config, "LEAGUE");
  EXPECT_NE(streams.find("jetstream: enabled"), std::string::npos);
  EXPECT_EQ(league.find("jetstream"), std::string::npos);
  static const std::regex kUser("user: (\"[^\"]*\")");
  std::set<std::string> users;
  for (std::sregex_iterator it(streams.begin(), streams.end(), kUser), end; it != end; ++it)
    users.insert((*it)[1]);
  EXPECT_EQ(users, (std::set<std::string>{"\"manager/streams\"", "\"operator/streams\""}));
  for (const auto& agent : config.agents) {
    EXPECT_NE(league.find("user: " + config_string(agent.name)), std::string::npos);
    EXPECT_EQ(agent.streams_login.has_value(),
              agent.role == BusRole::kManager || agent.role == BusRole::kOperator);
  }
  EXPECT_TRUE(subjects(user_block(config, "manager/streams"), "allow").contains("$JS.API.>"));
}

TEST(BusConfig, TheManagerHasTheJournalOfItsLeagueAlone) {
  auto config = with_streams();
  const std::string block = user_block(config, "manager/streams");
  const auto subscribe = block.find("subscribe:");
  EXPECT_EQ(subjects(block.substr(0, subscribe), "allow"),
            (std::set<std::string>{"$JS.API.>", "$JS.ACK.>", "mcp.events.cup_2026.>",
                                   "mcp.journal.cup_2026.*"}));
  const std::string session = agent_of(config, "manager").session.str();
  EXPECT_EQ(subjects(block.substr(subscribe), "allow"),
            (std::set<std::string>{"mcp.journal.cup_2026.beat", "_INBOX." + session + ".>"}));
  EXPECT_EQ(user_block(config, "operator/streams").find("mcp.journal"), std::string::npos);
}

TEST(BusConfig, BetweenTheAccountsAreTheEventsAlone) {
  auto config = with_streams();
  static const std::regex kShared(
      "(service|stream): (?:\\{ account: STREAMS, subject: )?\"([^\"]*)\"");
  for (const char* side : {"STREAMS", "LEAGUE"}) {
    std::string text = account(config, side);
    std::set<std::string> shared;
    for (std::sregex_iterator it(text.begin(), text.end(), kShared), end; it != end; ++it)
      shared.insert((*it)[1].str() + " " + (*it)[2].str());
    EXPECT_EQ(shared, std::set<std::string>{"stream mcp.events.cup_2026.>"}) << side;
  }
}

TEST(BusConfig, NobodyComesAtStreamsFromTheLeague) {
  auto config = with_streams();
  for (const auto& agent : config.agents) {
    for (const auto& subject : subjects(user_block(config, agent.name), "allow"))
      EXPECT_FALSE(subject.starts_with('$')) << agent.name << " " << subject;
  }
}

TEST(BusConfig, WithoutStreamsThereIsOneAccountAndNothingOfThem) {
  std::string text = render_users(sample());
  EXPECT_EQ(text.find("accounts"), std::string::npos);
  EXPECT_EQ(text.find("$JS"), std::string::npos);
  EXPECT_EQ(text.find("/streams"), std::string::npos);
}

TEST(BusConfig, WhoHasAUserAtTheStreamsIsTold) {
  auto config = with_streams();
  const auto& manager = agent_of(config, "manager");
  auto credentials = nlohmann::json::parse(render_credentials(config, manager));
  EXPECT_EQ(
      credentials["streams"],
      (nlohmann::json{{"user", "manager/streams"}, {"password", manager.streams_login->password}}));
  const auto& referee = agent_of(config, "referee01");
  EXPECT_FALSE(nlohmann::json::parse(render_credentials(config, referee)).contains("streams"));
}

TEST(BusConfig, TheManagerKnowsWhomToServeFirst) {
  auto config = sample();
  auto first = nlohmann::json::parse(
      render_credentials(config, agent_of(config, "manager")))["served_first"];
  std::set<std::string> expected;
  for (const auto& agent : config.agents) {
    if (agent.role == BusRole::kReferee || agent.role == BusRole::kOperator)
      expected.insert(agent.session.str());
    if (agent.role == BusRole::kManager) continue;
    EXPECT_FALSE(nlohmann::json::parse(render_credentials(config, agent)).contains("served_first"));
  }
  EXPECT_EQ(first.get<std::set<std::string>>(), expected);
}

TEST(BusConfig, WhoWouldAskForStreamsIsToldThatThereAreNone) {
  auto config = sample();
  for (const auto& agent : config.agents) {
    auto credentials = nlohmann::json::parse(render_credentials(config, agent));
    if (agent.role == BusRole::kPlayer || agent.role == BusRole::kReferee) {
      EXPECT_FALSE(credentials.contains("streams")) << agent.name;
    } else {
      EXPECT_EQ(credentials.value("streams", nlohmann::json()), nlohmann::json(false))
          << agent.name;
    }
  }
}

TEST(BusConfig, EveryPermissionHasAReason) {
  for (const auto& row : bus_permissions()) EXPECT_FALSE(row.reason.empty()) << row.subject;
}

TEST(BusConfig, NoPasswordIsAmongTheUsersWhereHashesAreMade) {
  auto config = with_streams();
  std::string text = render_users(config);
  std::set<std::string> passwords;
  for (const auto& agent : config.agents) {
    for (const auto& login : {agent.login, agent.streams_login.value_or(agent.login)}) {
      EXPECT_TRUE(std::regex_match(login.password, std::regex("[0-9a-f]{32}")));
      EXPECT_TRUE(passwords.insert(login.password).second || !agent.streams_login)
          << "each its own";
      if (login.stored_password == login.password) GTEST_SKIP() << "no bcrypt on this system";
      EXPECT_EQ(text.find(login.password), std::string::npos);
    }
  }
  EXPECT_EQ(passwords.size(), config.agents.size() + 2);
}

TEST(BusConfig, AHashIsBcryptAndSalted) {
  league::testing::ScriptedRandom random;
  auto one = bcrypt_hash("secret", random);
  if (!one) GTEST_SKIP() << "no bcrypt on this system";
  EXPECT_TRUE(std::regex_match(*one, std::regex(R"(\$2a\$04\$[./A-Za-z0-9]{53})"))) << *one;
  EXPECT_NE(one, bcrypt_hash("secret", random));
}

TEST(BusConfig, TextsAreQuotedWhateverTheyAre) {
  EXPECT_EQ(config_string("plain"), "\"plain\"");
  EXPECT_EQ(config_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(config_string("two\nlines\x01\x7f"), R"("two\x0alines\x01\x7f")");
  EXPECT_EQ(config_string("$HOME #no // comment"), "\"$HOME #no // comment\"");
  auto config = sample(1, 0);
  config.agents.back().login.user = "x\"\n} { user: root";
  EXPECT_NE(render_users(config).find(R"(user: "x\"\x0a} { user: root")"), std::string::npos);
}

TEST(BusConfig, AnUncheckedLeagueCannotWidenSubjects) {
  auto config = sample(1, 1);
  config.league_id = "a.>\"\n*";
  EXPECT_TRUE(subjects(render_users(config).substr(render_users(config).find("player01")),
                       "subscribe: \\{ allow")
                  .contains("mcp.events.a_____.>"));
}

TEST(BusConfig, AddressesOfBrokers) {
  auto plain = BrokerAddress::parse("broker.example");
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, (BrokerAddress{"broker.example", 4222, 6222}));
  EXPECT_EQ(BrokerAddress::parse("[::1]:1:2"), (BrokerAddress{"[::1]", 1, 2}));
  EXPECT_EQ(BrokerAddress::parse("10.0.0.7:4300"), (BrokerAddress{"10.0.0.7", 4300, 6222}));
  for (const char* bad : {"", ":4222", "host:", "host:0", "host:65536", "host:1:2:3", "host:x",
                          "ho st", "host\n", "[::1", "nats://host:1"})
    EXPECT_FALSE(BrokerAddress::parse(bad)) << bad;
}

TEST(BusConfig, VersionsOfBrokers) {
  for (const char* text : {"2.10.27", "v2.10.27", "nats-server: v2.10.27", "2.10.27-RC.1"})
    EXPECT_EQ(BrokerVersion::parse(text), (BrokerVersion{2, 10, 27})) << text;
  EXPECT_EQ((BrokerVersion{2, 9, 10}).text(), "2.9.10");
  EXPECT_LT(*BrokerVersion::parse("2.9.25"), kFirstWithSyncInterval);
  EXPECT_GE(*BrokerVersion::parse("2.10.0"), kFirstWithSyncInterval);
  EXPECT_GE(*BrokerVersion::parse("3.0.0"), kFirstWithSyncInterval);
  for (const char* bad : {"", "v", "2", "2.10", "2.10.", "2.10.x", "2..1", "-2.10.1", "2.10.27.1",
                          "2.10.27 ", " 2.10.27", "2.10.99999999999", "latest"})
    EXPECT_FALSE(BrokerVersion::parse(bad)) << bad;
}

TEST(BusConfig, OnlyABrokerThatKnowsItIsToldToFlushEachMessage) {
  auto config = with_streams();
  EXPECT_EQ(render_broker(config, 0).find("sync_interval"), std::string::npos);
  config.broker_version = BrokerVersion{2, 9, 25};
  EXPECT_EQ(render_broker(config, 0).find("sync_interval"), std::string::npos);
  config.broker_version = BrokerVersion{2, 10, 27};
  const std::string text = render_broker(config, 0);
  const auto begin = text.find("jetstream {");
  EXPECT_NE(text.substr(begin, text.find("\n}\n", begin) - begin).find("\n  sync_interval: always"),
            std::string::npos)
      << text;
  config.jetstream.clear();
  EXPECT_EQ(render_broker(config, 0).find("sync_interval"), std::string::npos) << "no streams";
}

TEST(BusConfig, EachBrokerOfAClusterKnowsTheOthers) {
  auto config = sample();
  config.brokers = {{"a.example", 4222, 6222}, {"10.0.0.2", 4333, 6333}, {"c.example", 4222, 6222}};
  config.jetstream = "/var/lib/league";
  std::string second = render_broker(config, 1);
  EXPECT_NE(second.find("listen: \"10.0.0.2:4333\""), std::string::npos);
  EXPECT_NE(second.find("nats://route:between brokers@a.example:6222"), std::string::npos);
  EXPECT_EQ(second.find("@10.0.0.2"), std::string::npos) << "no route to itself";
  EXPECT_NE(second.find("store_dir: \"/var/lib/league/broker-2\""), std::string::npos);
  EXPECT_NE(render_broker(config, 0).find("listen: \"0.0.0.0:4222\""), std::string::npos)
      << "its own name may be 127.0.1.1 to it";
  auto credentials = nlohmann::json::parse(render_credentials(config, config.agents[0]));
  EXPECT_EQ(credentials["url"], "nats://a.example:4222,nats://10.0.0.2:4333,nats://c.example:4222");
}

TEST(BusConfig, WhatAnAgentGets) {
  auto config = sample();
  config.tls = BusTls{"/c.pem", "/k.pem", "/ca.pem", "-----BEGIN CERTIFICATE-----"};
  const auto& agent = agent_of(config, "player02");
  auto credentials = nlohmann::json::parse(render_credentials(config, agent));
  EXPECT_EQ(credentials, (nlohmann::json{{"url", "tls://127.0.0.1:4222"},
                                         {"user", "player02"},
                                         {"password", agent.login.password},
                                         {"session", agent.session.str()},
                                         {"league_id", "cup 2026"},
                                         {"ca", "-----BEGIN CERTIFICATE-----"}}))
      << "its machine need not have the file";
}

TEST(BusConfig, ABrokerMayListenElsewhereThanAgentsReachIt) {
  auto config = sample();
  config.brokers = {{.host = "broker", .client_port = 4222, .listen = "0.0.0.0:14222"}};
  auto text = render_broker(config, 0);
  EXPECT_NE(text.find("listen: \"0.0.0.0:14222\"\nclient_advertise: \"broker:4222\"\n"),
            std::string::npos)
      << text;
  auto credentials = nlohmann::json::parse(render_credentials(config, config.agents[0]));
  EXPECT_EQ(credentials["url"], "nats://broker:4222");
}

TEST(BusConfigRoster, ReadsAFile) {
  auto entries = parse_bus_agents(
      "# who plays\nplayer alpha\n\n  referee\twhistle  # fair\nplayer beta 0123456789abcdef\r\n");
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(*entries,
            (std::vector<BusEntry>{{BusRole::kPlayer, "alpha", std::nullopt},
                                   {BusRole::kReferee, "whistle", std::nullopt},
                                   {BusRole::kPlayer, "beta",
                                    transport::link::BusSession::parse("0123456789abcdef")}}));
}

TEST(BusConfigRoster, RefusesWhatCouldHurt) {
  for (const char* bad : {"player", "spectator x", "player ../../etc/passwd", "player .hidden",
                          "player -rf", "player a\"b", "player \xc3\xa9", "player manager",
                          "player x short", "player x a.b.c.d.e.f", "player x 0123456789 more",
                          "player x\nreferee x", "player x 0123456789\nplayer y 0123456789"}) {
    auto entries = parse_bus_agents(bad);
    ASSERT_FALSE(entries) << bad;
    EXPECT_TRUE(entries.error().message.starts_with("line ")) << entries.error().message;
  }
  EXPECT_FALSE(parse_bus_agents("player " + std::string(65, 'x')));
}

TEST(BusConfigFiles, AreForTheirOwnerAloneAndNotReplacedUnasked) {
  const league::testing::TemporaryDirectory temporary;
  fs::path directory = temporary.path() / "new" / "bus";
  auto files = write_bus_config(directory, sample(), false);
  ASSERT_TRUE(files) << files.error().message;
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    auto others = entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all);
    EXPECT_EQ(others, fs::perms::none) << entry.path();
    count += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(count, 1 + 1 + 6);
  auto again = write_bus_config(directory, sample(), false);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("--force"), std::string::npos);
}

TEST(BusConfigFiles, ForceLeavesNoOldUsersAndTouchesNothingElse) {
  const league::testing::TemporaryDirectory temporary;
  auto large = sample(3, 2);
  large.brokers = {{"a", 1, 2}, {"b", 1, 2}};
  ASSERT_TRUE(write_bus_config(temporary.path(), large, false));
  std::ofstream(temporary.path() / "notes.txt") << "mine";
  auto files = write_bus_config(temporary.path(), sample(1, 1), true);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_FALSE(fs::exists(temporary.path() / "server-1.conf"));
  EXPECT_FALSE(fs::exists(files->credentials / "player03.json"));
  EXPECT_TRUE(fs::exists(files->credentials / "player01.json"));
  EXPECT_TRUE(fs::exists(temporary.path() / "notes.txt"));
}

}  // namespace
}  // namespace league::tools
