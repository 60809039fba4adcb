#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "common/core/crypto.h"
#include "common/envelope/event_types.h"
#include "common/transport/bus/bus_context.h"
#include "common/transport/bus/bus_discovery.h"
#include "common/transport/bus/bus_listener.h"
#include "common/transport/bus/keep_alive_monitor.h"
#include "common/transport/link/sse_parser.h"
#include "tools/league/client/event_readers.h"

namespace league::tools {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kSearch{30};
constexpr std::chrono::seconds kAnswer{3};

}  // namespace

/// Shared with the callbacks of bus and timer.
class FeedReader::State : public std::enable_shared_from_this<State> {
 public:
  State(EventReading reading, std::string league_id, std::set<std::string> types)
      : reading_(std::move(reading)),
        league_id_(std::move(league_id)),
        types_(std::move(types)),
        after_(reading_.after),
        discovery_(std::make_shared<transport::bus::BusDiscovery>(
            reading_.bus, reading_.session, reading_.clock, reading_.timer, reading_.random)) {}

  core::Result<void> start() {
    inbox_ =
        transport::link::session_inbox(reading_.session, core::to_hex(reading_.random.bytes<8>()));
    auto weak = weak_from_this();
    auto out = reading_.bus.subscribe(transport::link::session_out(reading_.session), "",
                                      [weak](const transport::bus::BusMessage& message) {
                                        if (auto self = weak.lock()) self->on_out(message);
                                      });
    if (!out) return out.error();
    auto answers =
        reading_.bus.subscribe(inbox_, "", [weak](const transport::bus::BusMessage& message) {
          if (auto self = weak.lock()) self->on_answer(message);
        });
    if (!answers) return answers.error();
    {
      std::lock_guard lock(mutex_);
      out_ = std::move(*out);
      answers_ = std::move(*answers);
    }
    attach();
    return {};
  }
  void stop() {
    std::unique_ptr<transport::bus::Bus::Subscription> out;
    std::unique_ptr<transport::bus::Bus::Subscription> answers;
    std::unique_ptr<transport::bus::KeepAliveMonitor> watch;
    std::shared_ptr<transport::bus::BusDiscovery> discovery;
    std::unique_lock lock(mutex_);
    is_stopped_ = true;
    is_idle_.wait(lock, [this] {
      return teller_ == std::thread::id() || teller_ == std::this_thread::get_id();
    });
    out.swap(out_);
    answers.swap(answers_);
    watch.swap(watch_);
    discovery.swap(discovery_);
  }

