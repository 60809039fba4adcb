#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/journal/journal.h"

namespace league::journal {

/// The moments of a commit at which a test may end the process.
enum class FaultPoint : std::uint8_t { kBeforeWrite, kAfterWrite, kBeforeAnswer };

struct GroupCommitOptions {
  /// Stores all of the records durably, or none. Called on one thread, never with an empty list,
  /// and not again after a failure.
  std::function<core::Result<void>(const std::vector<EventRecord>&)> store;
  /// Called for the first failure, before the callers are told; may be empty.
  std::function<void(const core::Error&)> on_failure;
  /// For tests: called when a commit reaches a point; may be empty.
  std::function<void(FaultPoint)> fault_point;
  /// Cleans up after commits. Called on the thread of `store`, when no append has come for
  /// `tidy_when_idle`, and at the latest `tidy_at_latest` after the first commit since the last
  /// time; never after a failure. May be empty.
  std::function<void()> tidy = {};
  std::chrono::milliseconds tidy_when_idle{100};
  std::chrono::milliseconds tidy_at_latest{1000};
};

/// Combines many appends into few commits: while one commit is being stored, further appends are
/// collected for the next. Commits run on one thread and `durable` is called on another, so that
/// the disk works while answers are sent. Thread-safe. The destructor calls stop.
class GroupCommit {
 public:
  explicit GroupCommit(GroupCommitOptions options);
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  /// Stores the waiting appends, tells their callers, and refuses later appends.
  void stop();
  /// See Journal::append. An append without records waits for all earlier ones.
  void append(std::vector<EventRecord> records, Journal::Durable durable);

 private:
  struct Append {
    std::vector<EventRecord> records;
    Journal::Durable durable;
  };
  struct Answer {
    Journal::Durable durable;
    core::Result<void> result;
  };

  void write_loop();
  /// Waits for appends, or until it is time to tidy up.
  void wait(std::unique_lock<std::mutex>& lock);
  void tidy_if_due();
  void answer_loop();
  void commit(std::vector<Append> group);
  void reach(FaultPoint point) const {
    if (options_.fault_point) options_.fault_point(point);
  }

  const GroupCommitOptions options_;
  // Used by the writing thread only.
  std::optional<core::Error> failure_;
  std::optional<std::chrono::steady_clock::time_point> untidy_since_;
  std::chrono::steady_clock::time_point committed_at_{};

  std::mutex mutex_;
  std::condition_variable appended_;
  std::condition_variable committed_;
  std::vector<Append> appends_;
  std::vector<Answer> answers_;
  bool is_stopped_ = false;  // nothing more is taken
  bool is_written_ = false;  // the writing thread has ended

  std::thread writer_;  // last: the threads use everything above
  std::thread answerer_;
};

}  // namespace league::journal
