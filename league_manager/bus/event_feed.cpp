#include "league_manager/bus/event_feed.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/envelope/event_types.h"
#include "common/transport/bus/bus_context.h"
#include "common/transport/link/sse_writer.h"

namespace league::league_manager::bus {
namespace {

using core::Error;
using core::ErrorCode;

constexpr std::chrono::seconds kPatience{5};  // with the stream
/// The names of readers that are sessions of the bus begin with this.
constexpr const char* kOfSessions = "session ";

std::string type_of_subject(const std::string& subject) {
  return subject.substr(subject.rfind('.') + 1);
}

}  // namespace

/// Shared with the callbacks of the streams.
class EventFeed::State : public std::enable_shared_from_this<State> {
 public:
  State(transport::bus::Bus& bus, transport::bus::JetStream* streams, std::string league_id,
        const core::Clock& clock)
      : bus_(bus), streams_(streams), league_id_(std::move(league_id)), clock_(clock) {}

  void subscribe(const transport::link::BusSession& session, EventFilter filter) {
    {
      std::lock_guard lock(mutex_);
      const std::string name = kOfSessions + session.str();
      if (!readers_.contains(name)) make_room();
    }
    add(kOfSessions + session.str(), std::make_shared<SessionReader>(bus_, session),
        std::move(filter));
  }
  core::Result<void> subscribe(std::shared_ptr<EventReader> reader, EventFilter filter) {
    std::string name;
    std::vector<std::shared_ptr<EventReader>> gone;  // destroyed without the lock
    {
      std::lock_guard lock(mutex_);
      std::size_t others = 0;
      for (auto place = readers_.begin(); place != readers_.end();) {
        bool is_other = !place->first.starts_with(kOfSessions);
        if (is_other && !place->second.told->is_open()) {
          gone.push_back(std::move(place->second.told));
          place = readers_.erase(place);
          continue;
        }
        others += is_other ? 1 : 0;
        ++place;
      }
      if (others >= kMostOtherReaders)
        return Error{ErrorCode::kOverloaded,
                     "this manager has reached its limit of event listeners", ""};
      name = "other " + std::to_string(++others_);
    }
    add(name, std::move(reader), std::move(filter));
    return {};
  }
  void on_published(const PublishedEvent& event, EventKept kept) {
    std::vector<std::pair<std::string, std::shared_ptr<EventReader>>> told;
    std::vector<std::pair<std::string, std::uint64_t>> behind;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      is_kept_ = kept.sequence != 0;
      for (auto& [name, reader] : readers_) {
        bool was_behind = reader.is_behind;
        if (reader.take(event, kept)) told.emplace_back(name, reader.told);
        if (reader.is_behind && !was_behind) behind.emplace_back(name, reader.generation);
      }
    }
    for (const auto& [name, reader] : told) push(name, *reader, *event.text, kept.sequence);
    for (const auto& [name, generation] : behind) catch_up(name, generation);
  }
  void stop() {
    std::map<std::string, Reader> ended;  // destroyed without the lock
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    ended.swap(readers_);
  }
  [[nodiscard]] bool is_kept() const {
    std::lock_guard lock(mutex_);
    return is_kept_;
  }

