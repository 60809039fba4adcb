#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace league::transport::link {

/// A queue that serves peers in turn, so that a peer with a thousand requests delays another peer
/// by only one. Thread-safe.
template <typename Item>
class FairQueue {
 public:
  /// Returns how many items wait now.
  std::size_t push(const std::string& peer, Item item) {
    std::lock_guard lock(mutex_);
    auto& items = waiting_[peer];
    if (items.empty()) turns_.push_back(peer);
    items.push_back(std::move(item));
    return ++size_;
  }

  std::optional<Item> pop() {
    std::lock_guard lock(mutex_);
    if (turns_.empty()) return std::nullopt;
    std::string peer = std::move(turns_.front());
    turns_.pop_front();
    auto found = waiting_.find(peer);
    Item item = std::move(found->second.front());
    found->second.pop_front();
    --size_;
    if (found->second.empty()) {
      waiting_.erase(found);
    } else {
      turns_.push_back(std::move(peer));
    }
    return item;
  }

  [[nodiscard]] std::size_t size() const {
    std::lock_guard lock(mutex_);
    return size_;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::deque<Item>> waiting_;
  std::deque<std::string> turns_;
  std::size_t size_ = 0;
};

}  // namespace league::transport::link
