#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/transport/link/message_handler.h"

namespace league::mcp {

/// Collects the answers to a batch; the last one in sends them all. Thread-safe.
class BatchReply : public std::enable_shared_from_this<BatchReply> {
 public:
  BatchReply(std::size_t expected, transport::ReplySlot slot)
      : missing_(expected), slot_(std::move(slot)) {}

  /// One of the `expected` slots.
  [[nodiscard]] transport::ReplySlot part();

 private:
  void add(transport::OutboundReply part);

  std::mutex mutex_;
  std::size_t missing_;
  std::vector<std::string> parts_;
  std::vector<std::function<void()>> after_sent_;
  transport::ReplySlot slot_;
};

}  // namespace league::mcp
