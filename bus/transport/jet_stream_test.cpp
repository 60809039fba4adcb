// Against a broker of the test's own: what JetStream promises is the broker's to keep.
#include "bus/transport/jet_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bus/transport/broker_testing.h"
#include "bus/transport/jet_stream_api.h"
#include "bus/transport/jet_stream_testing.h"
#include "bus/transport/nats_bus.h"
#include "tests/support/temporary_directory.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;
using Ack = PublishAck::Status;
using testing::JetAgent;
using testing::JetAnswers;
using testing::TestingBroker;

TEST(JetAnswer, IsNotReadyWhileBrokersOfTheClusterAreMissing) {
  const auto refused = [](int code, int number) {
    return R"({"error":{"code":)" + std::to_string(code) + R"(,"err_code":)" +
           std::to_string(number) + R"(,"description":"no"}})";
  };
  EXPECT_TRUE(is_not_ready(refused(400, 10005)));  // no suitable peers for placement
  EXPECT_TRUE(is_not_ready(refused(503, 10008)));  // JetStream is temporarily unavailable
  EXPECT_FALSE(is_not_ready(refused(400, 10074)));  // replicas without a cluster
  EXPECT_FALSE(is_not_ready(refused(503, 10023)));  // no room
}

class JetStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
    broker = std::make_unique<TestingBroker>(
        std::vector<std::string>{"-js", "-sd", directory.path().string()});
    agent = std::make_unique<JetAgent>(broker->url());
  }
  static StreamConfig journal() { return {.name = "J", .subjects = {"j.>"}}; }

  testing::TemporaryDirectory directory;
  std::unique_ptr<TestingBroker> broker;
  std::unique_ptr<JetAgent> agent;
};

TEST_F(JetStreamTest, StoresAndGivesBack) {
  auto made = agent->ensure(journal());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->last_sequence, 0U);
  EXPECT_EQ(made->replicas, 1);
  std::string bytes("a\0\xff\r\n", 5);
  const auto ack = agent->wait(
      agent->streams->publish({"j.a", {}, {{"Term", "7"}}, bytes, false}, {}, agent->in(10s)));
  ASSERT_EQ(ack.status, Ack::kStored) << ack.why.message;
  EXPECT_EQ(ack.sequence, 1U);
  EXPECT_EQ(agent->publish("j.b", "second").sequence, 2U);
  EXPECT_EQ(agent->publish("j.a", "").sequence, 3U);

  auto get = [&](std::uint64_t sequence) {
    return agent->wait(agent->streams->get("J", sequence, agent->in(10s)));
  };
  auto first = get(1);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((**first).message.payload, bytes);
  EXPECT_EQ((**first).message.subject, "j.a");
  EXPECT_EQ(bus_header((**first).message, "Term"), "7");
  EXPECT_FALSE(*get(9));
  auto next = agent->wait(agent->streams->get_next("J", "j.a", 2, agent->in(10s)));
  ASSERT_TRUE(next && *next);
  EXPECT_EQ((**next).sequence, 3U);
  EXPECT_EQ((**agent->first("J", "j.b")).message.payload, "second");
  EXPECT_FALSE(*agent->first("J", "j.c"));
  EXPECT_EQ(agent->state("J")->messages, 3U);
}

TEST_F(JetStreamTest, ListsStreamsBySubjectAndDeletesThem) {
  ASSERT_TRUE(agent->ensure(journal()));
  ASSERT_TRUE(agent->ensure({.name = "K", .subjects = {"k.1"}}));
  ASSERT_TRUE(agent->ensure({.name = "L", .subjects = {"k.2"}}));
  agent->publish("k.1", "x");
  const auto list = [&] {
    return *agent->wait(agent->streams->list_streams("k.*", agent->in(10s)));
  };
  auto found = list();
  ASSERT_EQ(found.size(), 2U);
  std::ranges::sort(found, {}, &StreamListing::name);
  EXPECT_EQ(found[0].name, "K");
  EXPECT_EQ(found[0].state.last_sequence, 1U);
  EXPECT_EQ(found[1].state.messages, 0U);
  const auto remove = [&] {
    return agent->wait(agent->streams->delete_stream("K", agent->in(10s)));
  };
  EXPECT_TRUE(remove());
  EXPECT_TRUE(remove()) << "it is gone already";
  EXPECT_EQ(list().size(), 1U);
  ASSERT_TRUE(agent->ensure({.name = "K", .subjects = {"k.1"}}));
  auto again = list();
  std::ranges::sort(again, {}, &StreamListing::name);
  EXPECT_NE(again[0].created, found[0].created);
}

