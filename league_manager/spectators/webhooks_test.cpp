#include "league_manager/spectators/webhooks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/core/base64.h"
#include "common/core/random_source.h"
#include "tests/support/fake_clock.h"

namespace league::league_manager::spectators {
namespace {

using std::chrono::seconds;

/// Keeps calls until the test answers them.
class KeepingCaller final : public transport::link::Caller {
 public:
  void call(transport::link::OutboundCall call, Completion completion) override {
    calls.push_back(std::move(call));
    completions.push_back(std::move(completion));
  }
  /// Answers the last call.
  void answer(int status) {
    transport::link::CallOutcome outcome;
    outcome.http_status = status;
    auto completion = completions.back();
    completion(std::move(outcome));
  }
  [[nodiscard]] std::string header(const std::string& name) const {
    for (const auto& [key, value] : calls.back().headers)
      if (key == name) return value;
    return {};
  }

  std::vector<transport::link::OutboundCall> calls;
  std::vector<Completion> completions;
};

class WebhooksTest : public ::testing::Test {
 protected:
  Webhooks make(std::size_t targets = 1) {
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < targets; ++i)
      urls.push_back("http://hook" + std::to_string(i) + ".example/x");
    return {*parse_webhook_targets(urls),
            "a secret of at least 24 bytes",
            {.caller = caller_, .timer = time_, .clock = time_, .on_failure = [this](auto text) {
               failures_.push_back(std::move(text));
             }}};
  }

  ::league::testing::FakeTime time_;
  KeepingCaller caller_;
  std::vector<std::string> failures_;
};

TEST_F(WebhooksTest, AMessageIsSignedAsTheStandardSays) {
  auto webhooks = make();
  webhooks.send("round.completed", "L.round.completed.1", {{"round", 1}});
  ASSERT_EQ(caller_.calls.size(), 1);
  const std::string body = caller_.calls[0].bytes.str();
  EXPECT_EQ(nlohmann::json::parse(body)["type"], "round.completed");
  EXPECT_EQ(nlohmann::json::parse(body)["data"]["round"], 1);
  EXPECT_EQ(caller_.header("webhook-id"), "L.round.completed.1");
  EXPECT_EQ(caller_.header("webhook-timestamp"), "1736937000");
  EXPECT_EQ(caller_.header("webhook-signature"),
            webhook_signature("a secret of at least 24 bytes", "L.round.completed.1", "1736937000",
                              body));
  // The example in the documentation of the standard.
  const auto secret = core::decode_base64("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  ASSERT_TRUE(secret);
  EXPECT_EQ(webhook_signature(*secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
                              R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST_F(WebhooksTest, MessagesComeInTheirOrderAndOneAtATime) {
  auto webhooks = make();
  webhooks.send("a", "1", {});
  webhooks.send("a", "2", {});
  EXPECT_EQ(caller_.calls.size(), 1);
  caller_.answer(204);
  ASSERT_EQ(caller_.calls.size(), 2);
  EXPECT_EQ(caller_.header("webhook-id"), "2");
  caller_.answer(200);
  EXPECT_EQ(caller_.calls.size(), 2);
  webhooks.send("a", "3", {});
  EXPECT_EQ(caller_.calls.size(), 3);
}

TEST_F(WebhooksTest, WhatIsNotTakenIsTriedAgainAndThenGivenUp) {
  auto webhooks = make();
  webhooks.send("a", "1", {});
  webhooks.send("a", "2", {});
  for (const auto pause : Webhooks::pauses()) {
    caller_.answer(503);
    EXPECT_EQ(caller_.header("webhook-id"), "1");
    const auto before = caller_.calls.size();
    time_.advance(pause - std::chrono::milliseconds(1));
    EXPECT_EQ(caller_.calls.size(), before);
    time_.advance(std::chrono::milliseconds(1));
    EXPECT_EQ(caller_.calls.size(), before + 1);
  }
  caller_.answer(503);
  EXPECT_EQ(caller_.header("webhook-id"), "2");
  ASSERT_EQ(failures_.size(), 2);
  EXPECT_NE(failures_[1].find("did not take 1 in 7 attempts: HTTP 503"), std::string::npos)
      << failures_[1];
}

TEST_F(WebhooksTest, ASlowTargetHoldsNobodyElseUp) {
  auto webhooks = make(2);
  webhooks.send("a", "1", {});
  ASSERT_EQ(caller_.calls.size(), 2);
  caller_.answer(200);  // the second; the first never answers
  webhooks.send("a", "2", {});
  ASSERT_EQ(caller_.calls.size(), 3);
  EXPECT_EQ(caller_.calls.back().endpoint.host, "hook1.example");
}

TEST_F(WebhooksTest, OneThatIsGoneGetsNothingAnyMore) {
  auto webhooks = make();
  webhooks.send("a", "1", {});
  webhooks.send("a", "2", {});
  caller_.answer(410);
  webhooks.send("a", "3", {});
  EXPECT_EQ(caller_.calls.size(), 1);
  EXPECT_EQ(failures_.size(), 1);
}

TEST_F(WebhooksTest, MemoryIsBounded) {
  auto webhooks = make();
  for (std::size_t i = 0; i < Webhooks::kMostWaiting + 10; ++i)
    webhooks.send("a", std::to_string(i), {});
  caller_.answer(200);
  EXPECT_EQ(caller_.header("webhook-id"), "11");
}

TEST_F(WebhooksTest, AnAnswerAfterTheEndHarmsNobody) {
  {
    auto webhooks = make();
    webhooks.send("a", "1", {});
  }
  caller_.answer(503);
  time_.advance(seconds(100));
  EXPECT_EQ(caller_.calls.size(), 1);
}

TEST_F(WebhooksTest, SecretsAreMadeKeptAndChecked) {
  const std::filesystem::path file = ::testing::TempDir() + "webhook_test.secret";
  std::filesystem::remove(file);
  core::CryptoRandom random;
  auto made = open_webhook_secret(file, random);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 32);
  EXPECT_EQ(*open_webhook_secret(file, random), *made);
  std::ofstream(file) << "whsec_short\n";
  EXPECT_FALSE(open_webhook_secret(file, random));
  std::filesystem::permissions(file, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_FALSE(open_webhook_secret(file, random));
  std::filesystem::remove(file);
}

TEST_F(WebhooksTest, TargetsAreUrlsOfHttp) {
  EXPECT_TRUE(parse_webhook_targets({"https://example.org/hook"}));
  EXPECT_FALSE(parse_webhook_targets({"tcp://example.org:1"}));
  EXPECT_FALSE(parse_webhook_targets({"nonsense"}));
}

}  // namespace
}  // namespace league::league_manager::spectators
