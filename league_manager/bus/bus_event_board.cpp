#include "league_manager/bus/bus_event_board.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/agent/runtime/log.h"
#include "common/rpc/transport_context.h"
#include "common/transport/bus/bus_context.h"

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

/// Shared with the callbacks of the bus and of its streams. Publishes one event at a time, so that
/// events keep their order and no subscriber gets a round before the previous one.
class BusEventBoard::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(BusEventBoardDependencies dependencies)
      : deps_(std::move(dependencies)),
        keeping_(deps_.streams != nullptr ? Keeping::kUnknown : Keeping::kNobody) {}

  void begin() {
    auto watch = deps_.bus.watch([weak = weak_from_this()](bool is_connected) {
      auto self = weak.lock();
      if (self && is_connected) self->on_connected();
    });
    std::lock_guard lock(mutex_);
    watch_ = std::move(watch);
  }
  void publish(PublishedEvent event, std::function<void()> done) {
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      waiting_.push_back({std::move(event), std::move(done)});
    }
    pump();
  }
  void stop() {
    std::deque<Waiting> dropped;
    std::unique_ptr<transport::bus::Bus::Subscription> watch;
    std::unique_lock lock(mutex_);
    is_stopped_ = true;
    dropped.swap(waiting_);
    watch.swap(watch_);
    // Waits for running callbacks, whose targets may be destroyed after this call.
    is_told_.wait(lock, [this] {
      return teller_ == std::thread::id() || teller_ == std::this_thread::get_id();
    });
  }

  /// Starts a search for the stream if one is due, and publishes the first waiting event.
  void pump() {
    std::optional<PublishedEvent> next;
    bool is_kept = false;
    bool is_first = false;
    bool must_search = false;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      must_search = is_search_due() && !std::exchange(is_searching_, true);
      if (!is_busy_ && keeping_ != Keeping::kUnknown && !waiting_.empty() &&
          deps_.bus.is_connected()) {
        next = waiting_.front().event;
        is_first = !std::exchange(waiting_.front().is_logged, true);
        is_kept = keeping_ == Keeping::kStream;
        is_busy_ = true;
      }
    }
    if (must_search) search();
    if (!next) return;
    if (is_first) log(*next);
    is_kept ? store(*next) : hand_over(*next);
  }

 private:
  enum class Keeping { kUnknown, kStream, kNobody };
  struct Waiting {
    PublishedEvent event;
    std::function<void()> done;
    int attempts = 0;
    bool is_logged = false;
  };

  void on_connected() {
    {
      std::lock_guard lock(mutex_);
      // The new connection may be to another broker, or to the same one after it lost its files.
      if (is_searching_)
        must_search_again_ = true;
      else if (deps_.streams != nullptr)
        keeping_ = Keeping::kUnknown;
    }
    pump();
  }
  /// Needs the lock. Also true some time after a failed search: electing a broker for the stream,
  /// or creating it on a slow disk, can take longer than one search.
  [[nodiscard]] bool is_search_due() const {
    if (deps_.streams == nullptr || is_searching_) return false;
    return keeping_ == Keeping::kUnknown ||
           (keeping_ == Keeping::kNobody && deps_.clock.steady_now() >= search_again_);
  }
  void search() {
    bool is_quick = false;
    {
      std::lock_guard lock(mutex_);
      is_quick = keeping_ == Keeping::kUnknown;
    }
    std::chrono::milliseconds quick = deps_.replicas > 1 ? kElection : kQuickSearch;
    deps_.streams->ensure_stream(event_stream_config(deps_),
                                 deps_.clock.steady_now() + (is_quick ? quick : kSearch),
                                 [weak = weak_from_this(), is_quick](const auto& found) {
                                   if (auto self = weak.lock()) self->on_search(found, is_quick);
                                 });
  }
  void on_search(const core::Result<transport::bus::StreamState>& found, bool is_quick) {
    bool is_news = false;
    {
      std::lock_guard lock(mutex_);
      is_searching_ = false;
      search_again_ = deps_.clock.steady_now();
      if (!is_quick) search_again_ += kBetweenSearches;
      bool is_late = std::exchange(must_search_again_, false);
      keeping_ = found ? Keeping::kStream : is_late ? Keeping::kUnknown : Keeping::kNobody;
      // No warning while the broker is disconnected: the watch of the bus reports that.
      is_news = !found && !is_quick && deps_.bus.is_connected() && !is_stopped_ &&
                !std::exchange(is_said_, true);
    }
    if (is_news)
      agent::runtime::log::warn(
          "the broker stores no events of the league, so nobody can read them later: {}",
          found.error().message);
    pump();
  }
  [[nodiscard]] transport::bus::BusMessage message_of(const PublishedEvent& event) const {
    return transport::bus::bus_message(
        transport::link::event_subject(deps_.league_id, event.type), *event.text, deps_.session,
        rpc::MessageDirection::kServerToClient, event.conversation_id);
  }
  void store(const PublishedEvent& event) {
    deps_.streams->publish(message_of(event), {.message_id = event.id},
                           deps_.clock.steady_now() + kAnswer,
                           [weak = weak_from_this()](const transport::bus::PublishAck& ack) {
                             if (auto self = weak.lock()) self->on_ack(ack);
                           });
  }
  void on_ack(const transport::bus::PublishAck& ack) {
    if (ack.status == transport::bus::PublishAck::Status::kStored) {
      is_full_said_ = false;
      return finish({ack.sequence, ack.is_duplicate});
    }
    if (ack.status == transport::bus::PublishAck::Status::kFull) {
      // Subscribers have received the event anyway, so the league does not wait for room.
      if (!is_full_said_.exchange(true))
        agent::runtime::log::warn(
            "the broker has no room for the league's events, so nobody can read them later: {}",
            ack.why.message);
      return finish({});
    }
    bool is_given_up = false;
    {
      std::lock_guard lock(mutex_);
      if (waiting_.empty()) return;
      // A lost connection does not count as a failed attempt.
      if (deps_.bus.is_connected()) ++waiting_.front().attempts;
      is_given_up = waiting_.front().attempts >= kMostTries;
      if (!is_given_up) {
        is_busy_ = false;
        if (!is_searching_) keeping_ = Keeping::kUnknown;
      }
    }
    if (is_given_up) {
      agent::runtime::log::warn("the broker did not store an event of the league: {}",
                                ack.why.message);
      return finish({});
    }
    pump();
  }
  void hand_over(const PublishedEvent& event) {
    auto message = message_of(event);
    // If there is a stream after all, this id makes it store the event only once.
    message.headers.emplace_back("Nats-Msg-Id", event.id);
    if (auto sent = deps_.bus.publish(message); !sent)
      agent::runtime::log::warn("{} could not be published: {}", event.message_type,
                                sent.error().message);
    finish({});
  }
  void finish(EventKept kept) {
    Waiting done;
    {
      std::lock_guard lock(mutex_);
      if (waiting_.empty()) return;  // stopped
      done = std::move(waiting_.front());
      waiting_.pop_front();
      teller_ = std::this_thread::get_id();
    }
    if (deps_.on_published) deps_.on_published(done.event, kept);
    if (done.done) done.done();
    {
      std::lock_guard lock(mutex_);
      teller_ = {};
      is_busy_ = false;
    }
    is_told_.notify_all();
    pump();
  }
  void log(const PublishedEvent& event) {
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

  const BusEventBoardDependencies deps_;
  std::mutex mutex_;  // guards the rest, never held while others are called
  std::condition_variable is_told_;
  std::thread::id teller_;  ///< the thread that runs the callbacks of a published event; none: no
                            ///< thread does
  std::unique_ptr<transport::bus::Bus::Subscription> watch_;
  std::deque<Waiting> waiting_;
  Keeping keeping_;
  core::Clock::Steady search_again_{};
  bool is_searching_ = false;
  bool is_busy_ = false;  ///< the first of `waiting_` is being published
  bool must_search_again_ = false;  ///< the bus connected again during a search
  bool is_said_ = false;
  std::atomic<bool> is_full_said_{false};
  bool is_stopped_ = false;
};

BusEventBoard::BusEventBoard(BusEventBoardDependencies dependencies)
    : state_(std::make_shared<State>(std::move(dependencies))) {
  state_->begin();
  state_->pump();
}

BusEventBoard::~BusEventBoard() { stop(); }

void BusEventBoard::publish(PublishedEvent event, std::function<void()> done) {
  state_->publish(std::move(event), std::move(done));
}
void BusEventBoard::stop() { state_->stop(); }

}  // namespace league::league_manager::bus
