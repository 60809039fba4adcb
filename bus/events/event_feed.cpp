#include "bus/events/event_feed.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bus/transport/bus.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/envelope/event_types.h"
#include "common/transport/link/sse_writer.h"

namespace league::league_manager::bus {
namespace {

using core::Error;
using core::ErrorCode;

constexpr std::chrono::seconds kPatience{5};  // with the stream

std::string type_of_subject(const std::string& subject) {
  return subject.substr(subject.rfind('.') + 1);
}

}  // namespace

/// A session on the bus. A client that was away subscribes again and names the last event that it
/// got.
class EventFeed::SessionReader final : public EventReader {
 public:
  SessionReader(transport::bus::Bus& bus, transport::link::BusSession session)
      : bus_(bus), session_(std::move(session)) {}
  bool tell(const std::string& text, const std::string& id, std::string_view type) override {
    auto message = transport::bus::bus_message(transport::link::session_out(session_),
                                               transport::link::sse_event_text(text, id, type),
                                               session_, rpc::MessageDirection::kServerToClient);
    message.headers.emplace_back(transport::bus::kContentTypeHeader,
                                 transport::link::kEventStreamType);
    (void)bus_.publish(message);
    return true;
  }

 private:
  transport::bus::Bus& bus_;
  const transport::link::BusSession session_;
};

struct EventFeed::Reader {
  std::string session;  ///< empty: it reads over another transport
  std::shared_ptr<EventReader> told;
  std::set<std::string> types;
  std::uint64_t next = 0;  ///< of the stream
  std::string last_id = {};  ///< id of the event before `next`; empty: unknown
  bool is_gone = false;  ///< it is no longer subscribed
  bool is_behind = false;  ///< it is still being sent stored events
  bool has_news = false;  ///< an event was stored since the stream was last read
  bool begins_anew = false;  ///< its stream is lost, and it has not been notified yet

