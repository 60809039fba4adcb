#pragma once

#include <atomic>
#include <cstdint>

namespace league::transport::link {

/// Counts the bytes that the conversation log writes because of one sender: about, when a record is
/// queued, so that a sender cannot run ahead of the writer; exactly, once it is written.
/// Thread-safe.
class LogMeter {
 public:
  /// Below zero where less was written than was expected.
  void add(std::int64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// What was counted since the last call.
  [[nodiscard]] std::int64_t take() { return bytes_.exchange(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> bytes_{0};
};

}  // namespace league::transport::link
