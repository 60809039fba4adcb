#include "bus/standby/stream_format.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "bus/standby/json_digest.h"
#include "common/core/compression.h"
#include "common/transport/link/subject.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager::stream {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kKinds = {"open", "entries", "claim", "affirm"};
constexpr const char* kId = "Nats-Msg-Id";
/// The first byte of a gzip member, which JSON never begins with.
constexpr char kGzip = '\x1f';
constexpr std::size_t kWorthCompressing = 2048;
/// The limit when decompressing, far more than a manager puts into one message.
constexpr std::size_t kMost = 64 << 20;

core::Error unreadable(const std::string& why) {
  return {core::ErrorCode::kInvalidReply, "it is no message of this league's managers: " + why, ""};
}

json position(const JournalPosition& place) {
  return {{"sequence", place.sequence}, {"digest", core::to_hex(place.digest)}};
}

JournalPosition position(const json& place) {
  return {place.at("sequence").get<std::uint64_t>(), digest_of(place.at("digest"))};
}

Message message_of(const json& in) {
  Message message;
  const auto kind = std::ranges::find(kKinds, in.at("kind").get<std::string>());
  if (kind == kKinds.end()) throw std::invalid_argument("of an unknown kind");
  message.kind = static_cast<MessageKind>(kind - kKinds.begin());
  in.at("writer").get_to(message.writer);
  in.at("term").get_to(message.term);
  in.at("first").get_to(message.first);
  in.at("last").get_to(message.last);
  for (const json& record : in.at("records"))
    message.records.push_back({record.at(0).get<std::string>(), record.at(1).get<std::string>()});
  message.has_more = in.value("more", false);
  message.digest = digest_of(in.at("digest"));
  in.at("members").get_to(message.members);
  if (in.contains("lose_after")) message.lose_after = in["lose_after"].get<std::uint64_t>();
  message.previous = digest_of(in.at("previous"));
  const bool has_entries = message.kind == MessageKind::kEntries;
  if (has_entries &&
      (message.last < message.first || message.records.size() != message.last - message.first + 1))
    throw std::invalid_argument("it has other entries than it says");
  return message;
}

Heartbeat heartbeat_of(const json& in) {
  Heartbeat beat;
  in.at("name").get_to(beat.name);
  in.at("stream").get_to(beat.incarnation);
  in.at("term").get_to(beat.term);
  in.at("leads").get_to(beat.is_leading);
  beat.journal = position(in.at("journal"));
  beat.acknowledged = position(in.at("acknowledged"));
  in.at("members").get_to(beat.members);
  beat.sent = Time(in.at("sent").get<std::int64_t>());
  for (const json& other : in.at("heard"))
    beat.heard.push_back({other.at("name").get<std::string>(),
                          Time(other.at("sent").get<std::int64_t>()),
                          other.at("in_sync").get<bool>()});
  return beat;
}

}  // namespace

transport::bus::BusMessage write_message(const std::string& league, std::uint64_t incarnation,
                                         const Message& message) {
  json records = json::array();
  for (const auto& record : message.records)
    records.push_back(json::array({record.type, record.payload}));
  json out = {{"kind", kKinds.at(static_cast<std::size_t>(message.kind))},
              {"writer", message.writer},
              {"term", message.term},
              {"first", message.first},
              {"last", message.last},
              {"records", std::move(records)},
              {"digest", core::to_hex(message.digest)},
              {"members", message.members},
              {"previous", core::to_hex(message.previous)}};
  if (message.has_more) out["more"] = true;
  if (message.lose_after) out["lose_after"] = *message.lose_after;
  transport::bus::BusMessage sent;
  sent.subject = transport::link::journal_subject(league, incarnation);
  sent.payload = out.dump(-1, ' ', false, json::error_handler_t::replace);
  if (sent.payload.size() > kWorthCompressing) sent.payload = core::compress(sent.payload);
  return sent;
}

core::Result<Message> read_message(const transport::bus::BusMessage& message) {
  auto text = message.payload.starts_with(kGzip) ? core::decompress(message.payload, kMost)
                                                 : core::Result<std::string>(message.payload);
  if (!text) return unreadable(text.error().message);
  try {
    Message read = message_of(events::parse_journal_json(*text));
    read.id = digest_of(std::string(transport::bus::bus_header(message, kId)));
    return read;
  } catch (const std::exception& problem) {
    return unreadable(problem.what());
  }
}

std::string write_heartbeat(const Heartbeat& beat) {
  json heard = json::array();
  for (const auto& [name, sent, is_in_sync] : beat.heard)
    heard.push_back({{"name", name}, {"sent", sent.count()}, {"in_sync", is_in_sync}});
  return json{{"name", beat.name},
              {"stream", beat.incarnation},
              {"term", beat.term},
              {"leads", beat.is_leading},
              {"journal", position(beat.journal)},
              {"acknowledged", position(beat.acknowledged)},
              {"members", beat.members},
              {"sent", beat.sent.count()},
              {"heard", std::move(heard)}}
      .dump();
}

core::Result<Heartbeat> read_heartbeat(std::string_view payload) {
  try {
    return heartbeat_of(events::parse_journal_json(payload));
  } catch (const std::exception& problem) {
    return unreadable(problem.what());
  }
}

transport::bus::StreamConfig stream_config(const std::string& league, std::uint64_t incarnation,
                                           int replicas, std::int64_t max_bytes) {
  transport::bus::StreamConfig config;
  config.name = transport::link::journal_stream(league, incarnation);
  config.subjects = {transport::link::journal_subject(league, incarnation)};
  config.max_bytes = max_bytes;
  config.refuses_when_full = true;
  config.denies_removal = true;
  config.replicas = replicas;
  return config;
}

}  // namespace league::league_manager::stream
