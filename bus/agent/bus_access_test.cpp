#include "bus/agent/bus_access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "bus/transport/broker_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::agent::bus {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class BusOptionsTest : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& content) {
    fs::path file = directory_.path() / name;
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
  fs::path write_private(const std::string& name, const std::string& content) {
    auto file = write(name, content);
    ::chmod(file.c_str(), 0600);
    return file;
  }
  static json good() {
    return {{"url", "tls://bus.example:4222"},
            {"user", "P01"},
            {"password", "secret"},
            {"session", "0123456789abcdef0123456789abcdef"},
            {"league_id", "league_a"},
            {"ca_file", "/etc/bus/ca.pem"}};
  }
  core::Result<BusAccess> read(const std::string& content, BusOptions options = {}) {
    options.credentials = write("P01.json", content);
    return read_bus_access(options, "player");
  }

  league::testing::TemporaryDirectory directory_;
  core::CryptoRandom random_;
};

TEST_F(BusOptionsTest, TheFileSaysAllThatIsNeeded) {
  auto access = read(good().dump());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->options.urls, "tls://bus.example:4222");
  EXPECT_EQ(access->options.name, "player");
  EXPECT_EQ(access->options.credentials.user, "P01");
  EXPECT_EQ(access->options.credentials.password, "secret");
  EXPECT_EQ(access->options.tls.ca, "/etc/bus/ca.pem");
  ASSERT_TRUE(access->session);
  EXPECT_EQ(access->session->str(), "0123456789abcdef0123456789abcdef");
}

TEST_F(BusOptionsTest, StreamsMayHaveAUserOfTheirOwn) {
  auto access = read(good().dump());
  ASSERT_TRUE(access);
  EXPECT_FALSE(access->streams_credentials);
  auto file = good();
  file["streams"] = {{"user", "P01/streams"}, {"password", "other"}};
  access = read(file.dump());
  ASSERT_TRUE(access) << access.error().message;
  ASSERT_TRUE(access->streams_credentials);
  EXPECT_EQ(access->streams_credentials->user, "P01/streams");
  EXPECT_EQ(access->streams_credentials->password, "other");
  EXPECT_EQ(access->options.credentials.user, "P01");
  EXPECT_TRUE(access->has_streams);
  for (const json& bad :
       {json(nullptr), json(true), json("P01"), json::object(), json{{"password", "x"}}}) {
    file["streams"] = bad;
    access = read(file.dump());
    ASSERT_FALSE(access) << bad;
    EXPECT_NE(access.error().message.find("P01.json: streams names no user"), std::string::npos)
        << access.error().message;
  }
}

TEST_F(BusOptionsTest, TheManagersFileMaySayWhoIsServedFirst) {
  auto access = read(good().dump());
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->served_first.empty());
  EXPECT_EQ(*connect_first(*access), nullptr);
  auto file = good();
  file["served_first"] = {"referee-session", "operator-session"};
  access = read(file.dump());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->served_first.size(), 2U);
  for (const json& bad : {json("referee-session"), json{7}, json{"short"}, json{"no session"}}) {
    file["served_first"] = bad;
    access = read(file.dump());
    ASSERT_FALSE(access) << bad;
    EXPECT_NE(access.error().message.find("served_first"), std::string::npos);
  }
}

TEST_F(BusOptionsTest, TheFileMaySayThatThereAreNoStreams) {
  auto file = good();
  file["streams"] = false;
  auto access = read(file.dump());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_FALSE(access->has_streams);
  EXPECT_FALSE(access->streams_credentials);
  EXPECT_EQ(access->options.credentials.user, "P01");
  auto refused = no_streams_error("--replicate");
  EXPECT_TRUE(refused.message.starts_with("--replicate needs streams")) << refused.message;
  EXPECT_NE(refused.message.find("league bus-config --jetstream"), std::string::npos);
}