  [[nodiscard]] bool wants(const std::string& type) const {
    return types.empty() || types.contains(type);
  }
  /// Handles a published event; true if the reader is to be sent it at once. Can set `is_behind`.
  [[nodiscard]] bool take(const PublishedEvent& event, EventKept kept) {
    if (kept.sequence == 0) return wants(event.type);  // not stored, so it cannot be read later
    has_news = true;
    bool is_passed = kept.sequence < next;
    bool is_last = kept.sequence + 1 == next && !last_id.empty();
    if (is_passed && !(is_last && event.id == last_id)) {
      // The reader already knows another event with this number, so the stream is a new one. A
      // repetition can also be an older event of the same stream; reading the stream will show it.
      begins_anew = begins_anew || is_last || !kept.is_repetition;
      is_behind = true;
    }
    is_behind = is_behind || begins_anew;
    if (is_behind || is_passed) return false;
    next = kept.sequence + 1;
    last_id = event.id;
    return wants(event.type);
  }
  /// Handles a failed request to the stream: it is repeated while `is_behind`.
  void take_failure(const Error& error) {
    bool is_silent = error.code == ErrorCode::kConnectionError;
    // The stream does not exist, so the next stored event will be in a new one.
    begins_anew = begins_anew || !is_silent;
    is_behind = is_silent || has_news;
  }
};

EventFeed::EventFeed(transport::bus::Bus& bus, transport::bus::JetStream* streams,
                     std::string league_id, const core::Clock& clock)
    : bus_(bus),
      streams_(streams),
      league_id_(std::move(league_id)),
      clock_(clock),
      is_kept_(streams != nullptr),
      tasks_(task::Executor(), agent::runtime::failures_logged("pushing events")) {}

EventFeed::~EventFeed() { stop(); }

void EventFeed::stop() {
  tasks_.spawn(clear());
  tasks_.stop();
}

EventFeed::Task EventFeed::clear() {
  for (auto& reader : std::exchange(readers_, {})) reader->is_gone = true;
  co_return;
}

void EventFeed::subscribe(const transport::link::BusSession& session, EventFilter filter) {
  tasks_.spawn(
      add(session.str(), std::make_shared<SessionReader>(bus_, session), std::move(filter)));
}

core::Result<void> EventFeed::subscribe(std::shared_ptr<EventReader> reader, EventFilter filter) {
  {
    std::lock_guard lock(others_mutex_);
    std::erase_if(others_, [](const auto& one) {
      const auto other = one.lock();
      return !other || !other->is_open();
    });
    if (others_.size() >= kMostOtherReaders)
      return Error{ErrorCode::kOverloaded, "this manager has reached its limit of event listeners",
                   ""};
    others_.push_back(reader);
  }
  tasks_.spawn(add({}, std::move(reader), std::move(filter)));
  return {};
}

EventFeed::Task EventFeed::add(std::string session, std::shared_ptr<EventReader> told,
                               EventFilter filter) {
  std::erase_if(readers_, [&session](const auto& reader) {
    return reader->is_gone = session.empty() ? reader->session.empty() && !reader->told->is_open()
                                             : reader->session == session;
  });
  if (!session.empty()) make_room();
  auto reader = std::make_shared<Reader>(Reader{.session = std::move(session),
                                                .told = std::move(told),
                                                .types = std::move(filter.types),
                                                .next = filter.after ? *filter.after + 1 : 0,
                                                .is_behind = filter.after && streams_ != nullptr});
  readers_.push_back(reader);
  co_await catch_up(std::move(reader));
}

void EventFeed::make_room() {
  const auto is_session = [](const auto& reader) { return !reader->session.empty(); };
  const auto sessions = std::ranges::count_if(readers_, is_session);
  if (static_cast<std::size_t>(sessions) < kMostReaders) return;
  const auto oldest = std::ranges::find_if(readers_, is_session);
  (*oldest)->is_gone = true;
  readers_.erase(oldest);
}

void EventFeed::on_published(const PublishedEvent& event, EventKept kept) {
  is_kept_ = kept.sequence != 0;
  tasks_.spawn(push_all(event, kept));
}

EventFeed::Task EventFeed::push_all(PublishedEvent event, EventKept kept) {
  const auto all = readers_;  // pushing can remove one
  for (const auto& reader : all) {
    const bool was_behind = reader->is_behind;
    if (reader->take(event, kept)) push(*reader, *event.text, kept.sequence);
    if (reader->is_behind && !was_behind) tasks_.spawn(catch_up(reader));
  }
  co_return;
}

void EventFeed::push(Reader& reader, const std::string& text, std::uint64_t sequence) {
  if (reader.told->tell(text, sequence == 0 ? std::string() : std::to_string(sequence), "message"))
    return;
  reader.is_gone = true;
  std::erase_if(readers_, [](const auto& one) { return one->is_gone; });
}

EventFeed::Task EventFeed::catch_up(std::shared_ptr<Reader> reader) {
  while (reader->is_behind && !reader->is_gone) {
    reader->has_news = false;
    if (std::exchange(reader->begins_anew, false)) {
      const bool is_reset = reader->next > 1;
      reader->next = 1;
      reader->last_id.clear();
      // Sequence numbers start again in a new stream: the events that follow are no repetitions.
      if (is_reset) reader->told->tell("{}", "0", envelope::kEventsReset);
    }
    co_await read_next(reader);
  }
}

EventFeed::Task EventFeed::read_next(std::shared_ptr<Reader> reader) {
  const auto found = co_await streams_->get_next(transport::link::event_stream(league_id_),
                                                 transport::link::event_subjects(league_id_),
                                                 reader->next, clock_.steady_now() + kPatience);
  // The answer may come from the lost stream or from the new one: ask again.
  if (reader->is_gone || reader->begins_anew) co_return;
  if (!found) co_return reader->take_failure(found.error());
  if (*found) {
    const transport::bus::StoredMessage& stored = **found;
    reader->next = stored.sequence + 1;
    reader->last_id = transport::bus::bus_header(stored.message, "Nats-Msg-Id");
    if (reader->wants(type_of_subject(stored.message.subject)))
      push(*reader, stored.message.payload, stored.sequence);
  } else if (reader->next > 1 && !reader->has_news) {
    co_await look(reader);
  } else {
    // An event that was published during the request may be missing from the answer.
    reader->is_behind = reader->has_news;
  }
}

EventFeed::Task EventFeed::look(std::shared_ptr<Reader> reader) {
  const auto state = co_await streams_->stream_state(transport::link::event_stream(league_id_),
                                                     clock_.steady_now() + kPatience);
  if (!state) co_return reader->take_failure(state.error());
  if (state->last_sequence + 1 < reader->next) reader->begins_anew = true;
  reader->is_behind = reader->begins_anew || reader->has_news;
}

}  // namespace league::league_manager::bus
