#include "league_manager/event_feed.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

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
  void on_published(const PublishedEvent& event, std::uint64_t sequence) {
    std::vector<transport::BusSession> told;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      is_kept_ = sequence != 0;
      for (auto& [session, reader] : readers_) {
        reader.has_news = true;
        if (reader.is_behind || (sequence != 0 && sequence < reader.next)) continue;
        if (sequence != 0) reader.next = sequence + 1;
        if (reader.wants(event.type)) told.push_back(session);
      }
    }
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
        // What was published while the stream was asked may be behind its answer.
        reader.is_behind = reader.has_news;
        if (!reader.is_behind) return;
      } else {
        reader.next = (*found)->sequence + 1;
        is_wanted = reader.wants(type_of_subject((*found)->message.subject));
      }
    }
    if (is_wanted) push(session, (*found)->message.payload, (*found)->sequence);
    catch_up(session, generation);
  }
  void push(const transport::BusSession& session, const std::string& text, std::uint64_t sequence) {
    auto message = transport::bus_message(
        transport::session_out(session),
        transport::sse_event_text(text, sequence == 0 ? std::string() : std::to_string(sequence)),
        session, rpc::MessageDirection::kServerToClient);
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
void EventFeed::on_published(const PublishedEvent& event, std::uint64_t sequence) {
  state_->on_published(event, sequence);
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
    wish.types.insert(std::move(name));
  }
  return wish;
}

}  // namespace league::league_manager
