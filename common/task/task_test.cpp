#include "common/task/task.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/task/signal.h"
#include "tests/support/fake_clock.h"

namespace league::task {
namespace {

using namespace std::chrono_literals;

Scope::OnException fail_on_exception() {
  return [](const std::exception_ptr&) { ADD_FAILURE() << "a task threw"; };
}

Task<void> add(std::vector<std::string>& said, std::string what) {
  said.push_back(std::move(what));
  co_return;
}

Task<void> ask(std::function<void(std::function<void(int)>)> start, std::vector<int>& answers) {
  answers.push_back(co_await called_back<int>(start));
  answers.push_back(co_await called_back<int>(start));
}

TEST(ExecutorTest, RunsFunctionsInOrderAndNoneInsideAnother) {
  Executor executor;
  std::vector<int> order;
  executor.post([&] {
    EXPECT_TRUE(executor.is_here());
    executor.post([&] { order.push_back(2); });
    order.push_back(1);
  });
  EXPECT_EQ(order, (std::vector{1, 2}));
  EXPECT_FALSE(executor.is_here());
}

TEST(ExecutorTest, NeverRunsTwoFunctionsAtATime) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2'000;
  Executor executor;
  int count = 0;  // without a lock
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < kEach; ++n) executor.post([&] { ++count; });
      });
    }
  }
  int seen = 0;
  executor.post([&] { seen = count; });
  EXPECT_EQ(seen, kThreads * kEach);
}

TEST(ExecutorTest, AFunctionMayDestroyTheExecutor) {
  auto executor = std::make_unique<Executor>();
  bool is_gone = false;
  executor->post([&] {
    executor = nullptr;
    is_gone = true;
  });
  EXPECT_TRUE(is_gone);
}

TEST(TaskTest, RunsBeforeSpawnReturnsIfNothingElseRuns) {
  std::vector<std::string> said;
  Scope scope(Executor(), fail_on_exception());
  scope.spawn(add(said, "done"));
  EXPECT_EQ(said, std::vector<std::string>{"done"});
}

TEST(TaskTest, GoesOnWithWhatItIsCalledBackWith) {
  std::vector<std::function<void(int)>> waiting;
  std::vector<int> answers;
  Scope scope(Executor(), fail_on_exception());
  scope.spawn(ask([&](auto answer) { waiting.push_back(std::move(answer)); }, answers));
  ASSERT_EQ(waiting.size(), 1U);
  waiting[0](7);
  ASSERT_EQ(waiting.size(), 2U);
  std::jthread([&] { waiting[1](8); }).join();
  EXPECT_EQ(answers, (std::vector{7, 8}));
}

TEST(TaskTest, MayBeCalledBackAtOnce) {
  std::vector<int> answers;
  int calls = 0;
  Scope scope(Executor(), fail_on_exception());
  scope.spawn(ask([&calls](auto answer) { answer(++calls); }, answers));
  EXPECT_EQ(answers, (std::vector{1, 2}));
}

TEST(TaskTest, SleepsOnTheGivenTimer) {
  testing::FakeTime clock;
  std::vector<std::string> said;
  const auto nap = [](core::Timer& timer, std::vector<std::string>& out) -> Task<void> {
    co_await sleep_for(timer, 5s);
    out.emplace_back("awake");
  };
  Scope scope(Executor(), fail_on_exception());
  scope.spawn(nap(clock, said));
  clock.advance(4s);
  EXPECT_TRUE(said.empty());
  clock.advance(1s);
  EXPECT_EQ(said, std::vector<std::string>{"awake"});
}

TEST(ScopeTest, CancelsItsTasksAndWaitsForThem) {
  struct Ended {
    bool& is_ended;
    ~Ended() { is_ended = true; }
  };
  bool is_ended = false;
  std::function<void(int)> late;
  const auto wait = [](std::function<void(int)>& callback, bool& out) -> Task<void> {
    const Ended ended{out};
    co_await called_back<int>([&callback](auto answer) { callback = std::move(answer); });
    ADD_FAILURE() << "went on";
  };
  {
    Scope scope(Executor(), fail_on_exception());
    scope.spawn(wait(late, is_ended));
    EXPECT_FALSE(is_ended);
  }
  EXPECT_TRUE(is_ended);
  late(1);  // has no effect
}

TEST(ScopeTest, IsStoppedWhileATaskEnds) {
  const auto end = [](Scope& scope, std::function<void(int)>& callback) -> Task<void> {
    co_await called_back<int>([&callback](auto answer) { callback = std::move(answer); });
    scope.stop();
  };
  const Executor executor;
  std::function<void(int)> callback;
  {
    Scope scope(executor, fail_on_exception());
    scope.spawn(end(scope, callback));
    callback(1);
  }
  EXPECT_FALSE(executor.is_here());
}

TEST(ScopeTest, ATaskWhoseCallbackIsDroppedEnds) {
  std::function<void(int)> callback;
  std::vector<int> answers;
  Scope scope(Executor(), fail_on_exception());
  scope.spawn(ask([&](auto answer) { callback = std::move(answer); }, answers));
  callback = nullptr;
  EXPECT_TRUE(answers.empty());
}

TEST(ScopeTest, ATaskIsCancelledAlone) {
  Signal<int> signal;
  std::vector<int> passed;
  std::string ended;
  const auto wait = [](Signal<int>& at, std::vector<int>& out, std::string& why) -> Task<void> {
    try {
      out.push_back(co_await at.wait());
    } catch (const std::exception& fault) {
      why = is_cancellation(fault) ? "cancelled" : fault.what();
    }
  };
  Scope scope(Executor(), fail_on_exception());
  const auto first = scope.spawn(wait(signal, passed, ended));
  scope.spawn(wait(signal, passed, ended));
  first.cancel();
  EXPECT_EQ(ended, "cancelled");
  signal.open(7);
  signal.open(8);
  EXPECT_EQ(passed, std::vector<int>{7});
  first.cancel();  // has no effect
}

TEST(ScopeTest, ATaskThatIsSpawnedAfterTheEndDoesNotBegin) {
  std::vector<std::string> said;
  Scope scope(Executor(), fail_on_exception());
  scope.stop();
  scope.spawn(add(said, "done"));
  EXPECT_TRUE(said.empty());
}

TEST(ScopeTest, ReportsAnException) {
  std::string told;
  Scope scope(Executor(), [&](const std::exception_ptr& exception) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& fault) {
      told = fault.what();
    }
  });
  const auto fail = []() -> Task<void> {
    throw std::runtime_error("broken");
    co_return;
  };
  scope.spawn(fail());
  EXPECT_EQ(told, "broken");
}

}  // namespace
}  // namespace league::task
