#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "common/journal/journal.h"
#include "common/transport/link/message_handler.h"

namespace league::league_manager::standby {

/// When a record counts as durable.
enum class Replication : std::uint8_t {
  kAsync,  ///< when it is durable here; it is published afterwards
  /// A record counts as durable once it is durable here and at a stand-by. The stream gets it
  /// first, so that this journal never holds records that the league's journal does not.
  kSync,
};

/// The lead of a manager that other managers can replace. `is_leading` is thread-safe; all other
/// functions must be called from one thread.
class Leadership {
 public:
  virtual ~Leadership() = default;
  [[nodiscard]] virtual int term() const = 0;
  /// Whether another manager led before this one: that manager's last entries may be void.
  [[nodiscard]] virtual bool has_followed() const = 0;
  [[nodiscard]] virtual journal::Journal& journal() = 0;
  /// Applies the rule of `replication` from now on. Call it after the first events of the term are
  /// written and before anything is answered.
  virtual void serve() = 0;
  /// False: no answer may be sent any more.
  [[nodiscard]] virtual bool is_leading() const = 0;
  /// Publishes the remaining records, releases the lease and ends; once. Call it before the timer
  /// and the local journal end; `journal` refuses later records.
  virtual void finish() = 0;
};

/// Passes messages on while this manager leads, and leaves all others unanswered. As thread-safe as
/// `handler`. `handler` and `leadership` must outlive it.
class LeadersHandler final : public transport::link::HandlerDecorator {
 public:
  /// Passes everything on if `leadership` is null.
  LeadersHandler(transport::link::MessageHandler& handler, const Leadership* leadership)
      : HandlerDecorator(handler), leadership_(leadership) {}

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;
  transport::link::StreamAnswer on_stream(transport::link::StreamRequest request) override;

 private:
  [[nodiscard]] bool is_leading() const {
    return leadership_ == nullptr || leadership_->is_leading();
  }

  const Leadership* const leadership_;
  std::mutex mutex_;
  /// Kept, since destroying a ReplySlot sends an answer.
  std::vector<transport::link::ReplySlot> unanswered_;
};

}  // namespace league::league_manager::standby
