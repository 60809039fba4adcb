#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"
#include "common/transport/bus/handler_gate.h"

namespace league::transport::bus {

/// Runs completions one at a time, and none once it is closed.
using JetGate = HandlerGate<std::function<void()>>;

[[nodiscard]] inline core::Error jet_stopping() {
  return {core::ErrorCode::kShuttingDown, "this program is stopping", {}};
}

/// Shared by all requests to JetStream. Everything in it but the gate outlives its users.
struct JetParts {
  Bus& bus;
  const core::Clock& clock;
  core::Timer& timer;
  std::shared_ptr<JetGate> gate;
  std::string inbox;  ///< ends in a dot
};

/// Requests to JetStream with one answer each, repeated until the answer comes or the deadline has
/// passed. Thread-safe; completions run within the gate.
class JetRequests : public std::enable_shared_from_this<JetRequests> {
 public:
  /// kConnectionError: not answered in time.
  using Answered = std::function<void(core::Result<BusMessage>)>;
  /// Whether a request may be sent again although it may have been carried out.
  enum class Repeat : std::uint8_t { kAlways, kUnlessTaken };

  explicit JetRequests(JetParts parts) : parts_(std::move(parts)) {}

  void ask(BusMessage request, core::Clock::Steady deadline, Repeat repeat, Answered answered);
  /// An answer to the request of that number.
  void on_answer(std::uint64_t number, BusMessage message);
  /// The connection is restored: the broker may never have seen the pending requests.
  void ask_all_again();
  /// After the gate is closed: fails all pending and later requests with kShuttingDown.
  void end();

 private:
  struct PendingRequest {
    BusMessage request;
    core::Clock::Steady deadline;
    Repeat repeat = Repeat::kAlways;
    Answered answered;
    core::Timer::Id due = 0;
    bool is_taken = false;  ///< the broker may have received it
    std::string why;  ///< why it is not answered yet
  };

  void send(std::uint64_t number);
  void on_due(std::uint64_t number);
  void ask_later(std::uint64_t number, const std::string& why);
  [[nodiscard]] std::string subject_of(std::uint64_t number);
  void finish(std::uint64_t number, const core::Result<BusMessage>& answer);
  void wait(std::uint64_t number, PendingRequest& asked, core::Clock::Steady::duration longest);

  const JetParts parts_;
  std::mutex mutex_;
  std::map<std::uint64_t, PendingRequest> asked_;
  std::uint64_t last_number_ = 0;
  bool is_ended_ = false;
};

}  // namespace league::transport::bus
