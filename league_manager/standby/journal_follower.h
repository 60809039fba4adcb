#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/crypto.h"
#include "common/journal/journal.h"
#include "common/transport/bus/jet_stream.h"
#include "league_manager/standby/journal_stream.h"

namespace league::league_manager::standby {

struct JournalFollowerOptions {
  std::string league;
  /// Checks that a record of the league fits this manager's other data (its key); may be empty.
  std::function<core::Result<void>(const journal::EventRecord&)> check;
};

/// Reads the stream of a league's journal from its beginning, compares it with a local journal,
/// appends new records there, and acknowledges durable ones. Its calls block and belong to one
/// thread. All references must outlive it, except the JetStream, which may end before it.
class JournalFollower {
 public:
  JournalFollower(journal::Journal& local, transport::bus::Bus& bus,
                  transport::bus::JetStream& streams, const core::Clock& clock,
                  JournalFollowerOptions options);

  /// Reads the local journal. Call it once, before anything else.
  [[nodiscard]] core::Result<void> begin();
  /// Waits up to `patience` for new records and appends them. Fails with kConnectionError if the
  /// broker does not answer, which may be retried; any other error is permanent: the local journal
  /// and the stream belong to different leagues, or the local one fails.
  [[nodiscard]] core::Result<void> take(std::chrono::milliseconds patience);
  /// Appends everything that the stream has now. Fails like `take`.
  [[nodiscard]] core::Result<void> read_to_end(core::Clock::Steady deadline);
  /// Waits until all appended records are durable.
  [[nodiscard]] core::Result<void> settle();

  /// The sequence number of the last message read from the stream; 0: none.
  [[nodiscard]] std::uint64_t stream_sequence() const { return next_ - 1; }
  /// The highest term in the stream or the local journal.
  [[nodiscard]] int last_term() const { return last_term_; }
  /// The rule of the manager that wrote the last message; nothing: it said none.
  [[nodiscard]] std::optional<Replication> replication() const { return replication_; }
  /// Sequence number of the local journal up to which it equals the stream.
  [[nodiscard]] std::uint64_t verified() const { return verified_; }
  /// Sequence number of the local journal up to which the stream has it packed.
  [[nodiscard]] std::uint64_t packed() const { return packed_; }
  /// Records of the local journal.
  [[nodiscard]] std::uint64_t written() const { return digests_.size(); }

 private:
  /// Messages from the bus. Shared with its callbacks, which can run after the follower has ended.
  struct Inbox {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<transport::bus::StreamDelivery> messages;
    bool is_open = false;  ///< a request for messages is under way
    bool is_gone = false;  ///< the consumer no longer exists
    std::uint64_t generation = 0;  ///< of the consumer
  };
  /// Publishes the position up to which records are durable here.
  struct ProgressPublisher {
    explicit ProgressPublisher(transport::bus::Bus& its_bus) : bus(its_bus) {}
    transport::bus::Bus& bus;
    std::string subject;
    std::mutex mutex;
    FollowerPosition had;
    std::optional<core::Error> failure;
    void say();
  };

  [[nodiscard]] core::Result<void> open_consumer(std::chrono::milliseconds patience);
  void open_fetch();
  [[nodiscard]] core::Result<transport::bus::StreamState> look(core::Clock::Steady deadline);
  /// The sequence number of the stream's first message from `next_` on; 0: there is none.
  [[nodiscard]] core::Result<std::uint64_t> next_there();
  void begin_anew();
  [[nodiscard]] core::Result<void> on_delivery(const transport::bus::StreamDelivery& delivery);
  [[nodiscard]] core::Result<void> on_piece(JournalPiece piece);
  [[nodiscard]] core::Result<void> take_group();
  void say_now_and_then();

  journal::Journal& local_;
  transport::bus::Bus& bus_;
  transport::bus::JetStream& streams_;
  const core::Clock& clock_;
  const JournalFollowerOptions options_;
  const std::string stream_;
  const std::shared_ptr<Inbox> inbox_;
  const std::shared_ptr<ProgressPublisher> progress_;
  std::string consumer_;  ///< empty: none
  std::uint64_t next_ = 1;  ///< sequence number of the stream's next message
  std::vector<core::Digest> digests_;  ///< of the local journal's records
  JournalPiece group_;  ///< pieces of one group, until it is complete
  std::uint64_t verified_ = 0;
  std::uint64_t packed_ = 0;
  bool is_read_again_ = false;  ///< the stream is read again from its beginning, since records were
                                ///< missing
  std::optional<Replication> replication_;
  int last_term_ = 0;
  core::Clock::Steady said_at_{};
};

/// A digest by which records are compared.
[[nodiscard]] core::Digest record_digest(const journal::EventRecord& record);

}  // namespace league::league_manager::standby
