#include "bus/agent/event_verifier.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/agent/bus/event_signature.h"
#include "common/agent/runtime/log.h"
#include "common/core/text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::agent::bus {

using core::Error;
using core::ErrorCode;

void EventVerifier::trust(const identity::Identity& identity) {
  std::lock_guard lock(mutex_);
  trust_ = TrustedManager{identity.broadcast_key, identity.token};
}

bool EventVerifier::is_wanted(std::string_view event_type) const {
  auto type = envelope::message_type_from_wire(core::upper_case(event_type));
  return type && types_.contains(*type);
}

void EventVerifier::on_message(transport::link::Inbound message, transport::link::ReplySlot reply) {
  auto admitted = admit(message);
  if (!admitted) {
    message.notes->verdict = admitted.error().code;
    message.notes->fault = admitted.error().message;
    runtime::log::warn("an event of the league was dropped: {}", admitted.error().message);
    transport::link::OutboundReply nothing;
    nothing.http_status = 202;
    return reply.send(std::move(nothing));
  }
  message.bytes = std::move(*admitted);
  handler_.on_message(std::move(message), std::move(reply));
}

core::Result<std::string> EventVerifier::admit(const transport::link::Inbound& message) {
  std::optional<TrustedManager> trust;
  {
    std::lock_guard lock(mutex_);
    trust = trust_;
  }
  if (!trust || trust->key.empty())
    return Error{ErrorCode::kAuthTokenInvalid, "the manager's signature key is not known yet",
                 "/signature"};
  auto event = schema::parse_json(message.bytes);
  if (!event) return event.error();
  const nlohmann::json& params = schema::field_at(*event, "params");
  if (!params.is_object())
    return Error{ErrorCode::kMalformedMessage, "it contains no league message", "/params"};
  message.notes->message_type = schema::text_at(params, "message_type");
  message.notes->conversation_id = schema::text_at(params, "conversation_id");
  auto signature = schema::text_at(params, "signature");
  if (auto good = check_event_signature(message.bytes, signature, trust->key); !good)
    return good.error();
  message.notes->said_by = "league_manager";
  auto type = envelope::message_type_from_wire(message.notes->message_type);
  if (!type || !types_.contains(*type))
    return Error{ErrorCode::kUnexpectedMessage, "this agent does not listen to such messages",
                 "/message_type"};
  if (auto term = schema::number_at(params, "term")) {
    if (auto current = check_term(*term); !current) return current.error();
  }
  auto text = with_token_for_signature(message.bytes, signature, trust->token.reveal());
  if (!text)
    return Error{ErrorCode::kMalformedMessage,
                 "its signature field is not in the form that the manager writes", ""};
  return std::move(*text);
}

core::Result<void> EventVerifier::check_term(std::int64_t term) {
  std::lock_guard lock(mutex_);
  if (term < highest_term_) {
    return Error{ErrorCode::kNotAuthorized,
                 "it comes from a manager that another has replaced (term " + std::to_string(term) +
                     " after " + std::to_string(highest_term_) + ")",
                 "/term"};
  }
  highest_term_ = term;
  return {};
}

}  // namespace league::agent::bus
