#include "common/transport/connection/served_connections.h"

#include <utility>

namespace league::transport::connection {

ServedConnections::ServedConnections(link::MessageHandler& handler, std::size_t max_in_work,
                                     std::uint16_t stop_code)
    : handler_(handler), max_in_work_(max_in_work), stop_code_(stop_code) {}

bool ServedConnections::serve(const std::shared_ptr<WireConnection>& connection,
                              std::function<void()> on_closed) {
  std::uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    if (is_stopping_) return false;
    number = ++opened_;
    entries_.emplace(number, Entry{connection});
  }
  auto served = link::ServedConnection::serve(
      connection, handler_,
      {.max_in_work = max_in_work_,
       .on_closed = [self = shared_from_this(), number, on_closed = std::move(on_closed)] {
         if (on_closed) on_closed();
         self->forget(number);
       }});
  bool is_late = false;
  {
    std::lock_guard lock(mutex_);
    is_late = is_stopping_;
    auto found = entries_.find(number);
    if (found != entries_.end()) found->second.served = served;
  }
  if (is_late) stop_one({connection, served});
  return true;
}

void ServedConnections::stop_one(const Entry& entry) const {
  if (stop_code_ != 0) entry.connection->set_close_code(stop_code_);
  if (entry.served) entry.served->begin_stop();
}

void ServedConnections::forget(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  auto found = entries_.extract(number);
  if (found.empty()) return;
  dropped_ += found.mapped().connection->was_dropped() ? 1 : 0;
  changed_.notify_all();
}

std::vector<ServedConnections::Entry> ServedConnections::all() const {
  std::lock_guard lock(mutex_);
  std::vector<Entry> copies;
  copies.reserve(entries_.size());
  for (const auto& [number, entry] : entries_) copies.push_back(entry);
  return copies;
}

void ServedConnections::begin_stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  for (const auto& entry : all()) stop_one(entry);
}

void ServedConnections::stop(std::chrono::milliseconds grace) {
  begin_stop();
  const auto is_over = [this] { return entries_.empty(); };
  {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, grace, is_over)) return;
  }
  for (const auto& entry : all())
    entry.connection->abort({core::ErrorCode::kShuttingDown, "the server stops", {}});
  std::unique_lock lock(mutex_);
  changed_.wait(lock, is_over);
}

ServedConnections::Counts ServedConnections::counts() const {
  std::lock_guard lock(mutex_);
  return {entries_.size(), opened_, dropped_};
}

}  // namespace league::transport::connection