TEST_F(JetStreamTest, LetsNobodyRemoveWhatIsToStay) {
  auto config = journal();
  config.denies_removal = true;
  ASSERT_TRUE(agent->ensure(config));
  agent->publish("j.a", "x");
  ASSERT_TRUE(agent->bus->publish({"$JS.API.STREAM.PURGE.J", "_INBOX.x", {}, "", false}));
  agent->publish("j.a", "y");  // behind the other request
  EXPECT_EQ(agent->state("J")->messages, 2U);
}

TEST_F(JetStreamTest, ChangesWhatIsThereAsFarAsItGoes) {
  ASSERT_TRUE(agent->ensure(journal()));
  ASSERT_TRUE(agent->ensure(journal())) << "the same again";
  auto wider = journal();
  wider.subjects = {"j.>", "k.>"};
  ASSERT_TRUE(agent->ensure(wider));
  EXPECT_EQ(agent->publish("k.a", "x").status, Ack::kStored);
  auto overlapping = journal();
  overlapping.name = "K";
  auto refused = agent->ensure(overlapping);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, core::ErrorCode::kInvalidReply);
  EXPECT_NE(refused.error().message.find("overlap"), std::string::npos) << refused.error().message;
}

TEST_F(JetStreamTest, RefusesNamesThatAreNone) {
  for (const char* name : {"", "a.b", "a b", "*", ">", "\xc3\xa4"}) {
    auto config = journal();
    config.name = name;
    auto made = agent->ensure(config);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, core::ErrorCode::kInvalidFieldValue);
    auto consumer = agent->consumer("J", {.durable_name = *name == 0 ? "x.y" : name});
    ASSERT_FALSE(consumer) << name;
    EXPECT_EQ(consumer.error().code, core::ErrorCode::kInvalidFieldValue);
  }
  auto unknown = agent->state("NONE");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, core::ErrorCode::kInvalidReply);
}

TEST_F(JetStreamTest, StoresOnlyUnderItsConditions) {
  ASSERT_TRUE(agent->ensure(journal()));
  EXPECT_EQ(agent->publish("j.a", "1", {.last_sequence = 0}).sequence, 1U);
  auto conflict = agent->publish("j.a", "old", {.last_sequence = 0});
  EXPECT_EQ(conflict.status, Ack::kConflict);
  EXPECT_NE(conflict.why.message.find("wrong last sequence"), std::string::npos);
  EXPECT_EQ(agent->publish("j.b", "2", {.message_id = "two", .last_sequence = 1}).sequence, 2U);
  const auto third = [&](const std::string& id) {
    return agent->publish("j.b", "3", {.last_sequence = 2, .last_message_id = id});
  };
  EXPECT_EQ(third("another").status, Ack::kConflict);
  EXPECT_EQ(third("two").sequence, 3U);
  EXPECT_EQ(agent->state("J")->messages, 3U);
}

TEST_F(JetStreamTest, StoresARepetitionOnce) {
  ASSERT_TRUE(agent->ensure(journal()));
  PublishCondition once{.message_id = "m-1", .last_sequence = 0};
  EXPECT_EQ(agent->publish("j.a", "1", once).sequence, 1U);
  auto again = agent->publish("j.a", "1", once);
  EXPECT_EQ(again.status, Ack::kStored) << "its own first try is no conflict";
  EXPECT_TRUE(again.is_duplicate);
  EXPECT_EQ(again.sequence, 1U);
  EXPECT_EQ(agent->state("J")->messages, 1U);
}

