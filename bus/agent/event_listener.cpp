#include "bus/agent/event_listener.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bus/transport/bus.h"
#include "common/agent/bus/event_signature.h"
#include "common/agent/runtime/log.h"
#include "common/core/text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::agent::bus {
namespace {

constexpr std::size_t kMostKept = 512;

}  // namespace

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

core::Result<std::unique_ptr<EventListener>> EventListener::start(
    transport::bus::SessionOnBus on, const std::string& league_id, const EventVerifier& verifier,
    transport::link::MessageHandler& handler) {
  std::unique_ptr<EventListener> listener(
      new EventListener(std::move(on), league_id, verifier, handler));
  auto subscribed =
      listener->on_.bus.subscribe(transport::link::event_subjects(league_id), "",
                                  [events = listener.get()](transport::bus::BusMessage message) {
                                    events->on_event(std::move(message));
                                  });
  if (!subscribed) return subscribed.error();
  listener->subscription_ = std::move(*subscribed);
  return listener;
}

void EventListener::release() {
  {
    std::lock_guard lock(mutex_);
    is_released_ = true;
  }
  handle_kept();
}

void EventListener::catch_up(std::chrono::milliseconds patience, std::chrono::milliseconds quiet) {
  const auto end = std::chrono::steady_clock::now() + patience;
  if (!on_.bus.flush(patience)) return;
  // Events may still be on their way to our handler; after a quiet period we assume there are none.
  std::unique_lock lock(mutex_);
  auto is_idle = [this] { return !is_handling_ && kept_.empty(); };
  for (auto seen = heard_; is_released_; seen = heard_) {
    bool has_more = changed_.wait_for(lock, quiet, [&] { return heard_ != seen; });
    if (!changed_.wait_until(lock, end, is_idle) || !has_more) return;
  }
}

void EventListener::on_event(transport::bus::BusMessage message) {
  auto type = std::string_view(message.subject).substr(message.subject.rfind('.') + 1);
  if (!verifier_.is_wanted(type)) return;
  {
    std::lock_guard lock(mutex_);
    if (kept_.size() >= kMostKept) return;
    kept_.push_back(std::move(message));
    ++heard_;
    changed_.notify_all();
  }
  handle_kept();
}

/// One thread at a time delivers the events, in order; other threads only add to the queue.
void EventListener::handle_kept() {
  std::unique_lock lock(mutex_);
  if (!is_released_ || is_handling_) return;
  is_handling_ = true;
  while (!kept_.empty()) {
    auto message = std::move(kept_.front());
    kept_.pop_front();
    lock.unlock();
    hand_over(std::move(message));
    lock.lock();
  }
  is_handling_ = false;
  changed_.notify_all();
}

void EventListener::hand_over(transport::bus::BusMessage message) {
  // The reply subject is only for the broker's acknowledgements, and no answer is sent there.
  message.reply.clear();
  transport::link::Inbound inbound;
  inbound.context = transport::bus::bus_context(
      message, on_.session, rpc::MessageDirection::kServerToClient, connection_, on_.clock);
  inbound.bytes = std::move(message.payload);
  handler_.on_message(std::move(inbound),
                      transport::link::ReplySlot([](const transport::link::OutboundReply& reply) {
                        if (reply.after_sent) reply.after_sent();
                      }));
}

}  // namespace league::agent::bus
