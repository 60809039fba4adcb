#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "bus/transport/bus.h"
#include "bus/transport/jet_stream.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/task/latch.h"
#include "common/task/task.h"

namespace league::transport::bus {

[[nodiscard]] inline core::Error jet_stopping() {
  return {core::ErrorCode::kShuttingDown, "this program is stopping", {}};
}

/// Shared by all requests to JetStream. Everything in it outlives its users.
struct JetParts {
  Bus& bus;
  const core::Clock& clock;
  core::Timer& timer;
  std::string inbox;  ///< ends in a dot
};

/// Requests to JetStream with one answer each, repeated until the answer comes or the deadline has
/// passed. Used on one executor only; outlives its tasks.
class JetRequests {
 public:
  using Answer = core::Result<BusMessage>;
  /// Whether a request may be sent again although it may have been carried out.
  enum class Repeat : std::uint8_t { kAlways, kUnlessTaken };

  explicit JetRequests(JetParts parts) : parts_(std::move(parts)) {}

  /// kConnectionError: not answered in time; kShuttingDown after end(); otherwise as Bus::publish.
  [[nodiscard]] task::Task<Answer> ask(BusMessage request, core::Clock::Steady deadline,
                                       Repeat repeat);
  /// An answer to the request of that number.
  void on_answer(std::uint64_t number, BusMessage message);
  /// The connection is restored: the broker may never have seen the pending requests.
  void ask_all_again();
  /// Fails all pending and later requests.
  void end();

 private:
  struct PendingRequest {
    BusMessage request;
    core::Clock::Steady deadline;
    Repeat repeat;
    std::deque<BusMessage> answers = {};  ///< not looked at yet
    core::Clock::Steady due = {};  ///< when it is sent again
    bool is_taken = false;  ///< the broker may have received it
    std::string why = {};  ///< why it is not answered yet
    task::Latch news{0};  ///< what it waits for

    [[nodiscard]] bool may_repeat() const { return repeat == Repeat::kAlways || !is_taken; }
  };

  /// Waits for the answer.
  [[nodiscard]] task::Task<Answer> answer_to(PendingRequest* asked);
  [[nodiscard]] core::Result<void> send(PendingRequest& asked);
  void put_off(PendingRequest& asked, std::string why) const;
  /// Why the request is to be sent again although this came; empty: it is the answer.
  [[nodiscard]] std::string is_no_answer(const PendingRequest& asked,
                                         const BusMessage& message) const;

  const JetParts parts_;
  std::map<std::uint64_t, PendingRequest> asked_;
  std::uint64_t last_number_ = 0;
  bool is_ended_ = false;
};

/// Requests to JetStream for messages of consumers. Used on one executor only; outlives its tasks.
class JetFetches {
 public:
  explicit JetFetches(JetParts parts) : parts_(std::move(parts)) {}

  /// Calls `on_message` with what comes, and returns when the request has ended.
  [[nodiscard]] task::Task<core::Result<void>> fetch(FetchRequest wanted);
  /// A broker's status message in reply to a request.
  void on_status(std::uint64_t number, const BusMessage& message);
  /// Messages keep the subject of their stream; their reply subject says which consumer they belong
  /// to.
  void on_delivery(BusMessage message);
  /// The connection to the broker is lost, and all requests with it.
  void on_lost();
  /// Ends all open and later requests with kShuttingDown.
  void end();

 private:
  struct Fetch {
    FetchRequest wanted;
    std::optional<core::Result<void>> result = std::nullopt;  ///< once it has ended
    task::Latch ended{1};
  };

  /// The first result counts.
  static void finish(Fetch& fetch, core::Result<void> how);

  const JetParts parts_;
  std::map<std::uint64_t, Fetch> open_;
  std::uint64_t last_number_ = 0;
  bool is_ended_ = false;
};

}  // namespace league::transport::bus
