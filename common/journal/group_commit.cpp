#include "common/journal/group_commit.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace league::journal {

GroupCommit::GroupCommit(GroupCommitOptions options)
    : options_(std::move(options)),
      writer_([this] { write_loop(); }),
      answerer_([this] { answer_loop(); }) {}

GroupCommit::~GroupCommit() { stop(); }

void GroupCommit::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  appended_.notify_one();
  if (writer_.joinable()) writer_.join();
  if (answerer_.joinable()) answerer_.join();
}

void GroupCommit::append(std::vector<EventRecord> records, Journal::Durable durable) {
  {
    std::unique_lock lock(mutex_);
    if (is_stopped_) {
      lock.unlock();
      return durable(core::Error{core::ErrorCode::kShuttingDown, "the journal is closed", ""});
    }
    appends_.push_back({std::move(records), std::move(durable)});
    if (appends_.size() > 1) return;  // the writing thread was already notified
  }
  appended_.notify_one();
}

void GroupCommit::write_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait(lock);
    if (appends_.empty() && is_stopped_) break;
    auto group = std::exchange(appends_, {});
    lock.unlock();
    if (!group.empty()) commit(std::move(group));
    tidy_if_due();
    lock.lock();
  }
  is_written_ = true;
  committed_.notify_one();
}

void GroupCommit::wait(std::unique_lock<std::mutex>& lock) {
  auto is_wanted = [this] { return is_stopped_ || !appends_.empty(); };
  if (!untidy_since_) return appended_.wait(lock, is_wanted);
  auto due =
      std::min(committed_at_ + options_.tidy_when_idle, *untidy_since_ + options_.tidy_at_latest);
  appended_.wait_until(lock, due, is_wanted);
}

void GroupCommit::tidy_if_due() {
  if (!untidy_since_ || failure_) return;
  auto now = std::chrono::steady_clock::now();
  if (now < committed_at_ + options_.tidy_when_idle &&
      now < *untidy_since_ + options_.tidy_at_latest) {
    return;
  }
  options_.tidy();
  untidy_since_.reset();
}

void GroupCommit::commit(std::vector<Append> group) {
  std::vector<EventRecord> records;
  for (auto& one : group) {
    records.insert(records.end(), std::make_move_iterator(one.records.begin()),
                   std::make_move_iterator(one.records.end()));
  }
  if (!failure_ && !records.empty()) {
    reach(FaultPoint::kBeforeWrite);
    if (auto stored = options_.store(records); !stored) {
      failure_ = stored.error();
      if (options_.on_failure) options_.on_failure(*failure_);
    }
    reach(FaultPoint::kAfterWrite);
    committed_at_ = std::chrono::steady_clock::now();
    if (options_.tidy && !untidy_since_) untidy_since_ = committed_at_;
    if (failure_) untidy_since_.reset();
  }
  core::Result<void> result;
  if (failure_) result = *failure_;
  std::lock_guard lock(mutex_);
  for (auto& one : group) answers_.push_back({std::move(one.durable), result});
  committed_.notify_one();
}

void GroupCommit::answer_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    committed_.wait(lock, [this] { return is_written_ || !answers_.empty(); });
    if (answers_.empty()) return;
    auto answers = std::exchange(answers_, {});
    lock.unlock();
    for (auto& one : answers) {
      reach(FaultPoint::kBeforeAnswer);
      one.durable(std::move(one.result));
    }
    answers.clear();
    lock.lock();
  }
}

}  // namespace league::journal
