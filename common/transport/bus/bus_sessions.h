#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/request_gate.h"
#include "common/transport/link/subject.h"

namespace league::transport {

struct BusSessionsOptions {
  std::string league_id;
  std::chrono::milliseconds keep_alive{5000};  ///< 0: none are sent, and nobody is watched
  std::size_t max_sessions = 20'000;
  /// Sessions that are served by a bus of their own, so that what others send holds nothing of
  /// theirs up. They are attached from the beginning and for ever. Null and empty: none are.
  Bus* first_bus = nullptr;
  std::set<BusSession> served_first = {};
  /// What every sender may cost: see BusListenerOptions. Who shows no credential is charged by
  /// session.
  std::shared_ptr<RequestGate> gate = nullptr;
  /// An agent that has sent keep-alives is silent for three times their interval, or is heard
  /// again. Time in which this side had no broker does not count. On a thread of the bus or the
  /// timer.
  std::function<void(const BusSession&)> on_gone = nullptr;
  std::function<void(const BusSession&)> on_back = nullptr;
};

/// The server's side of a league's sessions: answers `mcp.discovery`, serves the handler with what
/// the attached sessions send, and keeps them alive. Nothing of it survives a restart, since agents
/// attach again. Thread-safe. Source: the design for stateless sessions.
class BusSessions {
 public:
  /// All outlive it. Fails as Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<BusSessions>> start(
      Bus& bus, MessageHandler& handler, const core::Clock& clock, core::Timer& timer,
      core::RandomSource& random, BusSessionsOptions options);
  ~BusSessions();
  BusSessions(const BusSessions&) = delete;
  BusSessions& operator=(const BusSessions&) = delete;

  /// Listens to a session that is known from before, as if it had attached.
  core::Result<void> attach(const BusSession& session);
  [[nodiscard]] std::size_t size() const;
  /// Takes nothing more.
  void begin_stop();
  /// begin_stop, waits until everything was answered, at most for `grace`. Afterwards neither the
  /// handler nor a callback runs, unless it is the one that called.
  void stop(std::chrono::milliseconds grace);

 private:
  class State;
  explicit BusSessions(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace league::transport
