// With a shell script in the place of nats-server.
#include "tools/league/up/local_broker.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;

class LocalBrokerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* path = ::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): no other thread is there
    before_ = path != nullptr ? path : "";
    fs::create_directories(logs_);
    fs::create_directories(programs_);
    ::setenv("PATH", (programs_.string() + ":" + before_).c_str(), 1);  // NOLINT
  }
  void TearDown() override { ::setenv("PATH", before_.c_str(), 1); }  // NOLINT

  void install(const std::string& commands) {
    auto file = programs_ / "nats-server";
    std::ofstream(file) << "#!/bin/sh\n" << commands;
    fs::permissions(file, fs::perms::owner_all);
  }

  league::testing::TemporaryDirectory directory_;
  const fs::path data_ = directory_.path() / "data";
  const fs::path logs_ = directory_.path() / "logs";
  const fs::path programs_ = directory_.path() / "bin";
  const std::string ports_ = "\"" + (data_ / "bus").string() + "/nats-server_$$.ports\"";
  std::string before_;
  transport::link::StopSignal stop_;
};

TEST_F(LocalBrokerTest, SaysWhereItListens) {
  install("echo '{\"nats\":[\"nats://127.0.0.1:1234\"]}' > " + ports_ + "\nexec sleep 60\n");
  auto broker = LocalBroker::start(data_, logs_, stop_);
  ASSERT_TRUE(broker) << broker.error().message;
  EXPECT_EQ(broker->url(), "nats://127.0.0.1:1234");
}

TEST_F(LocalBrokerTest, CollectsGarbageLessOftenUnlessTheOperatorSaysHowOften) {
  install("echo \"every $GOGC, $KEPT\" >&2\nexit 3\n");
  ::setenv("KEPT", "and the rest", 1);  // NOLINT(concurrency-mt-unsafe)
  ::unsetenv("GOGC");  // NOLINT(concurrency-mt-unsafe)
  auto broker = LocalBroker::start(data_, logs_, stop_);
  EXPECT_NE(broker.error().message.find("every 400, and the rest"), std::string::npos)
      << broker.error().message;
  ::setenv("GOGC", "50", 1);  // NOLINT(concurrency-mt-unsafe)
  auto told = LocalBroker::start(data_, logs_, stop_);
  ::unsetenv("GOGC");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_NE(told.error().message.find("every 50, and the rest"), std::string::npos)
      << told.error().message;
}

TEST_F(LocalBrokerTest, WhatAKilledBrokerLeftIsNotTakenForItsOwn) {
  // The test cannot choose process numbers, so the script looks for what is left of others.
  fs::create_directories(data_ / "bus" / "jetstream");
  std::ofstream(data_ / "bus" / "nats-server_4242.ports") << R"({"nats":["nats://127.0.0.1:1"]})";
  install("ls \"" + (data_ / "bus").string() + "\" >&2\nexit 3\n");
  auto broker = LocalBroker::start(data_, logs_, stop_);
  ASSERT_FALSE(broker);
  EXPECT_EQ(broker.error().message.find("4242"), std::string::npos) << broker.error().message;
  EXPECT_NE(broker.error().message.find("jetstream"), std::string::npos)
      << "the store is kept, and its last words are shown: " << broker.error().message;
}

TEST_F(LocalBrokerTest, ItsVersionIsWhatTheServerSays) {
  install("[ \"$*\" = --version ] && echo nats-server: v2.10.27\n");
  EXPECT_EQ(installed_broker_version(), "nats-server: v2.10.27");
  install("exit 3\n");
  EXPECT_EQ(installed_broker_version(), std::nullopt);
}

TEST_F(LocalBrokerTest, ASignalEndsTheWait) {
  install("exec sleep 60\n");
  stop_.request_stop();
  auto broker = LocalBroker::start(data_, logs_, stop_);
  ASSERT_FALSE(broker);
  EXPECT_NE(broker.error().message.find("interrupted"), std::string::npos)
      << broker.error().message;
}

}  // namespace
}  // namespace league::tools