 private:
  void attach() {
    std::shared_ptr<transport::bus::BusDiscovery> discovery;
    {
      std::lock_guard lock(mutex_);
      if (!discovery_ || std::exchange(is_searching_, true)) return;
      discovery = discovery_;
    }
    discovery->attach(league_id_, reading_.clock.steady_now() + kSearch,
                      [weak = weak_from_this()](const auto& attachment) {
                        if (auto self = weak.lock()) self->on_attached(attachment);
                      });
  }
  void on_attached(const core::Result<transport::bus::BusAttachment>& attachment) {
    std::shared_ptr<transport::bus::KeepAliveMonitor> ended;
    {
      std::lock_guard lock(mutex_);
      is_searching_ = false;
      if (is_stopped_) return;
      if (attachment) {
        is_answered_ = false;
        auto interval = attachment->keep_alive;
        if (watch_ && interval == interval_) {
          (void)watch_->beat();
        } else {
          interval_ = interval;
          ended = std::exchange(watch_, interval.count() > 0 ? new_watch(interval) : nullptr);
        }
      }
    }
    // Destroyed on the timer's thread: the destructor waits for a running callback, which may wait
    // for this thread.
    if (ended) reading_.timer.schedule(std::chrono::milliseconds(0), [ended] {});
    ended.reset();
    if (attachment) return ask();
    reading_.on_trouble(attachment.error().message + "; still looking");
    later(std::chrono::milliseconds(0), [](State& self) { self.attach(); });
  }
  std::unique_ptr<transport::bus::KeepAliveMonitor> new_watch(std::chrono::milliseconds interval) {
    return std::make_unique<transport::bus::KeepAliveMonitor>(
        reading_.clock, reading_.timer, interval, [weak = weak_from_this()] {
          auto self = weak.lock();
          if (!self) return;
          self->reading_.on_trouble("the manager is silent; asking for it again");
          self->attach();
        });
  }
  /// Calls events_subscribe.
  void ask() {
    json arguments = json::object();
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      if (after_) arguments["after"] = *after_;
    }
    if (!types_.empty()) arguments["types"] = types_;
    json request = {
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", "events_subscribe"}, {"params", arguments}};
    auto message =
        transport::bus::bus_message(transport::link::session_in(reading_.session), request.dump(),
                                    reading_.session, rpc::MessageDirection::kClientToServer);
    message.reply = inbox_;
    (void)reading_.bus.publish(message);
    later(kAnswer, [](State& self) {
      {
        std::lock_guard lock(self.mutex_);
        if (self.is_answered_) return;
      }
      self.attach();
    });
  }
  void on_answer(const transport::bus::BusMessage& message) {
    auto answer = json::parse(message.payload, nullptr, false);
    bool is_good = answer.is_object() && answer.contains("result");
    {
      std::lock_guard lock(mutex_);
      is_answered_ = is_good || (answer.is_object() && answer.contains("error"));
      if (is_stopped_ || (is_good && !is_first_answer_)) return;
      if (is_good) is_first_answer_ = false;
    }
    if (message.is_no_responders) return;  // the request is repeated later
    if (!is_good) {
      reading_.on_trouble("the manager does not send events: " + message.payload.substr(0, 300));
    } else if (answer["result"].value("is_kept", false) == false) {
      reading_.on_trouble("the broker stores no events: missed events are lost");
    }
  }
  void on_out(const transport::bus::BusMessage& message) {
    bool is_events = transport::bus::bus_header(message, transport::bus::kContentTypeHeader)
                         .starts_with(transport::link::kEventStreamType);
    if (!is_events) return;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      if (watch_) (void)watch_->beat();
      if (message.payload == transport::bus::kBusKeepAlive) return;
      teller_ = std::this_thread::get_id();
    }
    std::deque<transport::link::SseEvent> events;
    transport::link::SseParser parser;
    parser.feed(message.payload, [&](transport::link::SseEvent event) { events.push_back(event); });
    for (const auto& event : events) tell(event);
    std::lock_guard lock(mutex_);
    teller_ = {};
    is_idle_.notify_all();
  }
  void tell(const transport::link::SseEvent& event) {
    if (event.type == envelope::kEventsReset) return begin_anew();
    std::uint64_t sequence = 0;
    if (event.id) {
      try {
        sequence = std::stoull(*event.id);
      } catch (const std::exception&) {
        return;  // not from the manager
      }
    }
    {
      std::lock_guard lock(mutex_);
      // Received already: the request had been repeated before this event arrived.
      if (is_stopped_ || (sequence != 0 && after_ && sequence <= *after_)) return;
      if (sequence != 0) after_ = sequence;
    }
    if (reading_.on_event(sequence, event.data)) return;
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  void begin_anew() {
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_ || after_ == 0) return;
      after_ = 0;
    }
    reading_.on_trouble("the broker has lost its events; their numbers start again");
  }
  template <typename Then>
  void later(std::chrono::milliseconds time, Then then) {
    reading_.timer.schedule(time, [weak = weak_from_this(), then] {
      if (auto self = weak.lock()) then(*self);
    });
  }

  const EventReading reading_;
  const std::string league_id_;
  const std::set<std::string> types_;
  std::string inbox_;
  std::mutex mutex_;  // guards the rest; held during calls of others only to replace watch_
  std::condition_variable is_idle_;
  std::thread::id teller_;  ///< the thread that reports events; none: no thread does
  std::optional<std::uint64_t> after_;
  std::unique_ptr<transport::bus::Bus::Subscription> out_;
  std::unique_ptr<transport::bus::Bus::Subscription> answers_;
  std::shared_ptr<transport::bus::BusDiscovery> discovery_;
  std::unique_ptr<transport::bus::KeepAliveMonitor> watch_;
  std::chrono::milliseconds interval_{0};
  bool is_searching_ = false;
  bool is_answered_ = false;
  bool is_first_answer_ = true;
  bool is_stopped_ = false;
};

FeedReader::FeedReader(EventReading reading, std::string league_id, std::set<std::string> types)
    : state_(std::make_shared<State>(std::move(reading), std::move(league_id), std::move(types))) {}

FeedReader::~FeedReader() { state_->stop(); }

core::Result<void> FeedReader::start() { return state_->start(); }

}  // namespace league::tools
