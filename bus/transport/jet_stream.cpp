#include "bus/transport/jet_stream.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "bus/transport/handler_gate.h"
#include "bus/transport/jet_requests.h"
#include "bus/transport/jet_stream_api.h"
#include "bus/transport/kept_tasks.h"

namespace league::transport::bus {
namespace {

using nlohmann::json;
using task::Task;
using Answer = JetRequests::Answer;
using Stored = core::Result<std::optional<StoredMessage>>;

BusMessage jet_message(const std::string& what, std::string payload) {
  return {jet_subject(what), {}, {}, std::move(payload), false};
}

std::string random_name(core::RandomSource& random) { return link::BusSession::make(random).str(); }

std::optional<JetRefusal> refusal_in(const Answer& answer) {
  return answer ? read_refusal(answer->payload) : std::nullopt;
}

/// The error of an answer that is a refusal, or did not come.
core::Result<void> accepted(const Answer& answer) {
  if (!answer) return answer.error();
  if (auto refusal = read_refusal(answer->payload)) return refusal_error(*refusal);
  return {};
}

core::Result<StreamState> state_in(const Answer& answer) {
  auto taken = accepted(answer);
  return taken ? read_stream_state(answer->payload) : taken.error();
}

Stored stored_in(const Answer& answer) {
  const auto refusal = refusal_in(answer);
  if (refusal && refusal->number == kNoMessageFound) return std::optional<StoredMessage>();
  if (auto taken = accepted(answer); !taken) return taken.error();
  auto stored = read_stored_message(answer->payload);
  if (!stored) return stored.error();
  return std::optional<StoredMessage>(std::move(*stored));
}

}  // namespace

/// Everything happens on its executor. Its tasks keep it; they end when it does.
struct JetStream::State : std::enable_shared_from_this<State> {
  explicit State(const SessionOnBus& on)
      : bus(on.bus),
        random(on.random),
        inbox(link::session_inbox(on.session, "js-" + random_name(random) + ".")),
        requests(JetParts{bus, on.clock, on.timer, inbox}),
        fetches(JetParts{bus, on.clock, on.timer, inbox}) {}

  core::Result<void> begin() {
    auto heard = bus.subscribe(inbox + "*", "", [self = shared_from_this()](BusMessage message) {
      self->executor.post(
          [self, message = std::move(message)]() mutable { self->on_message(std::move(message)); });
    });
    if (!heard) return heard.error();
    answers = std::move(*heard);
    watch = bus.watch([self = shared_from_this()](bool is_connected) {
      self->executor.post([self, is_connected] {
        is_connected ? self->requests.ask_all_again() : self->fetches.on_lost();
      });
    });
    return {};
  }
  void end() {
    end_on(executor, [self = shared_from_this()] {
      self->answers.reset();
      self->watch.reset();
      self->requests.end();
      self->fetches.end();
    });
  }
  void on_message(BusMessage message) {
    if (!message.subject.starts_with(inbox)) return fetches.on_delivery(std::move(message));
    const char* digits = message.subject.c_str() + inbox.size();
    if (*digits == 'f') return fetches.on_status(std::strtoull(digits + 1, nullptr, 10), message);
    requests.on_answer(std::strtoull(digits, nullptr, 10), std::move(message));
  }

