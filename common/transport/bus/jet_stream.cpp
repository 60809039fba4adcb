#include "common/transport/bus/jet_stream.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/transport/bus/jet_fetches.h"
#include "common/transport/bus/jet_requests.h"
#include "common/transport/bus/jet_stream_api.h"

namespace league::transport::bus {
namespace {

using nlohmann::json;
using Steady = core::Clock::Steady;

BusMessage jet_message(const std::string& what, std::string payload) {
  return {jet_subject(what), {}, {}, std::move(payload), false};
}

std::string random_name(core::RandomSource& random) { return link::BusSession::make(random).str(); }

}  // namespace

namespace {

/// The answer, unless it is a refusal or an error.
core::Result<BusMessage> accepted(core::Result<BusMessage> answer) {
  if (!answer) return answer;
  if (auto refusal = read_refusal(answer->payload)) return refusal_error(*refusal);
  return answer;
}

void give_state(const core::Result<BusMessage>& answer, const JetStream::Done<StreamState>& done) {
  auto taken = accepted(answer);
  done(taken ? read_stream_state(taken->payload) : core::Result<StreamState>(taken.error()));
}

void give_done(const core::Result<BusMessage>& answer, const JetStream::Done<void>& done) {
  auto taken = accepted(answer);
  done(taken ? core::Result<void>() : core::Result<void>(taken.error()));
}

void give_stored(const core::Result<BusMessage>& answer,
                 const JetStream::Done<std::optional<StoredMessage>>& done) {
  if (!answer) return done(answer.error());
  if (auto refusal = read_refusal(answer->payload)) {
    if (refusal->number == kNoMessageFound) return done(std::optional<StoredMessage>());
    return done(refusal_error(*refusal));
  }
  auto stored = read_stored_message(answer->payload);
  if (!stored) return done(stored.error());
  done(std::optional<StoredMessage>(std::move(*stored)));
}

}  // namespace

/// Shared with the bus and the timer.
class JetStream::State : public std::enable_shared_from_this<State> {
 public:
  State(Bus& bus, const link::BusSession& session, const core::Clock& clock, core::Timer& timer,
        core::RandomSource& random)
      : bus_(bus),
        timer_(timer),
        random_(random),
        inbox_(link::session_inbox(session, "js-" + random_name(random) + ".")),
        gate_(std::make_shared<JetGate>([](const std::function<void()>& task) { task(); })),
        requests_(std::make_shared<JetRequests>(JetParts{bus, clock, timer, gate_, inbox_})),
        fetches_(std::make_shared<JetFetches>(JetParts{bus, clock, timer, gate_, inbox_})) {}

  core::Result<void> begin() {
    auto heard = bus_.subscribe(inbox_ + "*", "", [weak = weak_from_this()](BusMessage message) {
      if (auto self = weak.lock()) self->on_message(std::move(message));
    });
    if (!heard) return heard.error();
    answers_ = std::move(*heard);
    watch_ = bus_.watch([weak = weak_from_this()](bool is_connected) {
      auto self = weak.lock();
      if (!self) return;
      if (is_connected) return self->requests_->ask_all_again();
      self->fetches_->on_lost();
    });
    return {};
  }
  void end() {
    gate_->close();
    answers_.reset();
    watch_.reset();
    requests_->end();
    fetches_->end();
  }

  /// Sends a request whose answer is JSON. Gives an error for a refusal or an invalid `name`.
  using Read = std::function<void(core::Result<BusMessage>)>;
  void ask(const std::string& what, const std::string& name, std::string payload, Steady deadline,
           Read done) {
    if (auto checked = check_jet_name(name); !checked) return refuse(checked.error(), done);
    requests_->ask(jet_message(what, std::move(payload)), deadline, JetRequests::Repeat::kAlways,
                   std::move(done));
  }
  /// Fails the request later, not before the caller has returned.
  void refuse(const core::Error& why, const Read& done) {
    timer_.schedule(std::chrono::nanoseconds(0),
                    [gate = gate_, why, done] { gate->run([&] { done(why); }); });
  }

  /// Creates the stream, with half the limit as often as the broker has no room for the whole.
  void create(StreamConfig config, Steady deadline, Read made) {
    constexpr std::int64_t kLeast = 64 << 10;
    auto name = config.name;
    auto request = stream_request(config);
    ask("STREAM.CREATE." + name, name, std::move(request), deadline,
        [weak = weak_from_this(), config = std::move(config), deadline,
         made = std::move(made)](core::Result<BusMessage> answer) mutable {
          auto self = weak.lock();
          auto refusal = answer ? read_refusal(answer->payload) : std::nullopt;
          bool is_too_much = refusal && config.max_bytes >= 0 && is_refused_for_room(*refusal);
          if (!is_too_much || !self) return made(std::move(answer));
          // The stream may also exist already: the broker checks the space before the name.
          config.max_bytes = config.max_bytes / 2 >= kLeast ? config.max_bytes / 2 : -1;
          self->create(std::move(config), deadline, std::move(made));
        });
  }
  /// A message that is to be read.
  struct Reading {
    std::string stream;
    std::string what;  ///< the request
    Steady deadline;
    Done<std::optional<StoredMessage>> done;
  };
  /// By DIRECT.GET, which the stream itself answers, if it does: nobody would say that there is no
  /// such stream. The other request, STREAM.MSG.GET, crashes nats-server 2.9.10 if another client
  /// creates a stream at the same moment.
  void read(Reading reading) {
    auto stream = reading.stream;
    auto deadline = reading.deadline;
    ask("STREAM.INFO." + stream, stream, "", deadline,
        [weak = weak_from_this(), reading = std::move(reading)](const auto& answer) mutable {
          auto taken = accepted(answer);
          auto state = taken ? read_stream_state(taken->payload) : taken.error();
          auto self = weak.lock();
          if (!state || !self) return reading.done(state ? jet_stopping() : state.error());
          state->is_direct ? self->read_directly(std::move(reading))
                           : self->read_at_leader(std::move(reading));
        });
  }

