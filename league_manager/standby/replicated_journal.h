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

namespace league::league_manager::standby {

struct ReplicatedJournalOptions {
  std::string league;
  int term = 1;
  Replication replication = Replication::kAsync;  ///< the rule that `follow` begins with
  /// The last sequence number of the stream, which has all records of the local journal up to
  /// `published`.
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

/// A journal that is replicated to other managers through a stream of the broker: in order,
/// complete, and in whole groups of records. At first, when the manager has just taken the lead, a
/// record counts as durable once the stream and the local journal have it; `follow` changes the
/// rule. Thread-safe; `durable` is called in the order of the appends, one at a time. All
/// references must outlive it, except the JetStream, which ends before it, after `close`.
class ReplicatedJournal final : public journal::Journal {
 public:
  ReplicatedJournal(journal::Journal& local, transport::bus::Bus& bus,
                    transport::bus::JetStream& streams, const core::Clock& clock,
                    core::Timer& timer, ReplicatedJournalOptions options);
  ~ReplicatedJournal() override;
  ReplicatedJournal(const ReplicatedJournal&) = delete;
  ReplicatedJournal& operator=(const ReplicatedJournal&) = delete;

  /// Publishes the records that the stream lacks, and listens to followers. Call it once, before
  /// the first append. Fails like the local journal's `replay` and Bus::subscribe.
  [[nodiscard]] core::Result<void> begin();
  /// From now on records are durable by the rule of the options.
  void follow();

  /// Fails with kShuttingDown after `close`. `durable` is not called if this manager no longer
  /// leads.
  void append(std::vector<journal::EventRecord> records, Durable durable) override;
  [[nodiscard]] core::Result<void> replay(const Visitor& visit) const override;

  struct Figures {
    std::uint64_t written = 0;  ///< sequence number of the last record that is durable here
    std::uint64_t published = 0;  ///< the same for the stream
    std::uint64_t followed = 0;  ///< the same for the stand-by that is furthest
  };
  [[nodiscard]] Figures figures() const {
    std::lock_guard lock(mutex_);
    return figures_;
  }
  /// Waits until the stream has everything; false: not within `patience`.
  [[nodiscard]] bool flush(std::chrono::milliseconds patience);
  /// Stops: nothing is appended, published or reported afterwards.
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
                    const transport::bus::PublishAck& ack);
  void on_stored(const JournalPiece& piece, std::uint64_t stream_sequence);
  /// Removes the stream's messages before `stream_sequence`, which are packed by now.
  void cut(std::uint64_t stream_sequence);
  /// Needs the lock. Moves the published records from `unpublished_` to the packer; those that the
  /// local journal does not have yet, also to `unwritten_`.
  void take_published(const JournalPiece& piece);
  void on_written(std::uint64_t last, const core::Result<void>& stored);
  /// Finds out whether the conflicting message is another manager's or our own, whose confirmation
  /// was lost.
  void on_conflict(const std::shared_ptr<const JournalPiece>& piece);
  /// Ignores a message of the stream that is not from a manager: other agents can publish there,
  /// too.
  void skip(std::uint64_t stream_sequence, const std::shared_ptr<const JournalPiece>& piece);
  void on_had(const transport::bus::BusMessage& message);
  void release();
  /// Runs `release` later, on a thread of the local journal.
  void release_elsewhere();
  void watch();
  void schedule_watch();
  void fence(const std::string& why);
  /// Needs the lock. The next message to publish; null: none now.
  [[nodiscard]] std::shared_ptr<const JournalPiece> next_piece();
  [[nodiscard]] std::uint64_t limit() const;

  journal::Journal& local_;
  transport::bus::Bus& bus_;
  transport::bus::JetStream& streams_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const ReplicatedJournalOptions options_;
  using Gate = transport::bus::HandlerGate<std::function<void()>>;
  const std::shared_ptr<Gate> gate_;  ///< for callbacks of the timer and the local journal
  transport::bus::Strand strand_;  ///< in which `durable` is called
  std::unique_ptr<transport::bus::Bus::Subscription> followers_;

  std::mutex append_mutex_;  ///< ensures that sequence numbers have the order of the local journal
  std::uint64_t next_ = 1;

  mutable std::mutex mutex_;  ///< of everything below
  std::condition_variable published_all_;
  Rule rule_ = Rule::kPublished;
  JournalPacker packer_;
  std::deque<Item> unpublished_;
  std::vector<journal::EventRecord> unwritten_;  ///< published, but their group is not complete yet
  std::deque<Waiting> waiting_;
  Figures figures_;
  std::uint64_t stream_sequence_ = 0;
  core::Clock::Steady heard_{};  ///< of a follower
  bool is_publishing_ = false;
  bool is_fenced_ = false;
  bool is_closed_ = false;
};

}  // namespace league::league_manager::standby
