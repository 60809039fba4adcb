#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/agent/bus/event_verifier.h"
#include "common/core/clock.h"
#include "common/transport/bus/bus.h"
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
  /// After the destructor the handler does not run, unless the handler itself called the
  /// destructor.
  ~EventListener();
  EventListener(const EventListener&) = delete;
  EventListener& operator=(const EventListener&) = delete;

  [[nodiscard]] const std::string& league_id() const;
  /// Delivers the kept messages, and from then on each message as it arrives.
  void release();
  /// Waits until everything that the broker has sent so far is handled and nothing has arrived for
  /// `quiet`, but at most for `patience`. Must not be called on a thread of the bus.
  void catch_up(std::chrono::milliseconds patience, std::chrono::milliseconds quiet);

 private:
  class State;
  explicit EventListener(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace league::agent::bus
