#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "common/transport/link/message_connection.h"

namespace league::transport::link {

/// Stands between a connection and its receiver: holds messages back before the start and while
/// reading is off, and reports the end once, last. Only on the event loop's thread.
class ReceiveBuffer {
 public:
  /// `on_change` runs when `is_reading` may have changed.
  explicit ReceiveBuffer(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  void start(std::shared_ptr<MessageReceiver> receiver);
  void deliver(ReceivedMessage message);
  /// Closes after the messages that are held back. A second call does nothing.
  void close(core::Error why);
  /// As close, but drops the messages that are held back.
  void close_now(core::Error why);
  void set_reading(bool is_on);
  /// Delivers the messages that need not be held back any more; after set_reading(true).
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

}  // namespace league::transport::link
