#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/result.h"

namespace league::transport {

/// One message of a bus.
struct BusMessage {
  std::string subject;
  std::string reply;  ///< where an answer is expected; empty: nobody expects one
  /// Names as they were sent; to be looked up with `bus_header`. No line ends in either. An
  /// empty value is the same as no header, and may not arrive.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string payload;
  /// The broker's word in place of an answer: nobody listens at the subject of the request.
  bool is_no_responders = false;
};

/// The value of the header, whatever the case of its name; empty where there is none.
[[nodiscard]] std::string_view bus_header(const BusMessage& message, std::string_view name);

/// Messages by subject, through a broker: who publishes need not know who listens, and neither has
/// an address. What is published while nobody listens is gone (at most once). Thread-safe.
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
    virtual ~Subscription() = default;
  };

  virtual ~Bus() = default;
  /// Never blocks for the broker. Without a connection the message may be lost. kReplyTooLarge for
  /// a payload beyond `max_payload`, kConnectionError where it could not be handed over,
  /// kShuttingDown once the bus is closed.
  virtual core::Result<void> publish(const BusMessage& message) = 0;
  /// `subject` may end in `.>` or contain `*` tokens. Of those with the same non-empty `queue` only
  /// one gets each message. Lasts through losses of the connection.
  [[nodiscard]] virtual core::Result<std::unique_ptr<Subscription>> subscribe(
      const std::string& subject, const std::string& queue, Handler handler) = 0;
  /// Has the broker make those wait who publish to `subject`, until the subscription ends: of what
  /// they go on sending it takes next to nothing, and what it takes reaches nobody here, of which
  /// they are not told. Does not wait for the broker. Null where the bus cannot, or where its
  /// agents share one way to say who they are, so that anybody could have anybody stalled.
  [[nodiscard]] virtual std::unique_ptr<Subscription> stall_publishers(const std::string& subject);
  /// Hears of losses of the connection and of its return until the subscription ends.
  [[nodiscard]] virtual std::unique_ptr<Subscription> watch(StateHandler handler) = 0;
  [[nodiscard]] virtual bool is_connected() const = 0;
  /// Waits until the broker has taken what was published before, and what it had sent us is here,
  /// on its way to its handlers. False: not within `patience`, or there is no connection. Not on a
  /// thread of the bus, whose handlers would wait.
  virtual bool flush(std::chrono::milliseconds patience) = 0;
  /// The broker's limit in bytes, headers and payload together; a guess before the first
  /// connection.
  [[nodiscard]] virtual std::size_t max_payload() const = 0;
  /// Of the broker, without credentials: for logs.
  [[nodiscard]] virtual std::string url() const = 0;
};

}  // namespace league::transport
