#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "common/transport/link/detached_socket.h"
#include "common/transport/link/message_handler.h"

namespace league::transport {

/// What takes the place of a plain answer once the handler has pushed something.
struct ExchangeStream {
  TakeOver take_over;  ///< gets the connection
  std::function<void(OutboundReply)> answer;  ///< gets the answer when it comes
  std::function<void()> abandon;  ///< there is no connection any more
};

/// One HTTP request between its handler and its answer: it joins the thread that serves the
/// connection with whoever answers, at once or later. Thread-safe.
class HttpExchange final : public PeerWatch, public std::enable_shared_from_this<HttpExchange> {
 public:
  void when_gone(std::function<void()> callback) override;
  /// True when somebody wants to know that the peer has gone.
  [[nodiscard]] bool is_watched();
  /// The peer has gone; whoever watches is told.
  void peer_left();
  /// A slot that answers this exchange; only one is made.
  [[nodiscard]] ReplySlot make_slot();
  /// The answer, once it is there.
  [[nodiscard]] std::optional<OutboundReply> take_reply();
  /// Asks for `resume` to run when the answer comes; runs it now when it is there already.
  void park(std::function<void()> resume);
  /// The answer will be a stream. False when it has been sent already, or nobody will send it.
  bool begin_stream(ExchangeStream stream);
  /// What gets the connection; once, and nothing where the answer is no stream.
  [[nodiscard]] TakeOver take_over();
  /// Nobody will send the answer any more: its `after_sent` runs as soon as it comes.
  void abandon();

 private:
  void answer(OutboundReply reply);

  std::mutex mutex_;
  std::optional<OutboundReply> reply_;
  std::function<void()> resume_;
  std::function<void()> on_gone_;
  ExchangeStream stream_;
  bool is_stream_ = false;
  bool is_answered_ = false;
  bool is_abandoned_ = false;
};

}  // namespace league::transport
