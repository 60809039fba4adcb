#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "common/agent/identity/registration.h"
#include "common/envelope/message_type.h"
#include "common/transport/link/message_handler.h"

namespace league::agent {

/// Where what the league publishes for everybody enters an agent: lets through what the manager has
/// signed, as if it had come by a call with the agent's own token, so that there is one admission.
/// Everything else is dropped, with the reason in its notes and on stderr: a wrong signature, and
/// what a manager says that another has followed (a lower `term` than was heard before). Answers
/// nothing. Thread-safe. Source: protocol §8.
class EventVerifier final : public transport::MessageHandler {
 public:
  /// `handler` outlives it. `types` are those that the agent wants to hear of.
  EventVerifier(transport::MessageHandler& handler, std::set<envelope::MessageType> types)
      : handler_(handler), types_(std::move(types)) {}

  /// Whom the agent is and whose signature it believes; nothing passes before.
  void trust(const Identity& identity);
  [[nodiscard]] bool is_wanted(std::string_view event_type) const;

  void on_message(transport::Inbound message, transport::ReplySlot reply) override;

 private:
  struct TrustedManager {
    std::string key;
    core::AuthToken token;
  };
  /// The payload as its handler wants it, or why it is dropped.
  core::Result<std::string> admit(const transport::Inbound& message);
  core::Result<void> check_term(std::int64_t term);

  transport::MessageHandler& handler_;
  const std::set<envelope::MessageType> types_;
  std::mutex mutex_;  // guards the rest, never held while others are called
  std::optional<TrustedManager> trust_;
  std::int64_t highest_term_ = 0;
};

}  // namespace league::agent
