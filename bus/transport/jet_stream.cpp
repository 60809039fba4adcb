#include "bus/transport/jet_stream.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "bus/transport/jet_requests.h"
#include "bus/transport/jet_stream_api.h"
#include "bus/transport/kept_tasks.h"

namespace league::transport::bus {
namespace {

using nlohmann::json;
using task::Task;
using Answer = JetRequests::Answer;
using Steady = core::Clock::Steady;
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
class JetStream::State : public std::enable_shared_from_this<State> {
 public:
  State(Bus& bus, const link::BusSession& session, const core::Clock& clock, core::Timer& timer,
        core::RandomSource& random)
      : bus_(bus),
        random_(random),
        inbox_(link::session_inbox(session, "js-" + random_name(random) + ".")),
        requests_(JetParts{bus, clock, timer, inbox_}),
        fetches_(JetParts{bus, clock, timer, inbox_}) {}

  core::Result<void> begin() {
    auto heard = bus_.subscribe(inbox_ + "*", "", [self = shared_from_this()](BusMessage message) {
      self->executor_.post(
          [self, message = std::move(message)]() mutable { self->on_message(std::move(message)); });
    });
    if (!heard) return heard.error();
    answers_ = std::move(*heard);
    watch_ = bus_.watch([self = shared_from_this()](bool is_connected) {
      self->executor_.post([self, is_connected] {
        is_connected ? self->requests_.ask_all_again() : self->fetches_.on_lost();
      });
    });
    return {};
  }
  void end() {
    end_on(executor_, [self = shared_from_this()] {
      self->answers_.reset();
      self->watch_.reset();
      self->requests_.end();
      self->fetches_.end();
    });
  }
  /// Begins the task, and calls `done` with its result.
  template <typename T, typename Then>
  void give(Task<T> task, Then done) {
    bus::give(executor_, shared_from_this(), std::move(task), std::move(done));
  }

