#include "common/audit/log/log_writer.h"

#include <algorithm>

namespace league::audit::log {
namespace {

constexpr LogWriter::Time kNever = LogWriter::Time::max();

}  // namespace

LogWriter::LogWriter() : LogWriter(Options{}) {}

LogWriter::LogWriter(Options options) : options_(options), thread_([this] { run(); }) {}

LogWriter::~LogWriter() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void LogWriter::attach(Client& client) {
  std::lock_guard lock(mutex_);
  entries_.push_back({&client, kNever, rounds_});
}

void LogWriter::detach(Client& client) {
  std::unique_lock lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.client == &client; });
  served_.wait(lock, [&] { return serving_ != &client; });
}

void LogWriter::expect(Client& client) {
  make_due(client, std::chrono::steady_clock::now() + options_.batch_delay);
}

void LogWriter::wake(Client& client) { make_due(client, std::chrono::steady_clock::now()); }

bool LogWriter::begin_long_work(const Client& client) {
  std::lock_guard lock(mutex_);
  if (long_worker_ == nullptr) long_worker_ = &client;
  return long_worker_ == &client;
}

void LogWriter::end_long_work(const Client& client) {
  std::lock_guard lock(mutex_);
  if (long_worker_ == &client) long_worker_ = nullptr;
}

std::uint64_t LogWriter::rounds() const {
  std::lock_guard lock(mutex_);
  return rounds_;
}

void LogWriter::make_due(Client& client, Time at) {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    Entry* entry = find(client);
    if (entry == nullptr || entry->due <= at) return;
    entry->due = at;
    wake = at < asleep_until_;
  }
  if (wake) work_.notify_one();
}

LogWriter::Entry* LogWriter::find(const Client& client) {
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& entry) { return entry.client == &client; });
  return found == entries_.end() ? nullptr : &*found;
}

LogWriter::Time LogWriter::earliest() const {
  Time due = kNever;
  for (const Entry& entry : entries_) due = std::min(due, entry.due);
  return due;
}

void LogWriter::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    asleep_until_ = earliest();
    if (asleep_until_ == kNever) {
      work_.wait(lock);
    } else if (asleep_until_ > std::chrono::steady_clock::now()) {
      work_.wait_until(lock, asleep_until_);
    }
    asleep_until_ = Time::min();
    if (earliest() <= std::chrono::steady_clock::now()) serve_all(lock);
  }
}

/// Once awake, the thread also serves clients whose wake-up is due soon, so that many logs share
/// one wake-up.
void LogWriter::serve_all(std::unique_lock<std::mutex>& lock) {
  Time until = std::chrono::steady_clock::now() + options_.batch_delay;
  ++rounds_;
  while (!stopping_) {
    auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
      return other.due <= until && other.served_in != rounds_;
    });
    if (entry == entries_.end()) return;
    entry->due = kNever;
    entry->served_in = rounds_;
    Client* client = entry->client;
    serving_ = client;
    lock.unlock();
    auto again = client->serve();
    lock.lock();
    serving_ = nullptr;
    served_.notify_all();
    Entry* still_there = find(*client);
    if (still_there != nullptr && again) still_there->due = std::min(still_there->due, *again);
  }
}

}  // namespace league::audit::log
