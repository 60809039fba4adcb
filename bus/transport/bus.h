#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/core/timer.h"
#include "common/rpc/context.h"
#include "common/transport/link/media_type.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

/// One message of a bus.
struct BusMessage {
  std::string subject;
  std::string reply;  ///< where an answer is expected; empty: nobody expects one
  /// Names as they were sent (use `bus_header` to look one up), and values. Neither may contain
  /// line ends. An empty value means the same as no header, and such a header may get lost.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string payload;
  /// True for the status message with which the broker answers a request that has no receiver.
  bool is_no_responders = false;
};

/// The value of the header, whatever the case of its name; empty where there is none.
[[nodiscard]] std::string_view bus_header(const BusMessage& message, std::string_view name);

/// Messages by subject, through a broker: publishers and subscribers do not know each other, and
/// neither has an address. A message that is published while nobody listens is lost (at most once).
/// Thread-safe.
class Bus {
 public:
  /// Runs on a thread of the bus, for one subscription on one at a time, and must not block.
  using Handler = std::function<void(BusMessage)>;
  /// True: connected again; false: the connection is lost, and the bus is looking for the broker.
  using StateHandler = std::function<void(bool is_connected)>;

  /// Ends when destroyed; afterwards its handler does not run, unless it is the one that runs the
  /// destructor.
  class Subscription {
   public:
    /// `end` runs once, in the destructor.
    explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
    ~Subscription() { end_(); }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

   private:
    const std::function<void()> end_;
  };

  virtual ~Bus() = default;
  /// Never waits for the broker. Without a connection the message may be lost. Fails with
  /// kReplyTooLarge for a payload beyond `max_payload`, kConnectionError if the message could not
  /// be sent, kShuttingDown once the bus is closed.
  virtual core::Result<void> publish(const BusMessage& message) = 0;
  /// `subject` may end in `.>` or contain `*` tokens. Each message goes to only one of the
  /// subscriptions with the same non-empty `queue`. A subscription survives losses of the
  /// connection.
  [[nodiscard]] virtual core::Result<std::unique_ptr<Subscription>> subscribe(
      const std::string& subject, const std::string& queue, Handler handler) = 0;
  /// Makes the broker throttle everybody who publishes to `subject`, until the subscription ends:
  /// the broker accepts next to nothing more from them, delivers none of it here, and does not tell
  /// them. Does not wait for the broker. Null where the bus cannot do this, or where all its agents
  /// share one login, so that any of them could throttle any other.
  [[nodiscard]] virtual std::unique_ptr<Subscription> stall_publishers(
      const std::string& /*subject*/) {
    return nullptr;
  }
  /// Calls back when the connection is lost and when it is restored, until the subscription ends.
  [[nodiscard]] virtual std::unique_ptr<Subscription> watch(StateHandler handler) = 0;
  [[nodiscard]] virtual bool is_connected() const = 0;
  /// Waits until the broker has received everything published before, and everything it had sent us
  /// has arrived here and is on its way to its handlers. False if that took longer than `patience`,
  /// or if there is no connection. Must not be called on a thread of the bus, since the handlers
  /// would wait for it.
  virtual bool flush(std::chrono::milliseconds patience) = 0;
  /// The broker's limit in bytes, headers and payload together; a guess before the first
  /// connection.
  [[nodiscard]] virtual std::size_t max_payload() const = 0;
  /// Of the broker, without credentials: for logs.
  [[nodiscard]] virtual std::string url() const = 0;
};

/// The rules that every bus applies before it contacts a broker. Pure, so safe from any thread.

/// Fails with kInvalidFieldValue and the field's name for an invalid subject or reply (blanks,
/// empty tokens, wildcards) and for headers that would break the frame; with kReplyTooLarge beyond
/// `max_payload` bytes of headers and payload.
[[nodiscard]] core::Result<void> check_bus_message(const BusMessage& message,
                                                   std::size_t max_payload);
/// Fails with kInvalidFieldValue for a subject that cannot be subscribed to, or a queue that is not
/// a token. An empty queue means no queue.
[[nodiscard]] core::Result<void> check_bus_subscription(std::string_view subject,
                                                        std::string_view queue);

/// One session on a bus, and what works for it needs; all outlive it.
struct SessionOnBus {
  Bus& bus;
  link::BusSession session;
  const core::Clock& clock;
  core::Timer& timer;
  core::RandomSource& random;
};

/// Names of headers; all are optional on the wire (docs/distributed.md).
inline constexpr const char* kDirectionHeader = "Mcp-Direction";
inline constexpr const char* kTraceHeader = "Trace-Id";
inline constexpr const char* kLeagueHeader = "League-Id";
inline constexpr const char* kContentTypeHeader = "Content-Type";

/// What all messages of one session on one bus share.
[[nodiscard]] std::shared_ptr<const rpc::ConnectionInfo> bus_connection_info(
    const Bus& bus, const link::BusSession& session);

/// The context of a message that was received; `session` is the sender's.
[[nodiscard]] rpc::MessageContext bus_context(const BusMessage& message,
                                              const link::BusSession& session,
                                              rpc::MessageDirection direction,
                                              std::shared_ptr<const rpc::ConnectionInfo> connection,
                                              const core::Clock& clock);

/// The conversation that the message names; empty if it names none. Names longer than 256
/// characters are cut, because strangers choose them and we store them and send them back.
[[nodiscard]] std::string bus_trace(const BusMessage& message);

/// A message of `session` with its headers; `trace_id` may be empty.
[[nodiscard]] BusMessage bus_message(std::string subject, std::string payload,
                                     const link::BusSession& session,
                                     rpc::MessageDirection direction,
                                     const std::string& trace_id = {});

}  // namespace league::transport::bus