TEST_F(JetStreamTest, ForgetsWhatIsOldAndWhatIsTooMuch) {
  ASSERT_TRUE(agent->ensure(
      {.name = "KV_x", .subjects = {"$KV.x.>"}, .max_age = 3s, .max_messages_per_subject = 1}));
  EXPECT_EQ(agent->publish("$KV.x.a", "1").sequence, 1U);
  EXPECT_EQ(agent->publish("$KV.x.a", "2").sequence, 2U);
  EXPECT_EQ(agent->state("KV_x")->messages, 1U);
  const auto until = agent->in(15s);
  while (agent->state("KV_x")->messages > 0 && agent->in(0s) < until) continue;
  EXPECT_EQ(agent->state("KV_x")->messages, 0U) << "too old";
}

TEST_F(JetStreamTest, DeliversAndRedelivers) {
  ASSERT_TRUE(agent->ensure({.name = "W", .subjects = {"w.>"}}));
  auto name = agent->consumer("W", {.durable_name = "pool", .ack_wait = 300ms});
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(*agent->consumer("W", {.durable_name = "pool", .ack_wait = 300ms}), "pool");
  for (int i = 1; i <= 3; ++i) agent->publish("w.m", std::to_string(i));
  auto all = agent->fetch("W", "pool", 3, 5s);
  ASSERT_TRUE(all.end) << all.end.error().message;
  ASSERT_EQ(all.messages.size(), 3U);
  EXPECT_EQ(all.messages[0].message.payload, "1");
  EXPECT_EQ(all.messages[0].message.subject, "w.m");
  EXPECT_EQ(all.messages[0].sequence, 1U);
  EXPECT_EQ(all.messages[0].delivered, 1U);
  EXPECT_EQ(all.messages[0].pending, 2U);
  agent->streams->ack(all.messages[0]);
  agent->streams->nak(all.messages[1], 0ms);
  auto again = agent->fetch("W", "pool", 1, 5s);
  ASSERT_EQ(again.messages.size(), 1U);
  EXPECT_EQ(again.messages[0].sequence, 2U);
  EXPECT_EQ(again.messages[0].delivered, 2U);
  agent->streams->ack(again.messages[0]);
  auto silent = agent->fetch("W", "pool", 1, 5s);
  ASSERT_EQ(silent.messages.size(), 1U) << "nothing was said of it for 300 ms";
  EXPECT_EQ(silent.messages[0].sequence, 3U);
  agent->streams->ack(silent.messages[0]);
  auto none = agent->fetch("W", "pool", 1, 300ms);
  EXPECT_TRUE(none.end);
  EXPECT_TRUE(none.messages.empty());
}

TEST_F(JetStreamTest, ReadsFromWhereItIsTold) {
  ASSERT_TRUE(agent->ensure(journal()));
  for (int i = 1; i <= 5; ++i) agent->publish(i % 2 == 0 ? "j.even" : "j.odd", std::to_string(i));
  auto read = [&](const ConsumerConfig& config) {
    std::string text;
    auto name = agent->consumer("J", config);
    EXPECT_TRUE(name) << name.error().message;
    if (!name) return text;
    for (const auto& each : agent->fetch("J", *name, 10, 0ms).messages)
      text += each.message.payload;
    return text;
  };
  EXPECT_EQ(read({.durable_name = {}, .is_acknowledged = false}), "12345");
  EXPECT_EQ(read({.durable_name = {}, .start_sequence = 3, .is_acknowledged = false}), "345");
  EXPECT_EQ(read({.durable_name = {}, .filter_subject = "j.even", .is_acknowledged = false}), "24");
  EXPECT_EQ(read({.durable_name = {}, .filter_subject = "j.*", .is_acknowledged = false}), "12345");
  EXPECT_EQ(read({.durable_name = "d", .filter_subject = "j.odd", .is_acknowledged = false}),
            "135");
  EXPECT_EQ(read({.durable_name = "d", .filter_subject = "j.odd", .is_acknowledged = false}), "")
      << "found again where it stood";
}