  /// Sends a request whose answer is JSON. Gives an error for a refusal or an invalid `name`.
  Task<Answer> ask(std::string what, std::string name, std::string payload, Steady deadline) {
    if (auto checked = check_jet_name(name); !checked) co_return checked.error();
    co_return co_await requests_.ask(jet_message(what, std::move(payload)), deadline,
                                     JetRequests::Repeat::kAlways);
  }
  Task<core::Result<StreamState>> stream_state(std::string stream, Steady deadline) {
    co_return state_in(co_await ask("STREAM.INFO." + stream, stream, "", deadline));
  }
  Task<core::Result<StreamState>> ensure_stream(StreamConfig config, Steady deadline) {
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
  Task<core::Result<std::vector<StreamListing>>> list_streams(std::string subject,
                                                              Steady deadline) {
    const json payload = {{"subject", std::move(subject)}};
    const Answer answer = co_await requests_.ask(jet_message("STREAM.LIST", payload.dump()),
                                                 deadline, JetRequests::Repeat::kAlways);
    if (auto taken = accepted(answer); !taken) co_return taken.error();
    co_return read_stream_list(answer->payload);
  }
  Task<core::Result<void>> delete_stream(std::string stream, Steady deadline) {
    const Answer answer = co_await ask("STREAM.DELETE." + stream, stream, "", deadline);
    const auto refusal = refusal_in(answer);
    if (refusal && refusal->number == kStreamNotFound) co_return core::Result<void>();
    co_return accepted(answer);
  }
  Task<PublishAck> publish(BusMessage message, JetRequests::Repeat repeat, Steady deadline) {
    const Answer answer = co_await requests_.ask(std::move(message), deadline, repeat);
    if (answer) co_return read_publish_ack(answer->payload);
    PublishAck failed;
    failed.why = answer.error();
    co_return failed;
  }
  /// By DIRECT.GET, which the stream itself answers, if it does: nobody would say that there is no
  /// such stream. The other request, STREAM.MSG.GET, crashes nats-server 2.9.10 if another client
  /// creates a stream at the same moment.
  Task<Stored> read(std::string stream, std::string what, Steady deadline) {
    const auto state = co_await stream_state(stream, deadline);
    if (!state) co_return state.error();
    if (!state->is_direct)
      co_return stored_in(co_await ask("STREAM.MSG.GET." + stream, stream, what, deadline));
    Answer answer = co_await ask("DIRECT.GET." + stream, stream, what, deadline);
    if (!answer) co_return answer.error();
    co_return read_direct_message(std::move(*answer));
  }
  Task<core::Result<std::string>> ensure_consumer(std::string stream, std::string name,
                                                  ConsumerConfig config, Steady deadline) {
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
  Task<core::Result<void>> fetch(JetFetches::FetchRequest wanted) {
    return fetches_.fetch(std::move(wanted));
  }

  Bus& bus_;
  core::RandomSource& random_;

 private:
  /// Creates the stream, with half the limit as often as the broker has no room for the whole.
  Task<Answer> create(StreamConfig config, Steady deadline) {
    constexpr std::int64_t kLeast = 64 << 10;
    for (;;) {
      Answer answer = co_await ask("STREAM.CREATE." + config.name, config.name,
                                   stream_request(config), deadline);
      const auto refusal = refusal_in(answer);
      if (!refusal || config.max_bytes < 0 || !is_refused_for_room(*refusal)) co_return answer;
      // The stream may also exist already: the broker checks the space before the name.
      config.max_bytes = config.max_bytes / 2 >= kLeast ? config.max_bytes / 2 : -1;
    }
  }
  void on_message(BusMessage message) {
    if (!message.subject.starts_with(inbox_)) return fetches_.on_delivery(std::move(message));
    const char* digits = message.subject.c_str() + inbox_.size();
    if (*digits == 'f') return fetches_.on_status(std::strtoull(digits + 1, nullptr, 10), message);
    requests_.on_answer(std::strtoull(digits, nullptr, 10), std::move(message));
  }

  const task::Executor executor_;
  const std::string inbox_;
  JetRequests requests_;
  JetFetches fetches_;
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
  state_->give(state_->ensure_stream(config, deadline), std::move(done));
}

void JetStream::stream_state(const std::string& stream, Steady deadline, Done<StreamState> done) {
  state_->give(state_->stream_state(stream, deadline), std::move(done));
}

void JetStream::list_streams(const std::string& subject, Steady deadline,
                             Done<std::vector<StreamListing>> done) {
  state_->give(state_->list_streams(subject, deadline), std::move(done));
}

void JetStream::delete_stream(const std::string& stream, Steady deadline, Done<void> done) {
  state_->give(state_->delete_stream(stream, deadline), std::move(done));
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
  state_->give(state_->publish(std::move(message), repeat, deadline), std::move(done));
}

void JetStream::get(const std::string& stream, std::uint64_t sequence, Steady deadline,
                    Done<std::optional<StoredMessage>> done) {
  state_->give(state_->read(stream, json{{"seq", sequence}}.dump(), deadline), std::move(done));
}

void JetStream::get_next(const std::string& stream, const std::string& subject,
                         std::uint64_t sequence, Steady deadline,
                         Done<std::optional<StoredMessage>> done) {
  const json what = {{"seq", sequence}, {"next_by_subj", subject}};
  state_->give(state_->read(stream, what.dump(), deadline), std::move(done));
}

void JetStream::ensure_consumer(const std::string& stream, const ConsumerConfig& config,
                                Steady deadline, Done<std::string> done) {
  // We choose the name, so that a repetition finds the same consumer.
  std::string name =
      config.durable_name.empty() ? random_name(state_->random_) : config.durable_name;
  state_->give(state_->ensure_consumer(stream, std::move(name), config, deadline), std::move(done));
}

void JetStream::fetch(const std::string& stream, const std::string& consumer, int batch,
                      std::chrono::milliseconds expires,
                      std::function<void(StreamDelivery)> on_message,
                      std::function<void(core::Result<void>)> on_end) {
  state_->give(state_->fetch({stream, consumer, batch, expires, std::move(on_message)}),
               std::move(on_end));
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
