#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bus/transport/bus.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/task/task.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

/// The configuration of a stream. Names: letters, digits, `-` and `_`.
struct StreamConfig {
  std::string name;
  std::vector<std::string> subjects;
  std::chrono::milliseconds max_age{0};  ///< 0: for ever
  std::int64_t max_messages_per_subject = -1;  ///< the oldest go; -1: any number
  /// -1: no limit. A broker that cannot reserve that much creates the stream with half, a quarter,
  /// ... of it; if it has not even 64 KiB, without a limit.
  std::int64_t max_bytes = -1;
  bool refuses_when_full = false;  ///< otherwise the oldest messages are removed
  bool denies_removal = false;  ///< of messages by anybody; the stream itself can be deleted
  std::chrono::milliseconds duplicate_window{120'000};  ///< in which `message_id` is remembered
  int replicas = 1;  ///< at least this many brokers of a cluster store it
};

/// A setting in MiB, 0 for no limit, in the form of StreamConfig::max_bytes.
[[nodiscard]] constexpr std::int64_t stream_bytes(long max_mib) {
  constexpr int kMebibyte = 20;
  return max_mib == 0 ? -1 : std::int64_t{max_mib} << kMebibyte;
}

struct StreamState {
  std::uint64_t messages = 0;
  std::uint64_t first_sequence = 0;
  std::uint64_t last_sequence = 0;  ///< the highest number ever assigned; 0: none
  int replicas = 1;
  std::uint64_t bytes = 0;  ///< as the broker counts them
  std::int64_t max_bytes = -1;  ///< -1: no limit
  bool is_direct = false;  ///< DIRECT.GET is possible
};

/// A stream that exists.
struct StreamListing {
  std::string name;
  std::string created;  ///< in the broker's words; different for a stream that was made again
  StreamState state;
};

/// The condition under which the broker stores a message.
struct PublishCondition {
  std::string message_id = {};  ///< a repetition within the stream's window is stored once
  std::optional<std::uint64_t> last_sequence = std::nullopt;  ///< of the whole stream
  std::string last_message_id = {};  ///< of the stream's last message; empty: any
};

struct PublishAck {
  enum class Status : std::uint8_t {
    kStored,  ///< now, or before, under the same `message_id`
    kConflict,  ///< the condition does not hold
    kFull,  ///< the stream, or the broker's store, has no room for it
    kFailed,  ///< no answer in time, or a broker error: it is unknown whether the message is stored
  };
  Status status = Status::kFailed;
  std::uint64_t sequence = 0;  ///< of a message that is stored
  bool is_duplicate = false;
  core::Error why = {};  ///< unless it is stored
};

struct StoredMessage {
  std::uint64_t sequence = 0;
  BusMessage message;  ///< without `reply`
};

/// A consumer of a stream. A durable one is found again by its name after a restart of either side.
struct ConsumerConfig {
  std::string durable_name;  ///< empty: lasts as long as somebody asks for messages
  std::string filter_subject = {};  ///< empty: all
  std::uint64_t start_sequence = 0;  ///< 0: from the first that is there
  bool is_acknowledged = true;  ///< each message needs an ack(); false: reading it is enough
  std::chrono::milliseconds ack_wait{10'000};  ///< afterwards it is delivered again
  std::int64_t max_ack_pending = -1;
};

/// A message of a stream, delivered on request.
struct StreamDelivery {
  std::uint64_t sequence = 0;
  std::uint64_t delivered = 1;  ///< how often it has been delivered, including this time
  std::uint64_t pending = 0;  ///< messages that wait behind it
  BusMessage message;  ///< `reply` is where it is acknowledged
};

/// A request for messages of a consumer.
struct FetchRequest {
  std::string stream;
  std::string consumer;
  int batch = 1;  ///< at most as many messages
  std::chrono::milliseconds expires{0};
  /// Runs for each, one at a time, on a thread of the bus, and not after the task has ended.
  std::function<void(StreamDelivery)> on_message;
};

/// Streams of a broker (NATS JetStream), by requests to its `$JS.API.` subjects over a Bus. Its
/// tasks run on the executor of whoever awaits them, and do not outlive it. A request is repeated
/// until it is answered or its deadline has passed, even if no JetStream is found (because the
/// broker does not have it, or is starting). After the deadline it fails with kConnectionError;
/// after `end`, with kShuttingDown. If the broker refuses a request, it fails with kInvalidReply
/// and the broker's text. Thread-safe. Source: NATS' API of JetStream, 2.9.
class JetStream {
 public:
  template <typename T>
  using Answered = task::Task<core::Result<T>>;
  using Steady = core::Clock::Steady;

  /// Fails as Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<JetStream>> create(const SessionOnBus& on);
  /// As end.
  ~JetStream();
  JetStream(const JetStream&) = delete;
  JetStream& operator=(const JetStream&) = delete;

  /// Fails all pending and later requests with kShuttingDown, and returns when their tasks have
  /// gone on, unless it is called by one of them.
  void end();

  /// Creates the stream, or changes an existing one to `config`, except that a higher number of
  /// replicas is kept, because an operator has set it. A limit that the broker does not let us
  /// change stays as it is.
  Answered<StreamState> ensure_stream(StreamConfig config, Steady deadline);
  /// kInvalidReply where there is no such stream.
  Answered<StreamState> stream_state(std::string stream, Steady deadline);
  /// All streams with a subject that matches `subject` (wildcards allowed), up to 256.
  Answered<std::vector<StreamListing>> list_streams(std::string subject, Steady deadline);
  /// Succeeds, too, if there is no such stream.
  Answered<void> delete_stream(std::string stream, Steady deadline);

  /// Publishes at `message.subject` and waits until it is stored. A repetition after a silence is
  /// safe only with a `message_id` or another condition.
  task::Task<PublishAck> publish(BusMessage message, PublishCondition condition, Steady deadline);

  /// The message with that sequence number, or nothing.
  Answered<std::optional<StoredMessage>> get(std::string stream, std::uint64_t sequence,
                                             Steady deadline);
  /// The first one of `subject` (wildcards allowed) from `sequence` on, or nothing.
  Answered<std::optional<StoredMessage>> get_next(std::string stream, std::string subject,
                                                  std::uint64_t sequence, Steady deadline);
  /// Creates the consumer, or finds the existing one, and gives its name.
  Answered<std::string> ensure_consumer(std::string stream, ConsumerConfig config, Steady deadline);
  /// Ends when all messages have come or `wanted.expires` has passed; with an error if the consumer
  /// no longer exists (create it again) or the broker cannot be reached.
  Answered<void> fetch(FetchRequest wanted);

  /// Acknowledges the message. This is not confirmed: if it is lost, the message is delivered
  /// again.
  void ack(const StreamDelivery& delivery);
  /// Asks for the message to be delivered again, to any reader, after `delay`.
  void nak(const StreamDelivery& delivery, std::chrono::milliseconds delay);

 private:
  struct State;
  using Answer = core::Result<BusMessage>;
  explicit JetStream(std::shared_ptr<State> state);
  /// An unsafe request may not be sent again when it may have been carried out.
  task::Task<Answer> send(BusMessage request, Steady deadline, bool is_safe = true);
  /// A request whose answer is JSON. Gives an error for an invalid `name`.
  task::Task<Answer> ask(std::string what, std::string name, std::string payload, Steady deadline);
  task::Task<Answer> create(StreamConfig config, Steady deadline);
  Answered<std::optional<StoredMessage>> read(std::string stream, std::string what,
                                              Steady deadline);

  const std::shared_ptr<State> state_;
};

}  // namespace league::transport::bus
