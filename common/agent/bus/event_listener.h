#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/agent/bus/event_verifier.h"
#include "common/core/clock.h"
#include "common/transport/bus/bus.h"
#include "common/transport/link/subject.h"

namespace league::agent {

/// Hears what a league tells everybody on a bus (`mcp.events.LEAGUE.TYPE`) and hands it to a
/// handler, one message after the other and in order. What is published while the connection is
/// lost is not heard: such news are best effort. Thread-safe. Source: the design for stateless
/// sessions.
class EventListener {
 public:
  /// Begins to listen, and keeps what comes until `release`, some hundred messages at most: so
  /// nothing is missed between a registration and its answer. All outlive it. `verifier` says which
  /// types are wanted; what is not goes nowhere, not even to `handler`. Fails as Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<EventListener>> start(
      transport::Bus& bus, const transport::BusSession& session, const std::string& league_id,
      const EventVerifier& verifier, transport::MessageHandler& handler, const core::Clock& clock);
  /// Afterwards the handler does not run, unless it is the one that calls.
  ~EventListener();
  EventListener(const EventListener&) = delete;
  EventListener& operator=(const EventListener&) = delete;

  [[nodiscard]] const std::string& league_id() const;
  /// Hands over what was kept, and from now on what comes.
  void release();
  /// Waits until what the broker has sent so far is handled, and nothing has come for `quiet`, at
  /// most for `patience`. Not on a thread of the bus.
  void catch_up(std::chrono::milliseconds patience, std::chrono::milliseconds quiet);

 private:
  class State;
  explicit EventListener(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace league::agent