  Bus& bus_;
  core::Timer& timer_;
  core::RandomSource& random_;
  const std::string inbox_;
  const std::shared_ptr<JetGate> gate_;
  const std::shared_ptr<JetRequests> requests_;
  const std::shared_ptr<JetFetches> fetches_;

 private:
  void read_directly(Reading reading) {
    ask("DIRECT.GET." + reading.stream, reading.stream, reading.what, reading.deadline,
        [done = std::move(reading.done)](core::Result<BusMessage> answer) {
          done(answer ? read_direct_message(std::move(*answer))
                      : core::Result<std::optional<StoredMessage>>(answer.error()));
        });
  }
  void read_at_leader(Reading reading) {
    ask("STREAM.MSG.GET." + reading.stream, reading.stream, reading.what, reading.deadline,
        [done = std::move(reading.done)](const auto& answer) { give_stored(answer, done); });
  }
  void on_message(BusMessage message) {
    if (!message.subject.starts_with(inbox_)) return fetches_->on_delivery(std::move(message));
    const char* digits = message.subject.c_str() + inbox_.size();
    if (*digits == 'f') return fetches_->on_status(std::strtoull(digits + 1, nullptr, 10), message);
    requests_->on_answer(std::strtoull(digits, nullptr, 10), std::move(message));
  }