  Bus& bus;
  core::RandomSource& random;
  const task::Executor executor;
  const std::string inbox;
  JetRequests requests;
  JetFetches fetches;
  std::unique_ptr<Bus::Subscription> answers;
  std::unique_ptr<Bus::Subscription> watch;
};

JetStream::JetStream(std::shared_ptr<State> state) : state_(std::move(state)) {}

JetStream::~JetStream() { state_->end(); }

void JetStream::end() { state_->end(); }

core::Result<std::unique_ptr<JetStream>> JetStream::create(const SessionOnBus& on) {
  auto state = std::make_shared<State>(on);
  if (auto begun = state->begin(); !begun) return begun.error();
  return std::unique_ptr<JetStream>(new JetStream(std::move(state)));
}

Task<JetStream::Answer> JetStream::send(BusMessage request, Steady deadline, bool is_safe) {
  const auto repeat = is_safe ? JetRequests::Repeat::kAlways : JetRequests::Repeat::kUnlessTaken;
  return task::called_back<Answer>(
      [state = state_, request = std::move(request), deadline, repeat](auto then) mutable {
        give(state->executor, state, state->requests.ask(std::move(request), deadline, repeat),
             std::move(then));
      });
}

Task<JetStream::Answer> JetStream::ask(std::string what, std::string name, std::string payload,
                                       Steady deadline) {
  if (auto checked = check_jet_name(name); !checked) co_return checked.error();
  co_return co_await send(jet_message(what, std::move(payload)), deadline);
}

JetStream::Answered<StreamState> JetStream::stream_state(std::string stream, Steady deadline) {
  co_return state_in(co_await ask("STREAM.INFO." + stream, stream, "", deadline));
}

/// Creates the stream, with half the limit as often as the broker has no room for the whole.
Task<JetStream::Answer> JetStream::create(StreamConfig config, Steady deadline) {
  constexpr std::int64_t kLeast = 64 << 10;
  for (;;) {
    Answer answer =
        co_await ask("STREAM.CREATE." + config.name, config.name, stream_request(config), deadline);
    const auto refusal = refusal_in(answer);
    if (!refusal || config.max_bytes < 0 || !is_refused_for_room(*refusal)) co_return answer;
    // The stream may also exist already: the broker checks the space before the name.
    config.max_bytes = config.max_bytes / 2 >= kLeast ? config.max_bytes / 2 : -1;
  }
}

JetStream::Answered<StreamState> JetStream::ensure_stream(StreamConfig config, Steady deadline) {
  const Answer made = co_await create(config, deadline);
  const auto refusal = refusal_in(made);
  if (!refusal || refusal->number != kStreamNameInUse) co_return state_in(made);
  const auto state = co_await stream_state(config.name, deadline);
  if (!state) co_return state;
  config.replicas = std::max(config.replicas, state->replicas);
  const Answer updated =
      co_await ask("STREAM.UPDATE." + config.name, config.name, stream_request(config), deadline);
  if (!refusal_in(updated)) co_return state_in(updated);
  // The stream exists; it is used unchanged.
  co_return co_await stream_state(config.name, deadline);
}

JetStream::Answered<std::vector<StreamListing>> JetStream::list_streams(std::string subject,
                                                                        Steady deadline) {
  const json payload = {{"subject", std::move(subject)}};
  const Answer answer = co_await send(jet_message("STREAM.LIST", payload.dump()), deadline);
  if (auto taken = accepted(answer); !taken) co_return taken.error();
  co_return read_stream_list(answer->payload);
}

JetStream::Answered<void> JetStream::delete_stream(std::string stream, Steady deadline) {
  const Answer answer = co_await ask("STREAM.DELETE." + stream, stream, "", deadline);
  const auto refusal = refusal_in(answer);
  if (refusal && refusal->number == kStreamNotFound) co_return core::Result<void>();
  co_return accepted(answer);
}

Task<PublishAck> JetStream::publish(BusMessage message, PublishCondition condition,
                                    Steady deadline) {
  // With an id, a repetition that finds its own first attempt stored is no conflict, because the
  // broker checks the id first.
  if (condition.message_id.empty() && condition.last_sequence)
    condition.message_id = random_name(state_->random);
  auto add = [&message](const char* name, const std::string& value) {
    message.headers.emplace_back(name, value);
  };
  if (!condition.message_id.empty()) add("Nats-Msg-Id", condition.message_id);
  if (condition.last_sequence)
    add("Nats-Expected-Last-Sequence", std::to_string(*condition.last_sequence));
  if (!condition.last_message_id.empty())
    add("Nats-Expected-Last-Msg-Id", condition.last_message_id);
  const Answer answer = co_await send(std::move(message), deadline, !condition.message_id.empty());
  if (answer) co_return read_publish_ack(answer->payload);
  PublishAck failed;
  failed.why = answer.error();
  co_return failed;
}

/// By DIRECT.GET, which the stream itself answers, if it does: nobody would say that there is no
/// such stream. The other request, STREAM.MSG.GET, crashes nats-server 2.9.10 if another client
/// creates a stream at the same moment.
Task<Stored> JetStream::read(std::string stream, std::string what, Steady deadline) {
  const auto state = co_await stream_state(stream, deadline);
  if (!state) co_return state.error();
  if (!state->is_direct)
    co_return stored_in(co_await ask("STREAM.MSG.GET." + stream, stream, what, deadline));
  Answer answer = co_await ask("DIRECT.GET." + stream, stream, what, deadline);
  if (!answer) co_return answer.error();
  co_return read_direct_message(std::move(*answer));
}

Task<Stored> JetStream::get(std::string stream, std::uint64_t sequence, Steady deadline) {
  return read(std::move(stream), json{{"seq", sequence}}.dump(), deadline);
}

Task<Stored> JetStream::get_next(std::string stream, std::string subject, std::uint64_t sequence,
                                 Steady deadline) {
  const json what = {{"seq", sequence}, {"next_by_subj", std::move(subject)}};
  return read(std::move(stream), what.dump(), deadline);
}

JetStream::Answered<std::string> JetStream::ensure_consumer(std::string stream,
                                                            ConsumerConfig config,
                                                            Steady deadline) {
  // We choose the name, so that a repetition finds the same consumer.
  const std::string name =
      config.durable_name.empty() ? random_name(state_->random) : config.durable_name;
  if (auto checked = check_jet_name(name); !checked) co_return checked.error();
  std::string what = "CONSUMER.CREATE." + stream + "." + name;
  // For the broker's permissions; a filter with wildcards cannot be part of a subject.
  const bool is_plain = config.filter_subject.find_first_of("*>") == std::string::npos;
  if (is_plain && !config.filter_subject.empty()) what += "." + config.filter_subject;
  const Answer answer =
      co_await ask(std::move(what), stream, consumer_request(stream, name, config), deadline);
  const auto made = accepted(answer);
  if (made) co_return name;
  if (!answer) co_return made.error();
  // An existing consumer that cannot be changed is used as it is.
  const Answer found = co_await ask("CONSUMER.INFO." + stream + "." + name, stream, "", deadline);
  if (!accepted(found)) co_return made.error();
  co_return name;
}

JetStream::Answered<void> JetStream::fetch(FetchRequest wanted) {
  const auto gate = std::make_shared<HandlerGate<StreamDelivery>>(std::move(wanted.on_message));
  wanted.on_message = [gate](StreamDelivery delivery) { gate->run(std::move(delivery)); };
  const Bus::Subscription until_end([gate] { gate->close(); });
  co_return co_await task::called_back<core::Result<void>>([&](auto then) {
    give(state_->executor, state_, state_->fetches.fetch(std::move(wanted)), std::move(then));
  });
}

void JetStream::ack(const StreamDelivery& delivery) {
  (void)state_->bus.publish({delivery.message.reply, {}, {}, "+ACK", false});
}

void JetStream::nak(const StreamDelivery& delivery, std::chrono::milliseconds delay) {
  auto nanoseconds = std::chrono::nanoseconds(delay).count();
  (void)state_->bus.publish(
      {delivery.message.reply, {}, {}, "-NAK " + json{{"delay", nanoseconds}}.dump(), false});
}

}  // namespace league::transport::bus
