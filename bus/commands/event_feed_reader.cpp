#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bus/commands/event_readers.h"
#include "bus/transport/bus_context.h"
#include "bus/transport/bus_discovery.h"
#include "bus/transport/bus_listener.h"
#include "bus/transport/keep_alive_monitor.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/core/crypto.h"
#include "common/envelope/event_types.h"
#include "common/task/latch.h"
#include "common/task/signal.h"
#include "common/task/task.h"
#include "common/transport/link/sse_parser.h"

namespace league::tools {
namespace {

using nlohmann::json;
using transport::bus::BusMessage;

constexpr std::chrono::seconds kSearch{30};
constexpr std::chrono::seconds kAnswer{3};

}  // namespace

/// What it does and hears happens on one executor.
class FeedReader::State {
 public:
  State(EventReading reading, std::string league_id, std::set<std::string> types)
      : reading_(std::move(reading)),
        league_id_(std::move(league_id)),
        types_(std::move(types)),
        inbox_(transport::link::session_inbox(reading_.session,
                                              core::to_hex(reading_.random.bytes<8>()))),
        after_(reading_.after),
        monitor_(reading_.clock, reading_.timer) {}

  core::Result<void> start() {
    auto out = reading_.bus.subscribe(
        transport::link::session_out(reading_.session), "",
        [this](BusMessage message) { tasks_.spawn(hear(std::move(message))); });
    if (!out) return out.error();
    auto answers = reading_.bus.subscribe(
        inbox_, "", [this](BusMessage message) { tasks_.spawn(hear_answer(std::move(message))); });
    if (!answers) return answers.error();
    out_ = std::move(*out);
    answers_ = std::move(*answers);
    tasks_.spawn(keep_subscribed());
    return {};
  }

 private:
  task::Task<void> keep_subscribed() {
    using Found = core::Result<transport::bus::BusAttachment>;
    transport::bus::BusDiscovery discovery(reading_.bus, reading_.session, reading_.clock,
                                           reading_.timer, reading_.random);
    for (;;) {
      const Found found = co_await task::called_back<Found>([&](auto then) {
        discovery.attach(league_id_, reading_.clock.steady_now() + kSearch, std::move(then));
      });
      if (!found) {
        reading_.on_trouble(found.error().message + "; still looking");
        continue;
      }
      on_found(found->keep_alive);
      is_answered_ = false;
      news_ = task::Latch(1);
      ask();
      co_await news_.wait_for(reading_.timer, kAnswer);
      if (is_answered_) co_await silence_.wait();
    }
  }
  void on_found(std::chrono::milliseconds interval) {
    (void)monitor_.beat();
    if (std::exchange(interval_, interval) == interval) return;
    watching_.cancel();
    if (interval.count() > 0) watching_ = tasks_.spawn(watch_manager(interval));
  }
  task::Task<void> watch_manager(std::chrono::milliseconds interval) {
    for (;;) {
      co_await monitor_.silence(interval);
      reading_.on_trouble("the manager is silent; asking for it again");
      news_.count_down();
      silence_.open(true);
    }
  }
  /// Calls events_subscribe.
  void ask() {
    json arguments = json::object();
    if (after_) arguments["after"] = *after_;
    if (!types_.empty()) arguments["types"] = types_;
    json request = {
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", "events_subscribe"}, {"params", arguments}};
    auto message =
        transport::bus::bus_message(transport::link::session_in(reading_.session), request.dump(),
                                    reading_.session, rpc::MessageDirection::kClientToServer);
    message.reply = inbox_;
    (void)reading_.bus.publish(message);
  }
  task::Task<void> hear_answer(BusMessage message) {
    const json answer = json::parse(message.payload, nullptr, false);
    const bool is_good = answer.is_object() && answer.contains("result");
    if (is_good || (answer.is_object() && answer.contains("error"))) {
      is_answered_ = true;
      news_.count_down();
    }
    const bool is_first = !is_good || std::exchange(is_first_answer_, false);
    // If nobody listens, the request is repeated later.
    if (!wants_more_ || !is_first || message.is_no_responders) co_return;
    if (!is_good) {
      reading_.on_trouble("the manager does not send events: " + message.payload.substr(0, 300));
    } else if (answer["result"].value("is_kept", false) == false) {
      reading_.on_trouble("the broker stores no events: missed events are lost");
    }
  }
  task::Task<void> hear(BusMessage message) {
    bool is_events = transport::bus::bus_header(message, transport::bus::kContentTypeHeader)
                         .starts_with(transport::link::kEventStreamType);
    if (!is_events) co_return;
    (void)monitor_.beat();
    if (message.payload == transport::bus::kBusKeepAlive) co_return;
    std::vector<transport::link::SseEvent> events;
    transport::link::SseParser parser;
    parser.feed(message.payload, [&](transport::link::SseEvent event) { events.push_back(event); });
    for (const auto& event : events) tell(event);
  }
  void tell(const transport::link::SseEvent& event) {
    if (!wants_more_) return;
    if (event.type == envelope::kEventsReset) return begin_anew();
    std::uint64_t sequence = 0;
    if (event.id) {
      try {
        sequence = std::stoull(*event.id);
      } catch (const std::exception&) {
        return;  // not from the manager
      }
    }
    // Received already: the request had been repeated before this event arrived.
    if (sequence != 0 && after_ && sequence <= *after_) return;
    if (sequence != 0) after_ = sequence;
    if (reading_.on_event(sequence, event.data)) return;
    wants_more_ = false;
    tasks_.stop();
  }
  void begin_anew() {
    if (after_ == 0) return;
    after_ = 0;
    reading_.on_trouble("the broker has lost its events; their numbers start again");
  }

  const EventReading reading_;
  const std::string league_id_;
  const std::set<std::string> types_;
  const std::string inbox_;
  std::optional<std::uint64_t> after_;
  transport::bus::KeepAliveMonitor monitor_;
  std::chrono::milliseconds interval_{0};
  task::Spawned watching_;
  task::Signal<bool> silence_;
  task::Latch news_{0};  ///< an answer, or silence
  bool is_answered_ = false;
  bool is_first_answer_ = true;
  bool wants_more_ = true;
  task::Scope tasks_{task::Executor(), agent::runtime::failures_logged("reading events")};
  // Last: their handlers begin tasks.
  std::unique_ptr<transport::bus::Bus::Subscription> out_;
  std::unique_ptr<transport::bus::Bus::Subscription> answers_;
};

FeedReader::FeedReader(EventReading reading, std::string league_id, std::set<std::string> types)
    : state_(std::make_unique<State>(std::move(reading), std::move(league_id), std::move(types))) {}

FeedReader::~FeedReader() = default;

core::Result<void> FeedReader::start() { return state_->start(); }

}  // namespace league::tools
