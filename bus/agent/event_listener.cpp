#include "bus/agent/event_listener.h"

#include <utility>

#include "bus/transport/bus_context.h"

namespace league::agent::bus {
namespace {

constexpr std::size_t kMostKept = 512;

}  // namespace

core::Result<std::unique_ptr<EventListener>> EventListener::start(
    transport::bus::Bus& bus, const transport::link::BusSession& session,
    const std::string& league_id, const EventVerifier& verifier,
    transport::link::MessageHandler& handler, const core::Clock& clock) {
  std::unique_ptr<EventListener> listener(
      new EventListener(bus, session, league_id, verifier, handler, clock));
  auto subscribed = bus.subscribe(transport::link::event_subjects(league_id), "",
                                  [events = listener.get()](transport::bus::BusMessage message) {
                                    events->on_event(std::move(message));
                                  });
  if (!subscribed) return subscribed.error();
  listener->subscription_ = std::move(*subscribed);
  return listener;
}

EventListener::EventListener(transport::bus::Bus& bus, const transport::link::BusSession& session,
                             std::string league_id, const EventVerifier& verifier,
                             transport::link::MessageHandler& handler, const core::Clock& clock)
    : bus_(bus),
      session_(session),
      league_id_(std::move(league_id)),
      verifier_(verifier),
      handler_(handler),
      clock_(clock),
      connection_(transport::bus::bus_connection_info(bus, session)) {}

void EventListener::release() {
  {
    std::lock_guard lock(mutex_);
    is_released_ = true;
  }
  handle_kept();
}

void EventListener::catch_up(std::chrono::milliseconds patience, std::chrono::milliseconds quiet) {
  const auto end = std::chrono::steady_clock::now() + patience;
  if (!bus_.flush(patience)) return;
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
      message, session_, rpc::MessageDirection::kServerToClient, connection_, clock_);
  inbound.bytes = std::move(message.payload);
  handler_.on_message(std::move(inbound),
                      transport::link::ReplySlot([](const transport::link::OutboundReply& reply) {
                        if (reply.after_sent) reply.after_sent();
                      }));
}

}  // namespace league::agent::bus
