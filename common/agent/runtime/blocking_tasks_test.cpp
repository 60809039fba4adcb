#include "common/agent/runtime/blocking_tasks.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace league::agent::runtime {
namespace {

TEST(BlockingTasks, RunsTasksInOrderElsewhere) {
  BlockingTasks tasks;
  std::vector<int> done;
  std::promise<std::thread::id> last;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(tasks.post([&done, i] { done.push_back(i); }));
  EXPECT_TRUE(tasks.post([&last] { last.set_value(std::this_thread::get_id()); }));
  EXPECT_NE(last.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(done, (std::vector{0, 1, 2}));
}

TEST(BlockingTasks, TakesNoMoreThanItsLimit) {
  std::promise<void> started;
  std::promise<void> release;
  auto gate = release.get_future().share();
  bool has_run = false;
  {
    BlockingTasks tasks(1);
    EXPECT_TRUE(tasks.post([&started, gate] {
      started.set_value();
      gate.wait();
    }));
    started.get_future().wait();
    EXPECT_TRUE(tasks.post([&has_run] { has_run = true; }));
    EXPECT_FALSE(tasks.post([] {}));
    release.set_value();
  }
  // What waited may or may not have run by the time of the destructor; it never runs after it.
  SUCCEED() << has_run;
}

}  // namespace
}  // namespace league::agent::runtime
