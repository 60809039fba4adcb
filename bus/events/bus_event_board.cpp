#include "bus/events/bus_event_board.h"

#include <utility>

#include "bus/transport/bus.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/agent/runtime/log.h"
#include "common/rpc/transport_context.h"

namespace league::league_manager::bus {
namespace {

// Time limit for finding the stream at first: meanwhile events wait, and so do players for the
// announcement of their round.
constexpr std::chrono::milliseconds kQuickSearch{300};
constexpr std::chrono::seconds kElection{15};  // the same in a cluster, which elects a broker for
                                               // the stream
constexpr std::chrono::seconds kSearch{5};  // later searches, during which events are not held back
constexpr std::chrono::seconds kBetweenSearches{15};
constexpr std::chrono::seconds kAnswer{5};  // for the broker to confirm one event
constexpr int kMostTries = 3;
constexpr std::chrono::milliseconds kEventsKept = std::chrono::hours(24 * 30);
/// How long the broker recognises duplicates: an event whose confirmation was lost is published
/// again when the broker or the manager is back.
constexpr std::chrono::milliseconds kRemembered = std::chrono::hours(24);

transport::bus::StreamConfig event_stream_config(const BusEventBoardDependencies& wanted) {
  transport::bus::StreamConfig config;
  config.name = transport::link::event_stream(wanted.league_id);
  config.subjects = {transport::link::event_subjects(wanted.league_id)};
  config.max_age = kEventsKept;
  config.duplicate_window = kRemembered;
  config.replicas = wanted.replicas;
  config.max_bytes = wanted.max_bytes;
  return config;
}

}  // namespace

BusEventBoard::BusEventBoard(BusEventBoardDependencies dependencies)
    : deps_(std::move(dependencies)),
      keeping_(deps_.streams != nullptr ? Keeping::kUnknown : Keeping::kNobody),
      tasks_(task::Executor(), agent::runtime::failures_logged("publishing events")) {
  look();
  watch_ = deps_.bus.watch([this](bool is_connected) {
    if (is_connected) tasks_.spawn(reconnect());
  });
}

BusEventBoard::~BusEventBoard() { stop(); }

void BusEventBoard::stop() {
  watch_ = nullptr;
  tasks_.stop();
}

void BusEventBoard::publish(PublishedEvent event, std::function<void()> done) {
  tasks_.spawn(add({std::move(event), std::move(done)}));
}

BusEventBoard::Task BusEventBoard::add(Waiting event) {
  waiting_.push_back(std::move(event));
  if (waiting_.size() == 1) co_await serve();
}

BusEventBoard::Task BusEventBoard::serve() {
  while (!waiting_.empty()) {
    const EventKept kept = co_await send(waiting_.front().event);
    if (deps_.on_published) deps_.on_published(waiting_.front().event, kept);
    if (waiting_.front().done) waiting_.front().done();
    waiting_.pop_front();
  }
}

task::Task<EventKept> BusEventBoard::send(PublishedEvent event) {
  co_await readiness();
  log(event);
  for (int failed = 0; keeping_ == Keeping::kStream;) {
    transport::bus::PublishCondition once{.message_id = event.id};
    const auto ack = co_await deps_.streams->publish(message_of(event), std::move(once),
                                                     deps_.clock.steady_now() + kAnswer);
    using Status = transport::bus::PublishAck::Status;
    if (ack.status == Status::kStored) {
      is_full_said_ = false;
      co_return EventKept{ack.sequence, ack.is_duplicate};
    }
    if (ack.status == Status::kFull) {
      // Subscribers have received the event anyway, so the league does not wait for room.
      if (!std::exchange(is_full_said_, true))
        agent::runtime::log::warn(
            "the broker has no room for the league's events, so nobody can read them later: {}",
            ack.why.message);
      co_return EventKept{};
    }
    // A lost connection does not count as a failed attempt.
    if (deps_.bus.is_connected() && ++failed == kMostTries) {
      agent::runtime::log::warn("the broker did not store an event of the league: {}",
                                ack.why.message);
      co_return EventKept{};
    }
    if (!is_searching_) keeping_ = Keeping::kUnknown;
    co_await readiness();
  }
  co_return hand_over(event);
}

EventKept BusEventBoard::hand_over(const PublishedEvent& event) {
  auto message = message_of(event);
  // If there is a stream after all, this id makes it store the event only once.
  message.headers.emplace_back("Nats-Msg-Id", event.id);
  if (auto sent = deps_.bus.publish(message); !sent)
    agent::runtime::log::warn("{} could not be published: {}", event.message_type,
                              sent.error().message);
  return {};
}

BusEventBoard::Task BusEventBoard::readiness() {
  look();
  while (keeping_ == Keeping::kUnknown || !deps_.bus.is_connected())
    co_await task::called_back<bool>([this](auto wake) { wake_ = std::move(wake); });
}

void BusEventBoard::wake() {
  if (const auto wake = std::exchange(wake_, nullptr)) wake(true);
}

BusEventBoard::Task BusEventBoard::reconnect() {
  if (is_searching_)
    must_search_again_ = true;
  else if (deps_.streams != nullptr)
    keeping_ = Keeping::kUnknown;
  look();
  wake();
  co_return;
}

bool BusEventBoard::is_search_due() const {
  if (deps_.streams == nullptr) return false;
  return keeping_ == Keeping::kUnknown ||
         (keeping_ == Keeping::kNobody && deps_.clock.steady_now() >= search_again_);
}

void BusEventBoard::look() {
  if (is_search_due() && !std::exchange(is_searching_, true)) tasks_.spawn(search());
}

BusEventBoard::Task BusEventBoard::search() {
  while (is_search_due()) {
    const bool is_quick = keeping_ == Keeping::kUnknown;
    const std::chrono::milliseconds quick = deps_.replicas > 1 ? kElection : kQuickSearch;
    const auto found = co_await deps_.streams->ensure_stream(
        event_stream_config(deps_), deps_.clock.steady_now() + (is_quick ? quick : kSearch));
    search_again_ = deps_.clock.steady_now();
    if (!is_quick) search_again_ += kBetweenSearches;
    const bool is_late = std::exchange(must_search_again_, false);
    keeping_ = found ? Keeping::kStream : is_late ? Keeping::kUnknown : Keeping::kNobody;
    // No warning while the broker is disconnected: the watch of the bus reports that.
    if (!found && !is_quick && deps_.bus.is_connected() && !std::exchange(is_said_, true))
      agent::runtime::log::warn(
          "the broker stores no events of the league, so nobody can read them later: {}",
          found.error().message);
    wake();
  }
  is_searching_ = false;
}

transport::bus::BusMessage BusEventBoard::message_of(const PublishedEvent& event) const {
  return transport::bus::bus_message(transport::link::event_subject(deps_.league_id, event.type),
                                     *event.text, deps_.session,
                                     rpc::MessageDirection::kServerToClient, event.conversation_id);
}

void BusEventBoard::log(const PublishedEvent& event) const {
  audit::record::Record record;
  record.direction = audit::record::Direction::kOut;
  record.kind = audit::record::Kind::kRequest;
  record.call = deps_.log.next_call();
  record.time = deps_.clock.utc_now();
  record.mono = deps_.clock.steady_now();
  record.context = rpc::TransportContext::nats(
      {transport::link::event_subject(deps_.league_id, event.type), "", ""});
  record.notes.peer = "everybody";
  record.notes.message_type = event.message_type;
  record.notes.conversation_id = event.conversation_id;
  record.body = event.text;
  deps_.log.append(std::move(record));
}

}  // namespace league::league_manager::bus
