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
    const auto sequence = kept.sequence;
    std::vector<transport::BusSession> told;
    std::vector<transport::BusSession> reset;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      is_kept_ = sequence != 0;
      for (auto& [session, reader] : readers_) {
        reader.has_news = true;
        if (reader.is_behind) continue;
        // This is the newest there is, so who has seen more than this has seen another stream's.
        bool is_newest = sequence != 0 && !kept.is_repetition;
        bool is_anew = is_newest && sequence + 1 < reader.next;
        if (is_anew) reset.push_back(session);
        if (!is_anew && sequence != 0 && sequence < reader.next) continue;
        if (sequence != 0) reader.next = sequence + 1;
        if (reader.wants(event.type)) told.push_back(session);
      }
    }
    for (const auto& session : reset) push_reset(session);
    for (const auto& session : told) push(session, *event.text, sequence);
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
    std::uint64_t generation = 0;  ///< of its wish
    bool is_behind = false;  ///< it is still told of what was
    bool has_news = false;  ///< something was published since the stream was last looked at

    [[nodiscard]] bool wants(const std::string& type) const {
      return types.empty() || types.contains(type);
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
    {
      std::lock_guard lock(mutex_);
      auto reader = readers_.find(session);
      if (reader == readers_.end() || reader->second.generation != generation) return;
      reader->second.has_news = false;
      next = reader->second.next;
    }
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
      if (!found) {
        // Without an answer it is asked again; without a stream there is nothing to tell.
        reader.is_behind = found.error().code == core::ErrorCode::kConnectionError;
        if (!reader.is_behind) return;
      } else if (!*found) {
        must_look = reader.next > 1 && !reader.has_news;
        // What was published while the stream was asked may be behind its answer.
        reader.is_behind = reader.has_news || must_look;
        if (!reader.is_behind) return;
      } else {
        reader.next = (*found)->sequence + 1;
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
    bool is_anew = false;
    {
      std::lock_guard lock(mutex_);
      auto place = readers_.find(session);
      if (place == readers_.end() || place->second.generation != generation) return;
      Reader& reader = place->second;
      is_anew = state && state->last_sequence + 1 < reader.next;
      if (is_anew) reader.next = 1;
      reader.is_behind = is_anew || reader.has_news;
      if (!reader.is_behind) return;
    }
    if (is_anew) push_reset(session);
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
    std::string name = type.get<std::string>();
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (!envelope::is_event_type(name))
      return Error{ErrorCode::kInvalidFieldValue, envelope::unknown_event_type(name), "/types"};
    wish.types.insert(std::move(name));
  }
  return wish;
}

}  // namespace league::league_manager
