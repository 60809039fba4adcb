#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "common/agent/identity/registration.h"
#include "common/envelope/message_type.h"
#include "common/transport/link/message_handler.h"

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

}  // namespace league::agent::bus
