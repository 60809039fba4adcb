#include "bus/transport/memory_bus_testing.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/memory/memory_connection.h"

namespace league::transport::memory {
namespace {

struct MemoryBusTest : ::testing::Test {
  MemorySteps steps;
  MemoryBroker broker{[this](std::function<void()> step) { steps.post(std::move(step)); }};
  std::vector<std::string> heard;

  std::unique_ptr<bus::Bus::Subscription> listen(bus::Bus& bus, const std::string& subject,
                                                 const std::string& name,
                                                 const std::string& queue = "") {
    auto made = bus.subscribe(subject, queue, [this, name](const bus::BusMessage& message) {
      heard.push_back(name + ":" + (message.is_no_responders ? "nobody" : message.payload));
    });
    EXPECT_TRUE(made);
    return std::move(made).value();
  }
  static void say(bus::Bus& bus, const std::string& subject, const std::string& payload,
                  const std::string& reply = "") {
    EXPECT_TRUE(bus.publish({subject, reply, {}, payload}));
  }
};

TEST_F(MemoryBusTest, NothingHappensButInSteps) {
  auto a = broker.connect("a");
  auto sub = listen(*a, "x", "a");
  say(*a, "x", "1");
  say(*a, "x", "2");
  EXPECT_TRUE(heard.empty());
  EXPECT_TRUE(steps.run_one());
  EXPECT_EQ(heard, std::vector<std::string>{"a:1"});
  EXPECT_EQ(steps.run_until_idle(), 1U);
}

TEST_F(MemoryBusTest, MembersOfAQueueTakeTurns) {
  auto a = broker.connect("a");
  auto b = broker.connect("b");
  auto sub_a = listen(*a, "x.*", "a", "q");
  auto sub_b = listen(*b, "x.y", "b", "q");
  for (const char* text : {"1", "2", "3", "4"}) say(*a, "x.y", text);
  steps.run_until_idle();
  EXPECT_EQ(heard, (std::vector<std::string>{"b:1", "a:2", "b:3", "a:4"}));
}

TEST_F(MemoryBusTest, ACutClientNeitherHearsNorIsHeard) {
  auto a = broker.connect("a");
  auto b = broker.connect("b");
  auto sub_a = listen(*a, "x", "a");
  auto sub_b = listen(*b, "x", "b");
  std::vector<bool> states;
  auto watch = a->watch([&](bool is_connected) { states.push_back(is_connected); });
  say(*b, "x", "on its way");
  broker.cut("a");
  EXPECT_FALSE(a->is_connected());
  say(*b, "x", "after");
  say(*a, "x", "from a");
  broker.heal("a");
  say(*b, "x", "healed");
  steps.run_until_idle();
  EXPECT_EQ(heard, (std::vector<std::string>{"b:on its way", "b:after", "a:healed", "b:healed"}));
  EXPECT_EQ(states, (std::vector<bool>{false, true}));
}

TEST_F(MemoryBusTest, NobodyRespondsForAClientThatIsCut) {
  auto a = broker.connect("a");
  auto b = broker.connect("b");
  auto inbox = listen(*a, "_INBOX.a.>", "a");
  auto sub = listen(*b, "x", "b");
  broker.cut("b");
  say(*a, "x", "?", "_INBOX.a.1");
  steps.run_until_idle();
  EXPECT_EQ(heard, std::vector<std::string>{"a:nobody"});
}

TEST_F(MemoryBusTest, ARestartLosesWhatIsOnItsWayAndKeepsSubscriptions) {
  auto a = broker.connect("a");
  auto sub = listen(*a, "x", "a");
  broker.cut("nobody of that name");
  say(*a, "x", "1");
  broker.stop();
  auto late = broker.connect("late");
  EXPECT_FALSE(late->is_connected());
  say(*a, "x", "2");
  broker.start();
  EXPECT_TRUE(late->is_connected());
  say(*late, "x", "3");
  steps.run_until_idle();
  EXPECT_EQ(heard, std::vector<std::string>{"a:3"});
}

TEST_F(MemoryBusTest, StepsThatAreLeftHarmNobody) {
  auto a = broker.connect("a");
  auto sub = listen(*a, "x", "a");
  auto watch = a->watch([&](bool) { heard.push_back("state"); });
  say(*a, "x", "1");
  broker.restart();
  say(*a, "x", "2");
  a.reset();
  steps.run_until_idle();
  EXPECT_TRUE(heard.empty());
}

TEST_F(MemoryBusTest, AHandlerMayRunTheStepsItself) {
  auto a = broker.connect("a");
  auto outer = a->subscribe("x", "", [&](const bus::BusMessage& message) {
    heard.push_back(message.payload);
    steps.run_until_idle();
  });
  say(*a, "x", "1");
  say(*a, "x", "2");
  steps.run_one();
  EXPECT_EQ(heard, (std::vector<std::string>{"1", "2"}));
}

}  // namespace
}  // namespace league::transport::memory
