#include "bus/commands/event_readers.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "bus/transport/bus.h"
#include "bus/transport/bus_discovery.h"
#include "bus/transport/bus_listener.h"
#include "common/agent/bus/event_signature.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/core/crypto.h"
#include "common/envelope/event_types.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"
#include "common/task/latch.h"
#include "common/task/signal.h"
#include "common/task/task.h"
#include "common/transport/link/sse_parser.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using nlohmann::json;
using transport::bus::BusMessage;

constexpr std::chrono::seconds kSearch{30};
constexpr std::chrono::seconds kAnswer{3};

constexpr std::chrono::seconds kReplyPatience{5};
constexpr std::chrono::seconds kFetch{5};
constexpr std::chrono::milliseconds kBetweenReads{1000};
constexpr std::chrono::milliseconds kAckWait{2000};
constexpr int kBatch = 64;

/// What it does and hears happens on one executor.
class FeedReader {
 public:
  FeedReader(EventReading reading, std::string league_id, std::set<std::string> types)
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
    transport::bus::BusDiscovery discovery(reading_);
    for (;;) {
      const auto found =
          co_await discovery.attach(league_id_, reading_.clock.steady_now() + kSearch);
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
    parser.feed(message.payload,
                [&](transport::link::SseEvent event) { events.push_back(std::move(event)); });
    for (const auto& event : events) tell(event);
  }
  void tell(const transport::link::SseEvent& event) {
    if (!wants_more_) return;
    if (event.type == envelope::kEventsReset) return begin_anew();
    std::uint64_t sequence = 0;
    const std::string digits = event.id.value_or("0");
    if (std::from_chars(digits.data(), digits.data() + digits.size(), sequence).ec != std::errc())
      return;  // not from the manager
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

/// What it does happens on one executor.
class DurableReader {
 public:
  DurableReader(EventReading reading, transport::bus::JetStream& streams,
                const std::string& league_id, std::string name)
      : reading_(std::move(reading)),
        streams_(streams),
        stream_(transport::link::event_stream(league_id)),
        name_(std::move(name)) {
    tasks_.spawn(keep_reading());
  }

 private:
  task::Task<void> keep_reading() {
    for (;;) {
      const core::Error why = co_await read();
      if (why.code == core::ErrorCode::kShuttingDown) co_return;
      reading_.on_trouble(why.message + "; trying again");
      co_await task::sleep_for(reading_.timer, kBetweenReads);
    }
  }
  /// Reads until something fails.
  task::Task<core::Error> read() {
    if (last_sequence_ != 0) {
      const auto same = co_await is_same_stream();
      if (!same) co_return same.error();
      if (!*same) {
        last_sequence_ = 0;
        is_anew_ = true;
        reading_.on_trouble("the broker has lost its events; their numbers start again");
      }
    }
    transport::bus::ConsumerConfig config;
    config.durable_name = name_;
    // Used only for a new consumer; the broker keeps the position of an existing one.
    config.start_sequence = last_sequence_ != 0           ? last_sequence_ + 1
                            : reading_.after && !is_anew_ ? *reading_.after + 1
                                                          : 0;
    // One at a time: otherwise unacknowledged events of a killed reader would come after the rest.
    config.max_ack_pending = 1;
    config.ack_wait = kAckWait;
    const auto made = co_await streams_.ensure_consumer(stream_, config, soon());
    if (!made) co_return made.error();
    for (;;) {
      transport::bus::FetchRequest wanted{stream_, name_, kBatch, kFetch, nullptr};
      wanted.on_message = [this](transport::bus::StreamDelivery delivery) {
        tasks_.spawn(take(std::move(delivery)));
      };
      const auto ended = co_await streams_.fetch(std::move(wanted));
      if (!ended) co_return ended.error();
    }
  }
  /// A new stream can already be longer than what was read, so the last event is compared.
  task::Task<core::Result<bool>> is_same_stream() {
    const auto state = co_await streams_.stream_state(stream_, soon());
    if (!state) co_return state.error();
    if (state->last_sequence < last_sequence_) co_return false;
    const auto found = co_await streams_.get(stream_, last_sequence_, soon());
    if (!found) co_return found.error();
    co_return !*found || (*found)->message.payload == last_payload_;
  }
  task::Task<void> take(transport::bus::StreamDelivery delivery) {
    // If an event comes again because its acknowledgement was lost, it is acknowledged but not
    // reported again.
    if (delivery.sequence != last_sequence_ &&
        !reading_.on_event(delivery.sequence, delivery.message.payload)) {
      streams_.nak(delivery, std::chrono::milliseconds(0));
      tasks_.stop();
      co_return;
    }
    streams_.ack(delivery);
    last_sequence_ = delivery.sequence;
    last_payload_ = std::move(delivery.message.payload);
  }
  [[nodiscard]] core::Clock::Steady soon() const {
    return reading_.clock.steady_now() + kReplyPatience;
  }

  const EventReading reading_;
  transport::bus::JetStream& streams_;
  const std::string stream_;
  const std::string name_;
  std::uint64_t last_sequence_ = 0;  ///< of the last event that was read; 0: none
  std::string last_payload_;
  bool is_anew_ = false;  ///< the stream was lost, and a new one is read from its beginning
  task::Scope tasks_{task::Executor(), agent::runtime::failures_logged("reading events")};
};

using nlohmann::json;

using schema::field_at;
using schema::text_at;

/// A summary of a message for people.
std::string gist_of(const json& params) {
  std::string gist;
  if (auto round = schema::number_at(params, "round_id"))
    gist += "  round " + std::to_string(*round);
  if (const json& matches = field_at(params, "matches"); matches.is_array())
    gist += "  " + std::to_string(matches.size()) + " matches";
  const json& table = field_at(params, "standings");
  if (table.is_array() && !table.empty() && table.front().is_object())
    gist += "  first: " + text_at(table.front(), "player_id") + " " +
            text_at(table.front(), "display_name");
  if (const json& champion = field_at(params, "champion"); champion.is_object())
    gist +=
        "  champion: " + text_at(champion, "player_id") + " " + text_at(champion, "display_name");
  return gist;
}

}  // namespace

core::Result<std::shared_ptr<void>> read_feed(EventReading reading, std::string league_id,
                                              std::set<std::string> types) {
  auto reader =
      std::make_shared<FeedReader>(std::move(reading), std::move(league_id), std::move(types));
  if (auto started = reader->start(); !started) return started.error();
  return std::shared_ptr<void>(std::move(reader));
}

std::shared_ptr<void> read_durably(EventReading reading, transport::bus::JetStream& streams,
                                   const std::string& league_id, std::string name) {
  return std::make_shared<DurableReader>(std::move(reading), streams, league_id, std::move(name));
}

std::string event_line(std::uint64_t sequence, std::string_view payload,
                       const EventLineOptions& options) {
  auto parsed = schema::parse_json(payload);
  const json event = parsed ? *parsed : json();
  const json& params = field_at(event, "params");
  std::optional<bool> is_verified;
  if (!options.key.empty())
    is_verified = static_cast<bool>(
        agent::bus::check_event_signature(payload, text_at(params, "signature"), options.key));
  if (options.is_json) {
    json line = {{"sequence", nullptr}, {"verified", nullptr}};
    if (sequence != 0) line["sequence"] = sequence;
    if (is_verified) line["verified"] = *is_verified;
    if (parsed)
      line["event"] = event;
    else
      line["text"] = payload;
    return rpc::to_json_text(line);
  }
  std::string type = text_at(params, "message_type");
  std::string line = (sequence == 0 ? std::string("-") : std::to_string(sequence)) + "  " +
                     text_at(params, "timestamp") + "  " +
                     (type.empty() ? std::string("no league message") : type) + gist_of(params);
  if (is_verified) line += *is_verified ? "  (signed)" : "  (NOT SIGNED by the league's manager)";
  return safe_text(line);
}

}  // namespace league::tools