  std::unique_ptr<Bus::Subscription> answers_;
  std::unique_ptr<Bus::Subscription> watch_;
};

JetStream::JetStream(std::shared_ptr<State> state) : state_(std::move(state)) {}

JetStream::~JetStream() { state_->end(); }

void JetStream::end() { state_->end(); }

core::Result<std::unique_ptr<JetStream>> JetStream::create(Bus& bus,
                                                           const link::BusSession& session,
                                                           const core::Clock& clock,
                                                           core::Timer& timer,
                                                           core::RandomSource& random) {
  auto state = std::make_shared<State>(bus, session, clock, timer, random);
  if (auto begun = state->begin(); !begun) return begun.error();
  return std::unique_ptr<JetStream>(new JetStream(std::move(state)));
}

void JetStream::ensure_stream(const StreamConfig& config, Steady deadline, Done<StreamState> done) {
  auto on_updated = [weak = std::weak_ptr(state_), name = config.name, deadline,
                     done](core::Result<BusMessage> answer) {
    auto self = weak.lock();
    bool is_refused = answer && read_refusal(answer->payload);
    if (!is_refused || !self) return give_state(answer, done);
    // The stream exists; it is used unchanged.
    self->ask("STREAM.INFO." + name, name, "", deadline,
              [done](const auto& state) { give_state(state, done); });
  };
  auto on_state = [weak = std::weak_ptr(state_), config, deadline, done,
                   on_updated](const core::Result<BusMessage>& answer) {
    auto self = weak.lock();
    auto state = answer ? read_stream_state(answer->payload) : answer.error();
    if (!state || !self) return give_state(answer, done);
    auto wanted = config;
    wanted.replicas = std::max(config.replicas, state->replicas);
    self->ask("STREAM.UPDATE." + config.name, config.name, stream_request(wanted), deadline,
              on_updated);
  };
  auto on_made = [weak = std::weak_ptr(state_), name = config.name, deadline, done,
                  on_state](core::Result<BusMessage> answer) {
    auto self = weak.lock();
    auto refusal = answer ? read_refusal(answer->payload) : std::nullopt;
    if (!refusal || refusal->number != kStreamNameInUse || !self) return give_state(answer, done);
    self->ask("STREAM.INFO." + name, name, "", deadline, on_state);
  };
  state_->create(config, deadline, on_made);
}

void JetStream::stream_state(const std::string& stream, Steady deadline, Done<StreamState> done) {
  state_->ask("STREAM.INFO." + stream, stream, "", deadline,
              [done = std::move(done)](const auto& answer) { give_state(answer, done); });
}

void JetStream::list_streams(const std::string& subject, Steady deadline,
                             Done<std::vector<StreamListing>> done) {
  state_->requests_->ask(jet_message("STREAM.LIST", json{{"subject", subject}}.dump()), deadline,
                         JetRequests::Repeat::kAlways,
                         [done = std::move(done)](const core::Result<BusMessage>& answer) {
                           auto taken = accepted(answer);
                           if (!taken) return done(taken.error());
                           done(read_stream_list(taken->payload));
                         });
}

void JetStream::delete_stream(const std::string& stream, Steady deadline, Done<void> done) {
  state_->ask("STREAM.DELETE." + stream, stream, "", deadline,
              [done = std::move(done)](const core::Result<BusMessage>& answer) {
                const auto refusal = answer ? read_refusal(answer->payload) : std::nullopt;
                if (refusal && refusal->number == kStreamNotFound) return done({});
                give_done(answer, done);
              });
}

void JetStream::publish(BusMessage message, PublishCondition condition, Steady deadline,
                        std::function<void(const PublishAck&)> done) {
  // With an id, a repetition that finds its own first attempt stored is no conflict, because the
  // broker checks the id first.
  if (condition.message_id.empty() && condition.last_sequence)
    condition.message_id = random_name(state_->random_);
  auto add = [&message](const char* name, const std::string& value) {
    message.headers.emplace_back(name, value);
  };
  if (!condition.message_id.empty()) add("Nats-Msg-Id", condition.message_id);
  if (condition.last_sequence)
    add("Nats-Expected-Last-Sequence", std::to_string(*condition.last_sequence));
  if (!condition.last_message_id.empty())
    add("Nats-Expected-Last-Msg-Id", condition.last_message_id);
  auto repeat = condition.message_id.empty() ? JetRequests::Repeat::kUnlessTaken
                                             : JetRequests::Repeat::kAlways;
  state_->requests_->ask(std::move(message), deadline, repeat,
                         [done = std::move(done)](const core::Result<BusMessage>& answer) {
                           if (answer) return done(read_publish_ack(answer->payload));
                           PublishAck failed;
                           failed.why = answer.error();
                           done(failed);
                         });
}

void JetStream::get(const std::string& stream, std::uint64_t sequence, Steady deadline,
                    Done<std::optional<StoredMessage>> done) {
  state_->read({stream, json{{"seq", sequence}}.dump(), deadline, std::move(done)});
}

void JetStream::get_next(const std::string& stream, const std::string& subject,
                         std::uint64_t sequence, Steady deadline,
                         Done<std::optional<StoredMessage>> done) {
  state_->read({stream, json{{"seq", sequence}, {"next_by_subj", subject}}.dump(), deadline,
                std::move(done)});
}

void JetStream::ensure_consumer(const std::string& stream, const ConsumerConfig& config,
                                Steady deadline, Done<std::string> done) {
  // We choose the name, so that a repetition finds the same consumer.
  std::string name =
      config.durable_name.empty() ? random_name(state_->random_) : config.durable_name;
  auto checked = check_jet_name(name);
  if (checked) checked = check_jet_name(stream);
  if (!checked) {
    return state_->refuse(checked.error(),
                          [done](const core::Result<BusMessage>& why) { done(why.error()); });
  }
  auto on_created = [weak = std::weak_ptr(state_), stream, name, deadline,
                     done = std::move(done)](const core::Result<BusMessage>& answer) {
    auto self = weak.lock();
    auto taken = accepted(answer);
    if (taken) return done(name);
    if (!answer || !self) return done(taken.error());
    // An existing consumer that cannot be changed is used as it is.
    self->ask("CONSUMER.INFO." + stream + "." + name, stream, "", deadline,
              [done, name, why = taken.error()](core::Result<BusMessage> info) {
                auto found = accepted(std::move(info));
                done(found ? core::Result<std::string>(name) : core::Result<std::string>(why));
              });
  };
  std::string what = "CONSUMER.CREATE." + stream + "." + name;
  // For the broker's permissions; a filter with wildcards cannot be part of a subject.
  bool is_plain = config.filter_subject.find_first_of("*>") == std::string::npos;
  if (is_plain && !config.filter_subject.empty()) what += "." + config.filter_subject;
  state_->ask(what, stream, consumer_request(stream, name, config), deadline, on_created);
}

void JetStream::fetch(const std::string& stream, const std::string& consumer, int batch,
                      std::chrono::milliseconds expires,
                      std::function<void(StreamDelivery)> on_message,
                      std::function<void(core::Result<void>)> on_end) {
  state_->fetches_->fetch(
      {stream, consumer, batch, expires, std::move(on_message), std::move(on_end)});
}

void JetStream::ack(const StreamDelivery& delivery) {
  (void)state_->bus_.publish({delivery.message.reply, {}, {}, "+ACK", false});
}

void JetStream::nak(const StreamDelivery& delivery, std::chrono::milliseconds delay) {
  auto nanoseconds = std::chrono::nanoseconds(delay).count();
  (void)state_->bus_.publish(
      {delivery.message.reply, {}, {}, "-NAK " + json{{"delay", nanoseconds}}.dump(), false});
}

}  // namespace league::transport::bus
