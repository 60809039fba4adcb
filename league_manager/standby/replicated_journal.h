#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/journal/journal.h"
#include "common/transport/bus/handler_gate.h"
#include "common/transport/bus/jet_stream.h"
#include "common/transport/bus/strand.h"
#include "league_manager/standby/journal_packer.h"
#include "league_manager/standby/journal_stream.h"
#include "league_manager/standby/leadership.h"

namespace league::league_manager {

struct ReplicatedJournalOptions {
  std::string league;
  int term = 1;
  /// Where the stream ends, which has everything of the local journal up to `published`.
  std::uint64_t stream_sequence = 0;
  std::uint64_t published = 0;  ///< sequence number of the local journal
  std::uint64_t packed = 0;  ///< likewise, up to which the stream has it packed
  std::size_t pack_at = 1 << 20;  ///< bytes of records that are worth packing
  /// Whether we may still act; if not, durable records are no longer reported.
  std::function<bool()> is_leading = [] { return true; };
  /// Called once when the stream has another manager's records: this one has been replaced.
  std::function<void(std::string why)> on_fenced;
  /// Called every few seconds with a text for the operator about what the journal waits for. May be
  /// empty.
  std::function<void(std::string)> on_notice;
  std::chrono::milliseconds notice_after{3000};
};

/// A journal whose records others get too: by a stream of the broker, in order and complete, each
/// group of records whole. Begins with records counting as durable when the stream and the local
/// journal have them, for a manager that has just taken the lead; `follow` ends that. Thread-safe;
/// `durable` is called in the order of the appends and one at a time. All references outlive it;
/// the JetStream ends before it, after `close`.
class ReplicatedJournal final : public journal::Journal {
 public:
  ReplicatedJournal(journal::Journal& local, transport::Bus& bus, transport::JetStream& streams,
                    const core::Clock& clock, core::Timer& timer, ReplicatedJournalOptions options);
  ~ReplicatedJournal() override;
  ReplicatedJournal(const ReplicatedJournal&) = delete;
  ReplicatedJournal& operator=(const ReplicatedJournal&) = delete;

  /// Publishes the records that the stream lacks, and listens to followers. Once, before the first
  /// append. Fails as the local journal's `replay` and Bus::subscribe.
  [[nodiscard]] core::Result<void> begin();
  /// From now on records are durable by the rule of `replication`.
  void follow(Replication replication);

  /// kShuttingDown once it is closed. Nothing is said of records when we do not lead any more.
  void append(std::vector<journal::EventRecord> records, Durable durable) override;
  [[nodiscard]] core::Result<void> replay(const Visitor& visit) const override;

  struct Figures {
    std::uint64_t written = 0;  ///< sequence number of the last record that is durable here
    std::uint64_t published = 0;  ///< likewise in the stream
    std::uint64_t followed = 0;  ///< likewise at the manager that follows best
  };
  [[nodiscard]] Figures figures() const {
    std::lock_guard lock(mutex_);
    return figures_;
  }
  /// Waits until the stream has everything; false: not within `patience`.
  [[nodiscard]] bool flush(std::chrono::milliseconds patience);
  /// Nothing more is appended, published or said.
  void close();

 private:
  struct Item {
    std::uint64_t sequence = 0;
    journal::EventRecord record;
    bool ends_group = true;
    bool is_local = true;  ///< the local journal has it
  };
  struct Waiting {
    std::uint64_t sequence = 0;
    Durable durable;
    core::Clock::Steady since;
  };
  enum class Rule : std::uint8_t { kPublished, kLocal, kFollowed };

  void append_here_first(const std::vector<journal::EventRecord>& records, Durable durable);
  void append_there_first(std::vector<journal::EventRecord> records, Durable durable);
  void on_local(std::uint64_t first, const std::vector<journal::EventRecord>& records,
                const Durable& durable, const core::Result<void>& stored);
  void pump();
  void publish(const std::shared_ptr<const JournalPiece>& piece);
  void on_published(const std::shared_ptr<const JournalPiece>& piece,
                    const transport::PublishAck& ack);
  void on_stored(const JournalPiece& piece, std::uint64_t stream_sequence);
  /// What the stream has packed before that message of it needs no single pieces.
  void cut(std::uint64_t stream_sequence);
  /// Under the lock: takes the records that are published now; those that are not durable here yet
  /// go to `unwritten_`.
  void take_published(const JournalPiece& piece);
  void on_written(std::uint64_t last, const core::Result<void>& stored);
  /// Another's, or our own whose answer was lost?
  void on_conflict(const std::shared_ptr<const JournalPiece>& piece);
  /// The stream holds a message that is no manager's: a broker stores what a referee has sent
  /// there.
  void skip(std::uint64_t stream_sequence, const std::shared_ptr<const JournalPiece>& piece);
  void on_had(const transport::BusMessage& message);
  void release();
  /// On a thread of the local journal.
  void release_elsewhere();
  void watch();
  void schedule_watch();
  void fence(const std::string& why);
  /// Under the lock: what the next message holds; null for nothing.
  [[nodiscard]] std::shared_ptr<const JournalPiece> next_piece();
  [[nodiscard]] std::uint64_t limit() const;

  journal::Journal& local_;
  transport::Bus& bus_;
  transport::JetStream& streams_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const ReplicatedJournalOptions options_;
  using Gate = transport::HandlerGate<std::function<void()>>;
  const std::shared_ptr<Gate> gate_;  ///< of what the timer and the local journal call
  transport::Strand strand_;  ///< in which `durable` is called
  std::unique_ptr<transport::Bus::Subscription> followers_;

  std::mutex append_mutex_;  ///< makes the order of numbers that of the local journal
  std::uint64_t next_ = 1;

  mutable std::mutex mutex_;  ///< of everything below
  std::condition_variable published_all_;
  Rule rule_ = Rule::kPublished;
  JournalPacker packer_;
  std::deque<Item> unpublished_;
  std::vector<journal::EventRecord> unwritten_;  ///< published, and not whole yet
  std::deque<Waiting> waiting_;
  Figures figures_;
  std::uint64_t stream_sequence_ = 0;
  core::Clock::Steady heard_{};  ///< of a follower
  bool is_publishing_ = false;
  bool is_fenced_ = false;
  bool is_closed_ = false;
};

}  // namespace league::league_manager