TEST_F(BusOptionsTest, TheFileMayHoldTheAuthoritysCertificate) {
  auto file = good();
  file["ca"] = "-----BEGIN CERTIFICATE-----";
  auto access = read(file.dump());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->options.tls.ca_pem, file["ca"]);
  EXPECT_TRUE(access->options.tls.ca.empty()) << "a path is of another machine";
  BusOptions options;
  options.tls.ca = "/own/ca.pem";
  access = read(file.dump(), options);
  EXPECT_EQ(access->options.tls.ca, "/own/ca.pem");
}

TEST_F(BusOptionsTest, WhatIsGivenBesideTheFileComesFirst) {
  BusOptions options;
  options.urls = "nats://127.0.0.1:4222";
  options.tls.ca = "/other/ca.pem";
  options.tls.cert = "/other/cert.pem";
  auto access = read(good().dump(), options);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->options.urls, "nats://127.0.0.1:4222");
  EXPECT_EQ(access->options.tls.ca, "/other/ca.pem");
  EXPECT_EQ(access->options.tls.cert, "/other/cert.pem");
  EXPECT_EQ(access->options.credentials.user, "P01");
}

TEST_F(BusOptionsTest, AnUrlAloneIsEnoughForAnOpenBroker) {
  BusOptions options;
  EXPECT_FALSE(options.is_wanted());
  options.urls = "nats://127.0.0.1:4222";
  EXPECT_TRUE(options.is_wanted());
  auto access = read_bus_access(options, "player");
  ASSERT_TRUE(access);
  EXPECT_FALSE(access->session);
  EXPECT_TRUE(access->options.credentials.user.empty());
  BusOptions by_file;
  by_file.credentials = "P01.json";
  EXPECT_TRUE(by_file.is_wanted());
}

TEST_F(BusOptionsTest, ErrorsNameTheFileAndWhatIsWrongButNoPassword) {
  auto without = [](const char* name) {
    auto object = good();
    object.erase(name);
    return object.dump();
  };
  auto with = [](const char* name, json value) {
    auto object = good();
    object[name] = std::move(value);
    return object.dump();
  };
  const std::pair<std::string, std::string> kCases[] = {
      {"", "is not a JSON object"},
      {"[]", "is not a JSON object"},
      {R"({"user":"P01","password":"secret")", "is not a JSON object"},
      {without("user"), "no user"},
      {with("user", 7), "no user"},
      {without("session"), "no session"},
      {with("session", "short"), "no session"},
      {with("session", "session.>"), "no session"},
      {with("session", nullptr), "no session"},
      {without("url"), "--bus"},
      {with("url", ""), "--bus"},
  };
  for (const auto& [content, why] : kCases) {
    auto access = read(content);
    ASSERT_FALSE(access) << content;
    EXPECT_EQ(access.error().code, core::ErrorCode::kInvalidFieldValue);
    EXPECT_NE(access.error().message.find("P01.json"), std::string::npos) << access.error().message;
    EXPECT_NE(access.error().message.find(why), std::string::npos) << access.error().message;
    EXPECT_EQ(access.error().message.find("secret"), std::string::npos) << access.error().message;
  }
  BusOptions missing;
  missing.credentials = directory_.path() / "nowhere.json";
  auto access = read_bus_access(missing, "player");
  ASSERT_FALSE(access);
  EXPECT_NE(access.error().message.find("nowhere.json: cannot be read"), std::string::npos);
}

TEST_F(BusOptionsTest, ASessionIsMadeOnceAndKept) {
  const fs::path file = directory_.path() / "data" / "p01" / "bus.session";
  auto made = open_bus_session(file, random_);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->str().size(), 32U);
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U) << "who knows it can speak for the agent";
  auto kept = open_bus_session(file, random_);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, *made);
}

TEST_F(BusOptionsTest, WithoutAFileEachSessionIsANewOne) {
  auto one = open_bus_session({}, random_);
  auto other = open_bus_session({}, random_);
  ASSERT_TRUE(one && other);
  EXPECT_NE(*one, *other);
}

