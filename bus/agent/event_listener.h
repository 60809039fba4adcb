#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "bus/agent/event_verifier.h"
#include "bus/transport/bus.h"
#include "common/core/clock.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/subject.h"

namespace league::agent::bus {

/// Receives the events that a league publishes to everybody on a bus (`mcp.events.LEAGUE.TYPE`) and
/// passes them to a handler one at a time, in order. Events that are published while the connection
/// is lost are missed: they are best effort. Thread-safe. Source: the design for stateless
/// sessions.
class EventListener {
 public:
  /// Subscribes, and keeps what arrives until `release`, up to a few hundred messages, so that
  /// nothing is missed between a registration and its answer. All references must outlive the
  /// object. `verifier` says which types are wanted; all others are dropped before they reach
  /// `handler`. Fails as Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<EventListener>> start(
      transport::bus::Bus& bus, const transport::link::BusSession& session,
      const std::string& league_id, const EventVerifier& verifier,
      transport::link::MessageHandler& handler, const core::Clock& clock);
  /// Afterwards the handler does not run; it must not be the one that destroys this.
  ~EventListener() = default;
  EventListener(const EventListener&) = delete;
  EventListener& operator=(const EventListener&) = delete;

  [[nodiscard]] const std::string& league_id() const { return league_id_; }
  /// Delivers the kept messages, and from then on each message as it arrives.
  void release();
  /// Waits until everything that the broker has sent so far is handled and nothing has arrived for
  /// `quiet`, but at most for `patience`. Must not be called on a thread of the bus.
  void catch_up(std::chrono::milliseconds patience, std::chrono::milliseconds quiet);

 private:
  EventListener(transport::bus::Bus& bus, const transport::link::BusSession& session,
                std::string league_id, const EventVerifier& verifier,
                transport::link::MessageHandler& handler, const core::Clock& clock);
  void on_event(transport::bus::BusMessage message);
  void handle_kept();
  void hand_over(transport::bus::BusMessage message);

  transport::bus::Bus& bus_;
  const transport::link::BusSession session_;
  const std::string league_id_;
  const EventVerifier& verifier_;
  transport::link::MessageHandler& handler_;
  const core::Clock& clock_;
  const std::shared_ptr<const rpc::ConnectionInfo> connection_;
  std::mutex mutex_;  // guards the next five, never held while others are called
  std::condition_variable changed_;
  std::deque<transport::bus::BusMessage> kept_;
  bool is_handling_ = false;  ///< a thread delivers events
  bool is_released_ = false;
  std::uint64_t heard_ = 0;
  std::unique_ptr<transport::bus::Bus::Subscription> subscription_;  // last: it uses the others
};

}  // namespace league::agent::bus
