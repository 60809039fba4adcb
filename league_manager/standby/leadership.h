#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "common/journal/journal.h"
#include "common/transport/link/message_handler.h"

namespace league::league_manager {

/// When a record counts as durable.
enum class Replication : std::uint8_t {
  kAsync,  ///< when it is durable here; the stream follows
  /// When it is durable here and at a manager that stands by. The stream has it first, so that
  /// this journal never holds what the league's does not.
  kSync,
};

/// Of a manager whose place others can take: its turn. `is_leading` is safe from any thread; the
/// rest belongs to one.
class Leadership {
 public:
  virtual ~Leadership() = default;
  [[nodiscard]] virtual int term() const = 0;
  /// Whether another manager led before this one: its last entries may be nobody's any more.
  [[nodiscard]] virtual bool has_followed() const = 0;
  [[nodiscard]] virtual journal::Journal& journal() = 0;
  /// From now on what is durable is so by the rule of `replication`. To be called before anybody is
  /// answered, after the first events of the term are written.
  virtual void serve() = 0;
  /// False: nobody may be answered any more.
  [[nodiscard]] virtual bool is_leading() const = 0;
  /// Publishes what is left, gives the lead back and ends; once. Before the timer and the local
  /// journal end; `journal` refuses what comes later.
  virtual void finish() = 0;
};

/// Hands on what comes to who leads, and leaves the rest unanswered. Thread-safe as the handler is,
/// which outlives it, like the leadership.
class LeadersHandler final : public transport::MessageHandler {
 public:
  /// Without a leadership it hands everything on.
  LeadersHandler(transport::MessageHandler& handler, const Leadership* leadership)
      : handler_(handler), leadership_(leadership) {}

  void on_message(transport::Inbound message, transport::ReplySlot reply) override;
  transport::StreamAnswer on_stream(transport::StreamRequest request) override;
  std::optional<transport::StreamRefusal> on_session_end(
      const rpc::MessageContext& context) override;
  void on_channel_closed(const transport::PeerChannel& channel) override;

 private:
  [[nodiscard]] bool is_leading() const {
    return leadership_ == nullptr || leadership_->is_leading();
  }

  transport::MessageHandler& handler_;
  const Leadership* const leadership_;
  std::mutex mutex_;
  /// Letting go of them would answer.
  std::vector<transport::ReplySlot> unanswered_;
};

}  // namespace league::league_manager
