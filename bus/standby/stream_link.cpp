#include "bus/standby/stream_link.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "bus/standby/stream_format.h"
#include "common/transport/link/subject.h"

namespace league::league_manager::stream {
namespace {

using namespace std::chrono_literals;
using transport::bus::PublishAck;

/// After which a replica has asked again.
constexpr std::chrono::milliseconds kPatience = 2s;
constexpr int kBatch = 256;
constexpr std::chrono::milliseconds kFetch = 5s;

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
      report_(std::move(report)) {}

core::Clock::Steady StreamLink::soon() const { return clock_.steady_now() + kPatience; }

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

void StreamLink::carry(const Publish& request) {
  if (request.message.kind != MessageKind::kOpen) return publish(request);
  const auto config =
      stream_config(options_.league, request.incarnation, options_.replicas, options_.max_bytes);
  streams_.ensure_stream(config, soon(),
                         [this, request](const core::Result<transport::bus::StreamState>& made) {
                           if (made) return publish(request);
                           if (made.error().code != core::ErrorCode::kInvalidReply) return;
                           report_(Published{request.incarnation, request.message.id,
                                             Published::Status::kFailed, 0, made.error().message});
                         });
}

void StreamLink::publish(const Publish& request) {
  transport::bus::PublishCondition condition;
  condition.message_id = core::to_hex(request.message.id);
  condition.last_sequence = request.expected_sequence;
  if (request.expects_id && request.expected_sequence.value_or(0) > 0)
    condition.last_message_id = core::to_hex(request.message.previous);
  streams_.publish(write_message(options_.league, request.incarnation, request.message),
                   std::move(condition), soon(),
                   [report = report_, of = Published{request.incarnation, request.message.id}](
                       const PublishAck& ack) {
                     if (auto fact = published(of, ack)) report(std::move(*fact));
                   });
}

void StreamLink::carry(const Read& request) {
  streams_.get(transport::link::journal_stream(options_.league, request.incarnation),
               request.sequence, soon(), [report = report_, request](const auto& found) {
                 if (!found) return;
                 ReadDone fact{request.incarnation, request.sequence, std::nullopt};
                 if (*found) fact.message = message_of((**found).message);
                 report(std::move(fact));
               });
}

void StreamLink::carry(const Inspect& request) {
  streams_.list_streams(
      transport::link::journal_subjects(options_.league), soon(),
      [this, request](const core::Result<std::vector<transport::bus::StreamListing>>& found) {
        if (!found) {
          std::lock_guard lock(mutex_);
          trouble_ = found.error().message;
          return;
        }
        Inspected fact{request.sent, {}};
        std::vector<std::pair<std::uint64_t, StreamRoom>> rooms;
        for (const auto& [name, created, state] : *found) {
          const auto incarnation = transport::link::journal_incarnation(options_.league, name);
          if (!incarnation) continue;
          fact.streams.push_back({*incarnation, std::hash<std::string>()(created),
                                  state.first_sequence, state.last_sequence, state.messages});
          rooms.emplace_back(*incarnation, StreamRoom{state.bytes, state.max_bytes});
        }
        {
          std::lock_guard lock(mutex_);
          rooms_ = std::move(rooms);
          trouble_.clear();
        }
        report_(std::move(fact));
      });
}

void StreamLink::carry(const Follow& request) {
  std::uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    number = ++follows_;
  }
  transport::bus::ConsumerConfig config;
  config.start_sequence = request.sequence;
  config.is_acknowledged = false;
  const std::string stream = transport::link::journal_stream(options_.league, request.incarnation);
  streams_.ensure_consumer(stream, config, soon(),
                           [this, stream, request, number](const core::Result<std::string>& made) {
                             if (made) fetch(stream, *made, request, number);
                           });
}

/// Goes on until there is a later Follow; if the consumer is gone, the replica asks for another.
void StreamLink::fetch(const std::string& stream, const std::string& consumer,
                       const Follow& request, std::uint64_t number) {
  {
    std::lock_guard lock(mutex_);
    if (number != follows_) return;
  }
  streams_.fetch(
      stream, consumer, kBatch, kFetch,
      [report = report_,
       incarnation = request.incarnation](const transport::bus::StreamDelivery& delivery) {
        report(Delivered{incarnation, delivery.sequence, message_of(delivery.message)});
      },
      [this, stream, consumer, request, number](const core::Result<void>& ended) {
        if (ended) fetch(stream, consumer, request, number);
      });
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