 private:
  /// A session on the bus. A client that was away subscribes again and names the last event that it
  /// got.
  class SessionReader final : public EventReader {
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
  struct Reader {
    std::shared_ptr<EventReader> told;
    std::set<std::string> types;
    std::uint64_t next = 0;  ///< of the stream
    std::string last_id = {};  ///< id of the event before `next`; empty: unknown
    std::uint64_t generation = 0;  ///< of its subscription; a later one has a higher number
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
        // repetition can also be an older event of the same stream; reading the stream will show
        // it.
        begins_anew = begins_anew || is_last || !kept.is_repetition;
        is_behind = true;
      }
      is_behind = is_behind || begins_anew;
      if (is_behind || is_passed) return false;
      next = kept.sequence + 1;
      last_id = event.id;
      return wants(event.type);
    }
    /// Handles a failed request to the stream; true if it is to be repeated.
    [[nodiscard]] bool take_failure(const Error& error) {
      bool is_silent = error.code == ErrorCode::kConnectionError;
      // The stream does not exist, so the next stored event will be in a new one.
      begins_anew = begins_anew || !is_silent;
      is_behind = is_silent || has_news;
      return is_behind;
    }
  };

  void add(const std::string& name, std::shared_ptr<EventReader> told, EventFilter filter) {
    std::uint64_t generation = 0;
    bool is_behind = filter.after && streams_ != nullptr;
    std::shared_ptr<EventReader> replaced;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      generation = ++generations_;
      auto& reader = readers_[name];
      replaced = std::move(reader.told);
      reader = {.told = std::move(told),
                .types = std::move(filter.types),
                .next = filter.after ? *filter.after + 1 : 0,
                .generation = generation,
                .is_behind = is_behind};
    }
    if (is_behind) catch_up(name, generation);
  }
  /// Needs the lock. Drops the oldest subscription of a bus session if there are too many.
  void make_room() {
    auto begin = readers_.lower_bound(kOfSessions);
    auto end = std::find_if(begin, readers_.end(),
                            [](const auto& one) { return !one.first.starts_with(kOfSessions); });
    if (static_cast<std::size_t>(std::distance(begin, end)) < kMostReaders) return;
    readers_.erase(std::min_element(begin, end, [](const auto& a, const auto& b) {
      return a.second.generation < b.second.generation;
    }));
  }
  /// Requests the stream's next message for the reader `name`.
  void catch_up(const std::string& name, std::uint64_t generation) {
    std::uint64_t next = 0;
    bool is_reset = false;
    std::shared_ptr<EventReader> told;
    {
      std::lock_guard lock(mutex_);
      auto place = readers_.find(name);
      if (place == readers_.end() || place->second.generation != generation) return;
      Reader& reader = place->second;
      told = reader.told;
      reader.has_news = false;
      if (std::exchange(reader.begins_anew, false)) {
        is_reset = reader.next > 1;
        reader.next = 1;
        reader.last_id.clear();
      }
      next = reader.next;
    }
    // Sequence numbers start again in a new stream: the events that follow are no repetitions.
    if (is_reset) told->tell("{}", "0", envelope::kEventsReset);
    streams_->get_next(transport::link::event_stream(league_id_),
                       transport::link::event_subjects(league_id_), next,
                       clock_.steady_now() + kPatience,
                       [weak = weak_from_this(), name, generation](const auto& found) {
                         if (auto self = weak.lock()) self->on_stored(name, generation, found);
                       });
  }
  void on_stored(const std::string& name, std::uint64_t generation,
                 const core::Result<std::optional<transport::bus::StoredMessage>>& found) {
    bool is_wanted = false;
    bool must_look = false;
    std::shared_ptr<EventReader> told;
    {
      std::lock_guard lock(mutex_);
      auto place = readers_.find(name);
      if (place == readers_.end() || place->second.generation != generation) return;
      Reader& reader = place->second;
      told = reader.told;
      if (reader.begins_anew) {
        // The answer may come from the lost stream or from the new one: ask again.
      } else if (!found) {
        if (!reader.take_failure(found.error())) return;
      } else if (!*found) {
        must_look = reader.next > 1 && !reader.has_news;
        // An event that was published during the request may be missing from the answer.
        reader.is_behind = reader.has_news || must_look;
        if (!reader.is_behind) return;
      } else {
        reader.next = (*found)->sequence + 1;
        reader.last_id = transport::bus::bus_header((*found)->message, "Nats-Msg-Id");
        is_wanted = reader.wants(type_of_subject((*found)->message.subject));
      }
    }
    if (must_look) return look(name, generation);
    if (is_wanted) push(name, *told, (*found)->message.payload, (*found)->sequence);
    catch_up(name, generation);
  }
  /// Checks whether the broker has lost the stream: a new one has lower sequence numbers.
  void look(const std::string& name, std::uint64_t generation) {
    streams_->stream_state(transport::link::event_stream(league_id_),
                           clock_.steady_now() + kPatience,
                           [weak = weak_from_this(), name, generation](const auto& state) {
                             if (auto self = weak.lock()) self->on_state(name, generation, state);
                           });
  }
  void on_state(const std::string& name, std::uint64_t generation,
                const core::Result<transport::bus::StreamState>& state) {
    {
      std::lock_guard lock(mutex_);
      auto place = readers_.find(name);
      if (place == readers_.end() || place->second.generation != generation) return;
      Reader& reader = place->second;
      if (!state) {
        if (!reader.take_failure(state.error())) return;
      } else {
        if (state->last_sequence + 1 < reader.next) reader.begins_anew = true;
        reader.is_behind = reader.begins_anew || reader.has_news;
        if (!reader.is_behind) return;
      }
    }
    catch_up(name, generation);
  }
  void push(const std::string& name, EventReader& reader, const std::string& text,
            std::uint64_t sequence) {
    if (reader.tell(text, sequence == 0 ? std::string() : std::to_string(sequence), "message"))
      return;
    std::lock_guard lock(mutex_);
    auto place = readers_.find(name);
    // This does not destroy the reader under the lock: the caller still holds it.
    if (place != readers_.end() && place->second.told.get() == &reader) readers_.erase(place);
  }

  transport::bus::Bus& bus_;
  transport::bus::JetStream* const streams_;
  const std::string league_id_;
  const core::Clock& clock_;
  mutable std::mutex mutex_;  // guards the rest, never held while others are called
  std::map<std::string, Reader> readers_;  ///< by name
  std::uint64_t generations_ = 0;
  std::uint64_t others_ = 0;  ///< number of readers so far that are not bus sessions; makes their
                              ///< names unique
  bool is_kept_ = streams_ != nullptr;  ///< whether the last event was stored, as far as is known
  bool is_stopped_ = false;
};

EventFeed::EventFeed(transport::bus::Bus& bus, transport::bus::JetStream* streams,
                     std::string league_id, const core::Clock& clock)
    : state_(std::make_shared<State>(bus, streams, std::move(league_id), clock)) {}

EventFeed::~EventFeed() { stop(); }

void EventFeed::subscribe(const transport::link::BusSession& session, EventFilter filter) {
  state_->subscribe(session, std::move(filter));
}
core::Result<void> EventFeed::subscribe(std::shared_ptr<EventReader> reader, EventFilter filter) {
  return state_->subscribe(std::move(reader), std::move(filter));
}
void EventFeed::on_published(const PublishedEvent& event, EventKept kept) {
  state_->on_published(event, kept);
}
void EventFeed::stop() { state_->stop(); }
bool EventFeed::is_kept() const { return state_->is_kept(); }

}  // namespace league::league_manager::bus
