#include "bus/agent/nats_port.h"

#include "common/agent/runtime/log.h"

namespace league::agent::bus {

core::Result<void> NatsPort::serve_session(transport::link::MessageHandler& handler,
                                           const std::string& manager_url) {
  auto started = BusAgent::start(host_.bus(), context_.session, manager_url, handler,
                                 {context_.clock, context_.timer, context_.random});
  if (!started) return started.error();
  agent_ = std::move(*started);
  return {};
}

core::Result<void> NatsPort::hear_events(transport::link::MessageHandler& handler,
                                         const std::string& league_id,
                                         std::set<envelope::MessageType> types) {
  if (league_id.empty()) return {};
  std::lock_guard lock(events_mutex_);
  if (is_deaf_) return {};
  if (event_listener_ && event_listener_->league_id() == league_id) return {};
  event_listener_.reset();
  event_verifier_ = std::make_unique<EventVerifier>(handler, std::move(types));
  // The log is in front of the verifier, so that it also shows the events that are dropped.
  audited_events_ = std::make_unique<audit::calls::AuditedHandler>(*event_verifier_, context_.log,
                                                                   context_.clock);
  auto started = EventListener::start(host_.bus(), context_.session, league_id, *event_verifier_,
                                      *audited_events_, context_.clock);
  if (!started) return started.error();
  event_listener_ = std::move(*started);  // shared, because another thread may be inside release()
  return {};
}

void NatsPort::trust_events(const identity::Identity& identity) {
  std::shared_ptr<EventListener> listener;
  {
    std::lock_guard lock(events_mutex_);
    if (!event_listener_) return;
    event_verifier_->trust(identity);
    if (identity.broadcast_key.empty()) {
      listener.swap(event_listener_);
      return;
    }
    listener = event_listener_;
  }
  listener->release();
}

core::Result<void> NatsPort::serve_sessions(transport::link::MessageHandler& handler,
                                            transport::bus::BusSessionsOptions options) {
  options.first_bus = host_.first_bus();
  options.served_first = host_.served_first();
  auto started = transport::bus::BusSessions::start(
      host_.bus(), handler, context_.clock, context_.timer, context_.random, std::move(options));
  if (!started) return started.error();
  sessions_ = std::move(*started);
  return {};
}

void NatsPort::expect_session(const std::string& contact_endpoint) {
  auto endpoint = transport::link::parse_endpoint(contact_endpoint);
  if (!sessions_ || !endpoint || endpoint->scheme != "nats") return;
  auto session = transport::link::BusSession::parse(endpoint->path);
  if (!session) return;
  if (auto attached = sessions_->attach(*session); !attached)
    runtime::log::warn("{}: {}", contact_endpoint, attached.error().message);
}

transport::bus::JetStream* NatsPort::streams() {
  if (!host_.has_streams()) return nullptr;
  if (streams_) return streams_.get();
  auto made = transport::bus::JetStream::create(host_.streams_bus(), context_.session,
                                                context_.clock, context_.timer, context_.random);
  if (!made) {
    runtime::log::warn("streams of the bus: {}", made.error().message);
    return nullptr;
  }
  streams_ = std::move(*made);
  return streams_.get();
}

void NatsPort::begin_stop() {
  if (agent_) agent_->begin_stop();
  if (sessions_) sessions_->begin_stop();
}

void NatsPort::stop(const std::function<bool()>& is_first) {
  constexpr std::chrono::milliseconds kGrace{1000};
  constexpr std::chrono::milliseconds kLastNews{300};
  constexpr std::chrono::milliseconds kQuiet{20};
  constexpr std::chrono::milliseconds kNoTime{0};
  std::shared_ptr<EventListener> events;
  {
    std::lock_guard lock(events_mutex_);
    is_deaf_ = true;
    events = std::move(event_listener_);
  }
  // The message that ends the league may still be on its way. All agents of the process share one
  // connection, so only the first one has to wait for it.
  if (events) events->catch_up(kLastNews, is_first() ? kQuiet : kNoTime);
  events.reset();
  if (agent_) agent_->stop(kGrace);
  if (sessions_) sessions_->stop(kGrace);
}

void NatsPort::close() {
  agent_.reset();
  sessions_.reset();
  // The object is kept, because others may still use it: their requests fail with kShuttingDown.
  if (streams_) streams_->end();
}

}  // namespace league::agent::bus