TEST_F(JetStreamTest, SaysThatAConsumerIsGone) {
  ASSERT_TRUE(agent->ensure(journal()));
  auto end = agent->fetch("J", "nobody", 1, 100ms);
  ASSERT_FALSE(end.end);
  EXPECT_EQ(end.end.error().code, core::ErrorCode::kConnectionError);
}

TEST_F(JetStreamTest, ReadsTenThousandInOrder) {
  constexpr int kCount = 10'000;
  constexpr int kAtOnce = 1'000;
  ASSERT_TRUE(agent->ensure(journal()));
  JetAnswers<PublishAck> acks;
  for (int i = 1; i <= kCount; ++i) {
    agent->begin(agent->streams->publish({"j.a", {}, {}, std::to_string(i), false},
                                         {.last_sequence = static_cast<std::uint64_t>(i - 1)},
                                         agent->in(15s)),
                 [&](const PublishAck& ack) { acks.add(ack); });
    for (int answered = 0; i % kAtOnce == 0 && answered < kAtOnce; ++answered) {
      auto ack = acks.next();
      ASSERT_TRUE(ack && ack->status == Ack::kStored) << (ack ? ack->why.message : "no answer");
    }
  }
  auto name = agent->consumer("J", {.durable_name = {}, .is_acknowledged = false});
  ASSERT_TRUE(name);
  std::uint64_t expected = 1;
  while (expected <= kCount) {
    auto some = agent->fetch("J", *name, 1'000, 5s);
    ASSERT_TRUE(some.end);
    ASSERT_FALSE(some.messages.empty());
    for (const auto& each : some.messages) ASSERT_EQ(each.sequence, expected++);
  }
}

TEST_F(JetStreamTest, SurvivesItsBroker) {
  ASSERT_TRUE(agent->ensure(journal()));
  EXPECT_EQ(agent->publish("j.a", "1", {.message_id = "1"}).sequence, 1U);
  auto name = agent->consumer("J", {.durable_name = "reader"});
  ASSERT_TRUE(name);
  auto ends = std::make_shared<JetAnswers<core::Result<void>>>();
  auto one = agent->fetch("J", "reader", 1, 5s);
  ASSERT_EQ(one.messages.size(), 1U);
  agent->streams->ack(one.messages[0]);
  agent->begin(agent->streams->fetch({"J", "reader", 1, 60s, [](const StreamDelivery&) {}}),
               [ends](core::Result<void> end) { ends->add(std::move(end)); });
  broker->kill();
  auto lost = ends->next();
  ASSERT_TRUE(lost);
  EXPECT_FALSE(*lost) << "a request for messages goes with the broker";
  JetAnswers<PublishAck> acks;
  agent->begin(
      agent->streams->publish({"j.a", {}, {}, "2", false}, {.last_sequence = 1}, agent->in(20s)),
      [&](const PublishAck& ack) { acks.add(ack); });
  broker->start();
  auto stored = acks.next();
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->status, Ack::kStored) << stored->why.message;
  EXPECT_EQ(stored->sequence, 2U);
  auto second = agent->fetch("J", "reader", 1, 10s);
  // A broker that is killed may forget what it was told last: delivery is at least once.
  if (second.messages.size() == 1 && second.messages[0].message.payload == "1") {
    agent->streams->ack(second.messages[0]);
    second = agent->fetch("J", "reader", 1, 10s);
  }
  ASSERT_EQ(second.messages.size(), 1U) << "a durable consumer is still there";
  EXPECT_EQ(second.messages[0].message.payload, "2");
  EXPECT_EQ(agent->state("J")->messages, 2U) << "stored once";
}

