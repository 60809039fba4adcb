#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "common/transport/link/message_connection.h"

namespace league::transport {

/// Between a connection and its receiver: holds back what comes before the start or while reading
/// is off, and tells the end once, last. Only on the event loop's thread.
class ReceiverGate {
 public:
  /// `on_change` runs when `is_reading` may have changed.
  explicit ReceiverGate(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  void start(std::shared_ptr<MessageReceiver> receiver);
  void deliver(ReceivedMessage message);
  /// After what is held back. A second call does nothing.
  void close(core::Error why);
  /// As close, but what is held back is thrown away.
  void close_now(core::Error why);
  void set_reading(bool is_on);
  /// Delivers what is held back and may go; after set_reading(true).
  void drain();

  /// Whether the connection should go on reading.
  [[nodiscard]] bool is_reading() const {
    return receiver_ && is_reading_ && held_.empty() && !why_;
  }
  [[nodiscard]] bool is_closed() const { return why_.has_value(); }

 private:
  std::function<void()> on_change_;
  std::shared_ptr<MessageReceiver> receiver_;
  std::deque<ReceivedMessage> held_;
  std::optional<core::Error> why_;
  bool is_started_ = false;
  bool is_reading_ = true;
  bool is_draining_ = false;
};

}  // namespace league::transport
