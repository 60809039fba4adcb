#include "common/agent/bus/event_listener.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "common/transport/bus/bus_context.h"

namespace league::agent::bus {
namespace {

constexpr std::size_t kMostKept = 512;

}  // namespace

/// Shared with the bus.
class EventListener::State : public std::enable_shared_from_this<State> {
 public:
  State(transport::bus::Bus& bus, const transport::link::BusSession& session, std::string league_id,
        const EventVerifier& verifier, transport::link::MessageHandler& handler,
        const core::Clock& clock)
      : bus_(bus),
        session_(session),
        league_id_(std::move(league_id)),
        verifier_(verifier),
        handler_(handler),
        clock_(clock),
        connection_(transport::bus::bus_connection_info(bus, session)) {}

  core::Result<void> begin() {
    auto subscribed = bus_.subscribe(transport::link::event_subjects(league_id_), "",
                                     [weak = weak_from_this()](transport::bus::BusMessage message) {
                                       if (auto self = weak.lock())
                                         self->on_event(std::move(message));
                                     });
    if (!subscribed) return subscribed.error();
    std::lock_guard lock(mutex_);
    subscription_ = std::move(*subscribed);
    return {};
  }
  void end() {
    std::unique_ptr<transport::bus::Bus::Subscription> subscription;
    {
      std::lock_guard lock(mutex_);
      is_ended_ = true;
      subscription.swap(subscription_);
      kept_.clear();
    }
    subscription.reset();
    std::unique_lock lock(mutex_);  // another thread may be in the middle of a release
    if (handling_ == std::this_thread::get_id()) return;
    is_idle_.wait(lock, [this] { return handling_ == std::thread::id(); });
  }
  void release() {
    {
      std::lock_guard lock(mutex_);
      is_released_ = true;
    }
    handle_kept();
  }
  void catch_up(std::chrono::milliseconds patience, std::chrono::milliseconds quiet) {
    const auto end = std::chrono::steady_clock::now() + patience;
    if (!bus_.flush(patience)) return;
    // Events may still be on their way to our handler; after a quiet period we assume there are
    // none.
    std::unique_lock lock(mutex_);
    auto is_idle = [this] { return handling_ == std::thread::id() && kept_.empty(); };
    for (auto seen = heard_; is_released_; seen = heard_) {
      bool has_more = is_idle_.wait_for(lock, quiet, [&] { return heard_ != seen; });
      if (!is_idle_.wait_until(lock, end, is_idle) || !has_more) return;
    }
  }
  [[nodiscard]] const std::string& league_id() const { return league_id_; }

 private:
  void on_event(transport::bus::BusMessage message) {
    auto type = std::string_view(message.subject).substr(message.subject.rfind('.') + 1);
    if (!verifier_.is_wanted(type)) return;
    {
      std::lock_guard lock(mutex_);
      if (is_ended_ || kept_.size() >= kMostKept) return;
      kept_.push_back(std::move(message));
      ++heard_;
      is_idle_.notify_all();
    }
    handle_kept();
  }
  /// One thread at a time delivers the events, in order; other threads only add to the queue.
  void handle_kept() {
    std::unique_lock lock(mutex_);
    if (!is_released_ || handling_ != std::thread::id()) return;
    handling_ = std::this_thread::get_id();
    while (!kept_.empty()) {
      auto message = std::move(kept_.front());
      kept_.pop_front();
      lock.unlock();
      hand_over(std::move(message));
      lock.lock();
    }
    handling_ = {};
    is_idle_.notify_all();
  }
  void hand_over(transport::bus::BusMessage message) {
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

  transport::bus::Bus& bus_;
  const transport::link::BusSession session_;
  const std::string league_id_;
  const EventVerifier& verifier_;
  transport::link::MessageHandler& handler_;
  const core::Clock& clock_;
  const std::shared_ptr<const rpc::ConnectionInfo> connection_;
  std::mutex mutex_;  // guards the rest, never held while others are called
  std::condition_variable is_idle_;
  std::unique_ptr<transport::bus::Bus::Subscription> subscription_;
  std::deque<transport::bus::BusMessage> kept_;
  std::thread::id handling_;  ///< the thread that delivers events; default value: none
  bool is_released_ = false;
  std::uint64_t heard_ = 0;
  bool is_ended_ = false;
};

EventListener::EventListener(std::shared_ptr<State> state) : state_(std::move(state)) {}

core::Result<std::unique_ptr<EventListener>> EventListener::start(
    transport::bus::Bus& bus, const transport::link::BusSession& session,
    const std::string& league_id, const EventVerifier& verifier,
    transport::link::MessageHandler& handler, const core::Clock& clock) {
  auto state = std::make_shared<State>(bus, session, league_id, verifier, handler, clock);
  if (auto begun = state->begin(); !begun) return begun.error();
  return std::unique_ptr<EventListener>(new EventListener(std::move(state)));
}

EventListener::~EventListener() { state_->end(); }

const std::string& EventListener::league_id() const { return state_->league_id(); }
void EventListener::release() { state_->release(); }
void EventListener::catch_up(std::chrono::milliseconds patience, std::chrono::milliseconds quiet) {
  state_->catch_up(patience, quiet);
}

}  // namespace league::agent::bus