TEST_F(JetStreamTest, WaitsForABrokerNoLongerThanItIsTold) {
  ASSERT_TRUE(agent->ensure(journal()));
  broker->freeze();
  auto late = agent->publish("j.a", "1", {.message_id = "x"}, 300ms);
  EXPECT_EQ(late.status, Ack::kFailed);
  EXPECT_EQ(late.why.code, core::ErrorCode::kConnectionError);
  EXPECT_FALSE(agent->state("J", 300ms));
  broker->thaw();
  auto again = agent->publish("j.a", "1", {.message_id = "x"});
  EXPECT_EQ(again.status, Ack::kStored);
  EXPECT_EQ(again.sequence, 1U);
}

TEST_F(JetStreamTest, FailsWhatIsOpenWhenItEnds) {
  ASSERT_TRUE(agent->ensure(journal()));
  ASSERT_TRUE(agent->consumer("J", {.durable_name = "reader"}));
  broker->freeze();
  JetAnswers<core::ErrorCode> codes;
  agent->begin(agent->streams->publish({"j.a", {}, {}, "1", false}, {}, agent->in(60s)),
               [&](const PublishAck& ack) { codes.add(ack.why.code); });
  agent->begin(agent->streams->stream_state("J", agent->in(60s)),
               [&](const auto& state) { codes.add(state.error().code); });
  agent->begin(agent->streams->fetch({"J", "reader", 1, 60s, [](const StreamDelivery&) {}}),
               [&](const core::Result<void>& end) { codes.add(end.error().code); });
  agent->streams.reset();
  EXPECT_EQ(codes.count(), 3U) << "before it is gone";
  while (codes.count() > 0) EXPECT_EQ(*codes.next(), core::ErrorCode::kShuttingDown);
  broker->thaw();
}

TEST_F(JetStreamTest, MayEndInsideACompletion) {
  ASSERT_TRUE(agent->ensure(journal()));
  JetAnswers<bool> done;
  agent->begin(agent->streams->stream_state("J", agent->in(10s)), [&](const auto& state) {
    agent->streams.reset();
    done.add(static_cast<bool>(state));
  });
  EXPECT_EQ(done.next(), true);
}

TEST_F(JetStreamTest, SaysThatABrokerHasNone) {
  TestingBroker plain;
  JetAgent other(plain.url());
  auto state = other.state("J", 300ms);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, core::ErrorCode::kConnectionError);
  EXPECT_NE(state.error().message.find("no JetStream"), std::string::npos) << state.error().message;
  auto ack = other.publish("nobody.stores", "x", {}, 300ms);
  EXPECT_EQ(ack.status, Ack::kFailed);
  auto end = other.fetch("J", "c", 1, 10s);
  ASSERT_FALSE(end.end);
}

TEST_F(JetStreamTest, LeavesMoreReplicasThanItWants) {
  TestingBroker plain;
  JetAgent cluster(plain.url());  // says what a cluster would
  JetAgent other(plain.url());
  std::vector<std::unique_ptr<Bus::Subscription>> answers;
  JetAnswers<std::string> updates;
  auto say = [&](const std::string& verb, const std::string& answer) {
    auto heard = cluster.bus->subscribe(
        "$JS.API.STREAM." + verb + ".J", "", [&, verb, answer](const BusMessage& asked) {
          if (verb == "UPDATE") updates.add(asked.payload);
          (void)cluster.bus->publish({asked.reply, {}, {}, answer, false});
        });
    ASSERT_TRUE(heard);
    answers.push_back(std::move(*heard));
  };
  say("CREATE", R"({"error":{"code":400,"err_code":10058,"description":"in use"}})");
  const std::string state = R"({"config":{"num_replicas":3},"state":{"messages":0}})";
  say("INFO", state);
  say("UPDATE", state);
  ASSERT_TRUE(cluster.bus->flush(10s));
  for (auto [wanted, asked] : {std::pair{1, 3}, std::pair{5, 5}}) {
    auto config = journal();
    config.replicas = wanted;
    auto made = other.ensure(config);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->replicas, 3);
    EXPECT_NE(updates.next().value_or("").find("\"num_replicas\":" + std::to_string(asked)),
              std::string::npos);
  }
  answers.clear();
}

}  // namespace
}  // namespace league::transport::bus
