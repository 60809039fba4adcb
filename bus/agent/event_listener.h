#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "bus/transport/bus.h"
#include "common/agent/identity/registration.h"
#include "common/core/clock.h"
#include "common/envelope/message_type.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/subject.h"

namespace league::agent::bus {

/// The entry point of an agent for events that the league publishes to everybody. Passes on what
/// the manager has signed as if it had come in a call with the agent's own token, so that one
/// admission serves both. Drops everything else, with the reason in the message's notes and in the
/// operations log: wrong signatures, unwanted types, and messages of a manager that has been
/// replaced (a lower `term` than one seen before). Sends no answers. Thread-safe. Source: protocol
/// §10.
class EventVerifier final : public transport::link::MessageHandler {
 public:
  /// `handler` must outlive it. `types` are the message types that the agent wants.
  EventVerifier(transport::link::MessageHandler& handler, std::set<envelope::MessageType> types)
      : handler_(handler), types_(std::move(types)) {}

  /// Sets the agent's own token and the manager's key; before this call every event is dropped.
  void trust(const identity::Identity& identity);
  [[nodiscard]] bool is_wanted(std::string_view event_type) const;

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;

 private:
  struct TrustedManager {
    std::string key;
    core::AuthToken token;
  };
  /// The payload as the handler expects it, or the reason for dropping it.
  core::Result<std::string> admit(const transport::link::Inbound& message);
  core::Result<void> check_term(std::int64_t term);

  transport::link::MessageHandler& handler_;
  const std::set<envelope::MessageType> types_;
  std::mutex mutex_;  // guards the rest, never held while others are called
  std::optional<TrustedManager> trust_;
  std::int64_t highest_term_ = 0;
};

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
      transport::bus::SessionOnBus on, const std::string& league_id, const EventVerifier& verifier,
      transport::link::MessageHandler& handler);
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
  EventListener(transport::bus::SessionOnBus on, std::string league_id,
                const EventVerifier& verifier, transport::link::MessageHandler& handler)
      : on_(std::move(on)),
        league_id_(std::move(league_id)),
        verifier_(verifier),
        handler_(handler),
        connection_(transport::bus::bus_connection_info(on_.bus, on_.session)) {}
  void on_event(transport::bus::BusMessage message);
  void handle_kept();
  void hand_over(transport::bus::BusMessage message);

  const transport::bus::SessionOnBus on_;
  const std::string league_id_;
  const EventVerifier& verifier_;
  transport::link::MessageHandler& handler_;
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
