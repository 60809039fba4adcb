#include "common/transport/call_pool.h"

#include <gtest/gtest.h>

#include <latch>

namespace league::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

core::Clock::Steady soon() { return std::chrono::steady_clock::now() + seconds(30); }

CallPool::Job job(std::string peer, std::function<void()> run) {
  return {std::move(peer), soon(), [run = std::move(run)](CallPool::Verdict verdict) {
            EXPECT_EQ(verdict, CallPool::Verdict::kRun);
            run();
          }};
}

TEST(CallPool, ThreadsThatWaitMakeRoomForOthers) {
  CallPool pool({.max_threads = 8, .max_per_peer = 16, .max_active = 1});
  constexpr int kJobs = 6;
  std::latch all_wait(kJobs);
  std::latch done(kJobs);
  for (int i = 0; i < kJobs; ++i) {
    pool.submit(job("peer", [&] {
      {
        CallPool::Waiting waiting;
        all_wait.arrive_and_wait();  // only when all six wait at once
      }
      done.count_down();
    }));
  }
  done.wait();
  EXPECT_GE(pool.threads(), 6U);
}

TEST(CallPool, AJobWaitsForThoseThatComputeAndNeedsNoThreadOfItsOwn) {
  CallPool pool({.max_threads = 8, .max_per_peer = 16, .max_active = 1});
  std::latch submitted(1);
  std::latch done(3);
  pool.submit(job("peer", [&] {
    submitted.wait();
    done.count_down();
  }));
  for (int i = 0; i < 2; ++i) pool.submit(job("peer", [&] { done.count_down(); }));
  EXPECT_EQ(pool.threads(), 1U);
  submitted.count_down();
  done.wait();
}

TEST(CallPool, AJobThatComputesForLongKeepsNobodyFromRunning) {
  CallPool pool({.max_threads = 8, .max_per_peer = 16, .max_active = 2});
  std::latch released(1);
  std::latch done(3);
  for (int i = 0; i < 2; ++i) {
    pool.submit(job("peer", [&] {
      released.wait();  // says to nobody that it waits
      done.count_down();
    }));
  }
  pool.submit(job("other", [&] {
    released.count_down();
    done.count_down();
  }));
  done.wait();
}

TEST(CallPool, AFullPoolRunsEveryJobOnce) {
  CallPool pool({.max_threads = 3, .max_per_peer = 2, .max_active = 2});
  constexpr int kJobs = 3000;
  std::latch done(kJobs);
  std::atomic<int> runs{0};
  for (int i = 0; i < kJobs; ++i) {
    pool.submit(job("peer" + std::to_string(i % 7), [&] {
      ++runs;
      { CallPool::Waiting waiting; }
      done.count_down();
    }));
  }
  done.wait();
  EXPECT_EQ(runs, kJobs);
}

TEST(CallPool, JobsOfAJobAreRunToo) {
  CallPool pool({.max_threads = 4, .max_per_peer = 16, .max_active = 1});
  constexpr int kDepth = 500;
  std::latch done(2 * kDepth + 1);
  std::function<void(int)> chain = [&](int left) {
    done.count_down();
    if (left == 0) return;
    pool.submit(job("a", [&, left] { chain(left - 1); }));
    pool.submit(job("b", [&] { done.count_down(); }));
  };
  pool.submit(job("a", [&] { chain(kDepth); }));
  done.wait();
}

}  // namespace
}  // namespace league::transport
