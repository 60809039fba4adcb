#include "bus/standby/stream_link.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "bus/standby/stream_format.h"
#include "bus/transport/kept_tasks.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/transport/link/signals.h"
#include "common/transport/link/subject.h"

namespace league::league_manager::stream {
namespace {

using namespace std::chrono_literals;
using transport::bus::PublishAck;

/// After which a replica has asked again.
constexpr std::chrono::milliseconds kPatience = 2s;
constexpr int kBatch = 256;
constexpr std::chrono::milliseconds kFetch = 5s;
/// In which a manager that leads has sent heartbeats.
constexpr std::chrono::milliseconds kListen = 2s;

/// What cannot be read is nobody's message: it has no writer, and follows no other.
Message message_of(const transport::bus::BusMessage& message) {
  auto read = read_message(message);
  return read ? std::move(*read) : Message{};
}

std::optional<Published> published(Published fact, const PublishAck& ack) {
  fact.sequence = ack.sequence;
  fact.why = ack.why.message;
  switch (ack.status) {
    case PublishAck::Status::kStored:
      fact.status = Published::Status::kStored;
      return fact;
    case PublishAck::Status::kConflict:
      fact.status = Published::Status::kConflict;
      return fact;
    case PublishAck::Status::kFull:
      fact.status = Published::Status::kFull;
      return fact;
    case PublishAck::Status::kFailed:
      if (ack.why.code != core::ErrorCode::kInvalidReply) return std::nullopt;  // no answer
      fact.status = Published::Status::kFailed;
      return fact;
  }
  return std::nullopt;
}

}  // namespace

StreamLink::StreamLink(transport::bus::Bus& bus, transport::bus::JetStream& streams,
                       const core::Clock& clock, StreamLinkOptions options, Report report)
    : bus_(bus),
      streams_(streams),
      clock_(clock),
      options_(std::move(options)),
      report_(std::move(report)),
      tasks_(task::Executor(), agent::runtime::failures_logged("the journal's stream")) {}

core::Clock::Steady StreamLink::soon() const { return clock_.steady_now() + kPatience; }

core::Result<std::string> StreamLink::leader_heard(transport::link::StopSignal& stop) {
  std::mutex mutex;
  std::string leader;
  auto heard = bus_.subscribe(transport::link::journal_beat_subject(options_.league), "",
                              [&](const transport::bus::BusMessage& message) {
                                auto beat = read_heartbeat(message.payload);
                                if (!beat || !beat->is_leading) return;
                                std::lock_guard lock(mutex);
                                leader = beat->name;
                              });
  if (!heard) return heard.error();
  (void)stop.wait_for(kListen);
  heard->reset();
  return leader;
}

task::Task<StreamLink::Removed> StreamLink::remove_all() {
  const auto found =
      co_await streams_.list_streams(transport::link::journal_subjects(options_.league), soon());
  if (!found) co_return found.error();
  for (const auto& each : *found) {
    auto removed = co_await streams_.delete_stream(each.name, soon());
    if (!removed) co_return removed;
  }
  co_return Removed();
}

core::Result<void> StreamLink::remove_streams(transport::link::StopSignal& stop) {
  auto leader = leader_heard(stop);
  if (!leader) return leader.error();
  if (!leader->empty())
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "--new would remove league " + options_.league + ", which '" + *leader +
                           "' leads: end that manager first, or choose another --league",
                       ""};
  for (;;) {
    auto removed = transport::bus::run_to_end(remove_all());
    const bool is_silent =
        !removed && removed.error().code == core::ErrorCode::kConnectionError;  // or starting
    if (!is_silent || stop.wait_for(0ms) >= 0) return removed;
  }
}

core::Result<void> StreamLink::begin() {
  auto heard = bus_.subscribe(transport::link::journal_beat_subject(options_.league), "",
                              [report = report_](const transport::bus::BusMessage& message) {
                                auto beat = read_heartbeat(message.payload);
                                if (beat) report(std::move(*beat));
                              });
  if (!heard) return heard.error();
  heartbeats_ = std::move(*heard);
  return {};
}

task::Task<void> StreamLink::publish(Publish request) {
  Published fact{request.incarnation, request.message.id};
  if (request.message.kind == MessageKind::kOpen) {
    const auto made = co_await streams_.ensure_stream(
        stream_config(options_.league, request.incarnation, options_.replicas, options_.max_bytes),
        soon());
    if (!made) {
      fact.why = made.error().message;
      if (made.error().code == core::ErrorCode::kInvalidReply) report_(std::move(fact));
      co_return;
    }
  }
  transport::bus::PublishCondition condition;
  condition.message_id = core::to_hex(request.message.id);
  condition.last_sequence = request.expected_sequence;
  if (request.expects_id && request.expected_sequence.value_or(0) > 0)
    condition.last_message_id = core::to_hex(request.message.previous);
  const PublishAck ack = co_await streams_.publish(
      write_message(options_.league, request.incarnation, request.message), std::move(condition),
      soon());
  if (auto answer = published(std::move(fact), ack)) report_(std::move(*answer));
}

task::Task<void> StreamLink::read(Read request) {
  const auto found =
      co_await streams_.get(transport::link::journal_stream(options_.league, request.incarnation),
                            request.sequence, soon());
  if (!found) co_return;
  ReadDone fact{request.incarnation, request.sequence, std::nullopt};
  if (*found) fact.message = message_of((**found).message);
  report_(std::move(fact));
}

task::Task<void> StreamLink::inspect(Inspect request) {
  const auto found =
      co_await streams_.list_streams(transport::link::journal_subjects(options_.league), soon());
  Inspected fact{request.sent, {}};
  {
    std::lock_guard lock(mutex_);
    trouble_ = found ? std::string() : found.error().message;
    if (!found) co_return;
    rooms_.clear();
    for (const auto& [name, created, state] : *found) {
      const auto incarnation = transport::link::journal_incarnation(options_.league, name);
      if (!incarnation) continue;
      fact.streams.push_back({*incarnation, std::hash<std::string>()(created), state.first_sequence,
                              state.last_sequence, state.messages});
      rooms_.emplace_back(*incarnation, StreamRoom{state.bytes, state.max_bytes});
    }
  }
  report_(std::move(fact));
}

void StreamLink::carry(const Follow& request) {
  following_.cancel();
  following_ = tasks_.spawn(follow(request));
}

task::Task<void> StreamLink::follow(Follow request) {
  transport::bus::ConsumerConfig config;
  config.start_sequence = request.sequence;
  config.is_acknowledged = false;
  const std::string stream = transport::link::journal_stream(options_.league, request.incarnation);
  const auto consumer = co_await streams_.ensure_consumer(stream, config, soon());
  for (bool has_consumer = static_cast<bool>(consumer); has_consumer;) {
    transport::bus::FetchRequest wanted{stream, *consumer, kBatch, kFetch, nullptr};
    wanted.on_message = [this, request](const transport::bus::StreamDelivery& delivery) {
      report_(Delivered{request.incarnation, delivery.sequence, message_of(delivery.message)});
    };
    has_consumer = static_cast<bool>(co_await streams_.fetch(std::move(wanted)));
  }
}

void StreamLink::carry(const Heartbeat& heartbeat) {
  (void)bus_.publish({transport::link::journal_beat_subject(options_.league),
                      {},
                      {},
                      write_heartbeat(heartbeat),
                      false});
}

std::string StreamLink::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

StreamRoom StreamLink::room(std::uint64_t incarnation) const {
  std::lock_guard lock(mutex_);
  for (const auto& [known, room] : rooms_)
    if (known == incarnation) return room;
  return {};
}

}  // namespace league::league_manager::stream
