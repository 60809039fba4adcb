#include "league_manager/event_feed.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/envelope/event_types.h"
#include "common/transport/bus/bus_context.h"
#include "common/transport/stream/sse_writer.h"

namespace league::league_manager {
namespace {

using core::Error;
using core::ErrorCode;

constexpr std::chrono::seconds kPatience{5};  // with the stream
constexpr std::size_t kMostTypes = 16;

std::string type_of_subject(const std::string& subject) {
  return subject.substr(subject.rfind('.') + 1);
}

}  // namespace

/// Shared with the streams.
class EventFeed::State : public std::enable_shared_from_this<State> {
 public:
  State(transport::Bus& bus, transport::JetStream* streams, std::string league_id,
        const core::Clock& clock)
      : bus_(bus), streams_(streams), league_id_(std::move(league_id)), clock_(clock) {}

  void subscribe(const transport::BusSession& session, EventWish wish) {
    std::uint64_t generation = 0;
    bool is_behind = wish.after && streams_ != nullptr;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      if (!readers_.contains(session)) make_room();
      generation = ++generations_;
      readers_[session] = {.types = std::move(wish.types),
                           .next = wish.after ? *wish.after + 1 : 0,
                           .generation = generation,
                           .is_behind = is_behind};
    }
    if (is_behind) catch_up(session, generation);
  }
  void on_published(const PublishedEvent& event, EventKept kept) {
    std::vector<transport::BusSession> told;
    std::vector<std::pair<transport::BusSession, std::uint64_t>> behind;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      is_kept_ = kept.sequence != 0;
      for (auto& [session, reader] : readers_) {
        bool was_behind = reader.is_behind;
        if (reader.take(event, kept)) told.push_back(session);
        if (reader.is_behind && !was_behind) behind.emplace_back(session, reader.generation);
      }
    }
    for (const auto& session : told) push(session, *event.text, kept.sequence);
    for (const auto& [session, generation] : behind) catch_up(session, generation);
  }
  void stop() {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    readers_.clear();
  }
  [[nodiscard]] bool is_kept() const {
    std::lock_guard lock(mutex_);
    return is_kept_;
  }

 private:
  struct Reader {
    std::set<std::string> types;
    std::uint64_t next = 0;  ///< of the stream
    std::string last_id = {};  ///< of the event before that, where it is known
    std::uint64_t generation = 0;  ///< of its wish
    bool is_behind = false;  ///< it is still told of what was
    bool has_news = false;  ///< something was kept since the stream was last looked at
    bool begins_anew = false;  ///< its stream is lost, and it has not been told yet

    [[nodiscard]] bool wants(const std::string& type) const {
      return types.empty() || types.contains(type);
    }
    /// An event was published; true where it is to be told at once. May leave the reader behind.
    [[nodiscard]] bool take(const PublishedEvent& event, EventKept kept) {
      if (kept.sequence == 0) return wants(event.type);  // nobody would find it in the stream
      has_news = true;
      bool is_passed = kept.sequence < next;
      bool is_last = kept.sequence + 1 == next && !last_id.empty();
      if (is_passed && !(is_last && event.id == last_id)) {
        // This is the newest there is, under a number that the reader knows of another event: of
        // another stream. A repetition may be an older one of the same: the stream will tell.
        begins_anew = begins_anew || is_last || !kept.is_repetition;
        is_behind = true;
      }
      is_behind = is_behind || begins_anew;
      if (is_behind || is_passed) return false;
      next = kept.sequence + 1;
      last_id = event.id;
      return wants(event.type);
    }
    /// The stream did not say what it was asked; true where it is to be asked again.
    [[nodiscard]] bool take_failure(const Error& error) {
      bool is_silent = error.code == ErrorCode::kConnectionError;
      // Where there is no stream, what is kept next is in another one.
      begins_anew = begins_anew || !is_silent;
      is_behind = is_silent || has_news;
      return is_behind;
    }
  };

  void make_room() {
    if (readers_.size() < kMostReaders) return;
    readers_.erase(std::min_element(
        readers_.begin(), readers_.end(),
        [](const auto& a, const auto& b) { return a.second.generation < b.second.generation; }));
  }
  /// Reads the next message of the stream for that reader.
  void catch_up(const transport::BusSession& session, std::uint64_t generation) {
    std::uint64_t next = 0;
    bool is_reset = false;
    {
      std::lock_guard lock(mutex_);
      auto place = readers_.find(session);
      if (place == readers_.end() || place->second.generation != generation) return;
      Reader& reader = place->second;
      reader.has_news = false;
      if (std::exchange(reader.begins_anew, false)) {
        is_reset = reader.next > 1;
        reader.next = 1;
        reader.last_id.clear();
      }
      next = reader.next;
    }
    if (is_reset) push_reset(session);
    streams_->get_next(transport::event_stream(league_id_), transport::event_subjects(league_id_),
                       next, clock_.steady_now() + kPatience,
                       [weak = weak_from_this(), session, generation](const auto& found) {
                         if (auto self = weak.lock()) self->on_stored(session, generation, found);
                       });
  }
  void on_stored(const transport::BusSession& session, std::uint64_t generation,
                 const core::Result<std::optional<transport::StoredMessage>>& found) {
    bool is_wanted = false;
    bool must_look = false;
    {
      std::lock_guard lock(mutex_);
      auto place = readers_.find(session);
      if (place == readers_.end() || place->second.generation != generation) return;
      Reader& reader = place->second;
      if (reader.begins_anew) {
        // The answer may be either stream's.
      } else if (!found) {
        if (!reader.take_failure(found.error())) return;
      } else if (!*found) {
        must_look = reader.next > 1 && !reader.has_news;
        // What was published while the stream was asked may be behind its answer.
        reader.is_behind = reader.has_news || must_look;
        if (!reader.is_behind) return;
      } else {
        reader.next = (*found)->sequence + 1;
        reader.last_id = transport::bus_header((*found)->message, "Nats-Msg-Id");
        is_wanted = reader.wants(type_of_subject((*found)->message.subject));
      }
    }
    if (must_look) return look(session, generation);
    if (is_wanted) push(session, (*found)->message.payload, (*found)->sequence);
    catch_up(session, generation);
  }
  /// A broker that has lost its streams has new ones, which begin anew.
  void look(const transport::BusSession& session, std::uint64_t generation) {
    streams_->stream_state(transport::event_stream(league_id_), clock_.steady_now() + kPatience,
                           [weak = weak_from_this(), session, generation](const auto& state) {
                             if (auto self = weak.lock())
                               self->on_state(session, generation, state);
                           });
  }
  void on_state(const transport::BusSession& session, std::uint64_t generation,
                const core::Result<transport::StreamState>& state) {
    {
      std::lock_guard lock(mutex_);
      auto place = readers_.find(session);
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
    catch_up(session, generation);
  }
  void push(const transport::BusSession& session, const std::string& text, std::uint64_t sequence) {
    push_text(session, transport::sse_event_text(
                           text, sequence == 0 ? std::string() : std::to_string(sequence)));
  }
  /// Numbers begin anew: what comes next is not what was told before.
  void push_reset(const transport::BusSession& session) {
    push_text(session, transport::sse_event_text("{}", "0", envelope::kEventsReset));
  }
  void push_text(const transport::BusSession& session, std::string text) {
    auto message = transport::bus_message(transport::session_out(session), std::move(text), session,
                                          rpc::MessageDirection::kServerToClient);
    message.headers.emplace_back(transport::kContentTypeHeader, transport::kEventStreamType);
    (void)bus_.publish(message);  // who has gone asks again, with what it has seen
  }

  transport::Bus& bus_;
  transport::JetStream* const streams_;
  const std::string league_id_;
  const core::Clock& clock_;
  mutable std::mutex mutex_;  // guards the rest, never held while others are called
  std::map<transport::BusSession, Reader> readers_;
  std::uint64_t generations_ = 0;
  bool is_kept_ = streams_ != nullptr;  ///< as far as is known: the last event was
  bool is_stopped_ = false;
};

