#pragma once

#include <atomic>
#include <cstdint>

namespace league::transport::link {

/// Counts the bytes that the conversation log has written because of one sender. Thread-safe.
class LogMeter {
 public:
  void add(std::uint64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// What was counted since the last call.
  [[nodiscard]] std::uint64_t take() { return bytes_.exchange(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace league::transport::link
