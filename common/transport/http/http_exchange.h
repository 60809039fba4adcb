#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "common/transport/link/detached_socket.h"
#include "common/transport/link/message_handler.h"

namespace league::transport::http {

/// Replaces a plain answer once the handler has pushed a message.
struct ExchangeStream {
  link::TakeOver take_over;  ///< receives the connection
  std::function<void(link::OutboundReply)> answer;  ///< receives the answer when it is ready
  std::function<void()> abandon;  ///< called if the connection has ended
};

/// One HTTP request between its handler and its answer: connects the thread that serves the
/// connection with the thread that answers, at once or later. Thread-safe.
class HttpExchange final : public link::PeerWatch,
                           public std::enable_shared_from_this<HttpExchange> {
 public:
  void when_gone(std::function<void()> callback) override;
  /// True if a callback is set for the peer's disconnect.
  [[nodiscard]] bool is_watched();
  /// The peer has disconnected; runs the callback.
  void peer_left();
  /// A slot that answers this exchange; only one is made.
  [[nodiscard]] link::ReplySlot make_slot();
  /// The answer, once it is ready.
  [[nodiscard]] std::optional<link::OutboundReply> take_reply();
  /// Runs `resume` when the answer is ready, or now if it already is.
  void park(std::function<void()> resume);
  /// The answer will be a stream. False if the answer was already sent or can no longer be sent.
  bool begin_stream(ExchangeStream stream);
  /// The function that takes over the connection; returned once, and empty if the answer is no
  /// stream.
  [[nodiscard]] link::TakeOver take_over();
  /// The answer can no longer be sent: its `after_sent` runs as soon as it is given.
  void abandon();

 private:
  void answer(link::OutboundReply reply);

  std::mutex mutex_;
  std::optional<link::OutboundReply> reply_;
  std::function<void()> resume_;
  std::function<void()> on_gone_;
  ExchangeStream stream_;
  bool is_stream_ = false;
  bool is_answered_ = false;
  bool is_abandoned_ = false;
};

}  // namespace league::transport::http
