#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/transport/link/message_handler.h"

namespace league::transport::http {

/// Collects the answers to the messages of a JSON-RPC batch; the last one in sends them all.
/// Thread-safe.
class BatchReply : public std::enable_shared_from_this<BatchReply> {
 public:
  BatchReply(std::size_t expected, link::ReplySlot slot)
      : missing_(expected), slot_(std::move(slot)) {}

  /// One of the `expected` slots.
  [[nodiscard]] link::ReplySlot part();

 private:
  void add(link::OutboundReply part);

  std::mutex mutex_;
  std::size_t missing_;
  std::vector<std::string> parts_;
  std::vector<std::function<void()>> after_sent_;
  link::ReplySlot slot_;
};

/// Passes on the requests of a JSON-RPC batch over HTTP one by one, as if each had come alone: each
/// is logged and has an answer. Only batches of requests whose
/// methods are all taken, and that belong to no MCP session; anything else is passed on as it is.
/// Thread-safe. Source: protocol §4 (4.30).
class BatchHandler final : public link::HandlerDecorator {
 public:
  /// `handler` outlives this object. `takes`: whether a method is one of this kind.
  BatchHandler(link::MessageHandler& handler, std::function<bool(std::string_view)> takes)
      : HandlerDecorator(handler), takes_(std::move(takes)) {}

  void on_message(link::Inbound message, link::ReplySlot reply) override;

 private:
  const std::function<bool(std::string_view)> takes_;
};

}  // namespace league::transport::http