EventFeed::EventFeed(transport::Bus& bus, transport::JetStream* streams, std::string league_id,
                     const core::Clock& clock)
    : state_(std::make_shared<State>(bus, streams, std::move(league_id), clock)) {}

EventFeed::~EventFeed() { stop(); }

void EventFeed::subscribe(const transport::BusSession& session, EventWish wish) {
  state_->subscribe(session, std::move(wish));
}
void EventFeed::on_published(const PublishedEvent& event, EventKept kept) {
  state_->on_published(event, kept);
}
void EventFeed::stop() { state_->stop(); }
bool EventFeed::is_kept() const { return state_->is_kept(); }

core::Result<EventWish> read_event_wish(const nlohmann::json& arguments) {
  EventWish wish;
  if (auto after = arguments.find("after"); after != arguments.end() && !after->is_null()) {
    if (!after->is_number_integer() ||
        (!after->is_number_unsigned() && after->get<std::int64_t>() < 0))
      return Error{ErrorCode::kInvalidFieldType, "after must be the number of an event", "/after"};
    wish.after = after->get<std::uint64_t>();
  }
  auto types = arguments.find("types");
  if (types == arguments.end() || types->is_null()) return wish;
  if (!types->is_array() || types->size() > kMostTypes)
    return Error{ErrorCode::kInvalidFieldType, "types must be a list of names", "/types"};
  for (const auto& type : *types) {
    if (!type.is_string())
      return Error{ErrorCode::kInvalidFieldType, "types must be a list of names", "/types"};
    std::string name = envelope::event_type_of(type.get_ref<const std::string&>());
    if (!envelope::is_event_type(name))
      return Error{ErrorCode::kInvalidFieldValue, envelope::unknown_event_type(name), "/types"};
    wish.types.insert(std::move(name));
  }
  return wish;
}

}  // namespace league::league_manager
