#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "common/transport/link/fair_queue.h"

namespace league::transport::link {

/// Requests that wait for a worker: those of known senders first, senders of each kind in turn. If
/// strangers wait, one of every eight requests taken is a stranger's, so a busy league slows
/// strangers down but does not lock them out. Thread-safe.
template <typename Item>
class RequestQueue {
 public:
  static constexpr unsigned kStrangersTurn = 8;

  /// Returns how many items wait now.
  std::size_t push(const std::string& peer, Item item, bool is_known) {
    (is_known ? known_ : strangers_).push(peer, std::move(item));
    return size();
  }

  std::optional<Item> pop() {
    const bool is_strangers_turn =
        turn_.fetch_add(1, std::memory_order_relaxed) % kStrangersTurn == kStrangersTurn - 1;
    auto item = (is_strangers_turn ? strangers_ : known_).pop();
    return item ? std::move(item) : (is_strangers_turn ? known_ : strangers_).pop();
  }

  [[nodiscard]] std::size_t size() const { return known_.size() + strangers_.size(); }
  [[nodiscard]] std::size_t strangers() const { return strangers_.size(); }

 private:
  FairQueue<Item> known_;
  FairQueue<Item> strangers_;
  std::atomic<unsigned> turn_{0};
};

}  // namespace league::transport::link