TEST_F(BusOptionsTest, ADamagedSessionIsNotReplacedInSilence) {
  for (const std::string content : {"", "\n", "short\n", "session.>\n", " 0123456789abcdef\n"}) {
    auto file = write_private("bus.session", content);
    auto opened = open_bus_session(file, random_);
    ASSERT_FALSE(opened) << content;
    EXPECT_EQ(opened.error().code, core::ErrorCode::kInvalidFieldValue);
    EXPECT_NE(opened.error().message.find("bus.session"), std::string::npos);
    std::ifstream in(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), content);
  }
}

TEST_F(BusOptionsTest, ASessionThatOthersMayReadIsRefused) {
  auto file = write_private("bus.session", "0123456789abcdef\n");
  EXPECT_TRUE(open_bus_session(file, random_));
  ::chmod(file.c_str(), 0644);
  auto opened = open_bus_session(file, random_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("chmod 600"), std::string::npos);
}

TEST_F(BusOptionsTest, ASessionThatCannotBeKeptIsAnError) {
  auto file = write("no_directory", "x");
  EXPECT_FALSE(open_bus_session(file / "bus.session", random_));
}

/// A broker with a user for the league and one for its streams, who may publish nothing.
class BusConnectionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!league::testing::TestingBroker::is_installed())
      GTEST_SKIP() << "nats-server is not installed";
    auto file = directory_.path() / "users.conf";
    std::ofstream(file) << R"(authorization { users: [
      { user: "ann", password: "pw" },
      { user: "ann/streams", password: "other", permissions: { publish: { deny: ">" } } } ] })";
    broker_ = std::make_unique<league::testing::TestingBroker>(
        std::vector<std::string>{"-c", file.string()});
  }
  [[nodiscard]] BusAccess access(const std::string& password = "pw",
                                 const std::string& at_streams = "other") const {
    BusAccess access;
    access.options.urls = broker_->url();
    access.options.credentials = {.user = "ann", .password = password};
    access.streams_credentials = {.user = "ann/streams", .password = at_streams};
    return access;
  }

  league::testing::TemporaryDirectory directory_;
  std::unique_ptr<league::testing::TestingBroker> broker_;
};

TEST_F(BusConnectionsTest, StreamsHaveOneOfTheirOwnWhereTheyHaveAUser) {
  auto who = access();
  auto streams = connect_streams(who);
  ASSERT_TRUE(streams) << streams.error().message;
  EXPECT_TRUE((*streams)->is_connected());
  who.streams_credentials.reset();
  streams = connect_streams(who);
  ASSERT_TRUE(streams);
  EXPECT_EQ(*streams, nullptr);
}

TEST_F(BusConnectionsTest, ARefusedUserIsSaidToBeThatOfTheStreams) {
  EXPECT_TRUE(connect_bus(access("pw", "wrong"))) << "who needs no streams is not kept out";
  auto streams = connect_streams(access("pw", "wrong"));
  ASSERT_FALSE(streams);
  EXPECT_TRUE(streams.error().message.starts_with("streams: no connection to nats://"))
      << streams.error().message;
  EXPECT_EQ(streams.error().field, "credentials");
  auto bus = connect_bus(access("wrong"));
  ASSERT_FALSE(bus);
  EXPECT_TRUE(bus.error().message.starts_with("no connection to nats://")) << bus.error().message;
}

TEST_F(BusConnectionsTest, AFaultIsSaidToBeOfTheStreams) {
  std::mutex mutex;
  std::condition_variable changed;
  std::string said;  // under the mutex
  auto streams = connect_streams(access(), [&](const std::string& fault) {
    std::lock_guard lock(mutex);
    said = fault;
    changed.notify_all();
  });
  ASSERT_TRUE(streams) << streams.error().message;
  ASSERT_TRUE((*streams)->publish({"forbidden", "", {}, "x"}));
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return !said.empty(); }));
  EXPECT_TRUE(said.starts_with("streams: ")) << said;
  EXPECT_NE(said.find("forbidden"), std::string::npos) << said;
}

}  // namespace
}  // namespace league::agent::bus
