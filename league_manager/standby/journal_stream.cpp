#include "league_manager/standby/journal_stream.h"

#include <nlohmann/json.hpp>

#include "common/core/compression.h"
#include "common/transport/link/subject.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager::standby {
namespace {

using nlohmann::json;

constexpr const char* kSync = "sync";
constexpr const char* kAsync = "async";
constexpr std::string_view kPackedEnding = ".packed";
/// The limit when unpacking, far more than a manager packs into one piece.
constexpr std::size_t kMostUnpacked = 64 << 20;

core::Error unreadable_piece(const std::string& why) {
  return {core::ErrorCode::kInvalidReply,
          "a message of the journal's stream cannot be read: " + why, ""};
}

}  // namespace

transport::bus::BusMessage write_piece(const std::string& league, const JournalPiece& piece) {
  json records = json::array();
  for (const auto& record : piece.records)
    records.push_back({{"type", record.type}, {"payload", record.payload}});
  json out = {{"term", piece.term},
              {"first_sequence", piece.first_sequence},
              {"records", std::move(records)}};
  if (piece.has_more) out["more"] = true;
  if (piece.replication)
    out["replication"] = *piece.replication == Replication::kSync ? kSync : kAsync;
  transport::bus::BusMessage message;
  message.payload = out.dump(-1, ' ', false, json::error_handler_t::replace);
  message.subject = transport::link::journal_subject(league);
  if (!piece.is_packed) return message;
  message.subject = transport::link::packed_journal_subject(league);
  message.payload = core::compress(message.payload);
  return message;
}

core::Result<JournalPiece> read_piece(const transport::bus::BusMessage& message) {
  JournalPiece piece;
  piece.is_packed = message.subject.ends_with(kPackedEnding);
  auto text = piece.is_packed ? core::decompress(message.payload, kMostUnpacked)
                              : core::Result<std::string>(message.payload);
  if (!text) return unreadable_piece(text.error().message);
  try {
    json in = events::parse_journal_json(*text);
    in.at("term").get_to(piece.term);
    in.at("first_sequence").get_to(piece.first_sequence);
    for (const auto& record : in.at("records"))
      piece.records.push_back(
          {record.at("type").get<std::string>(), record.at("payload").get<std::string>()});
    piece.has_more = in.value("more", false);
    if (auto rule = in.find("replication"); rule != in.end())
      piece.replication = *rule == kSync ? Replication::kSync : Replication::kAsync;
    if (piece.term < 1 || piece.first_sequence < 1) return unreadable_piece("numbers begin at 1");
    return piece;
  } catch (const std::exception& problem) {
    return unreadable_piece(problem.what());
  }
}

std::string write_follower_position(const FollowerPosition& had) {
  return json{{"term", had.term}, {"sequence", had.sequence}}.dump();
}

core::Result<FollowerPosition> read_follower_position(std::string_view payload) {
  json in = json::parse(payload, nullptr, false);
  if (!in.is_object() || !in.contains("term") || !in["term"].is_number_integer() ||
      !in.contains("sequence") || !in["sequence"].is_number_unsigned())
    return unreadable_piece("it does not say which position a follower has reached");
  return FollowerPosition{in["term"].get<int>(), in["sequence"].get<std::uint64_t>()};
}

std::int64_t stream_bytes(long max_mib) {
  constexpr int kMebibyte = 20;
  return max_mib == 0 ? -1 : std::int64_t{max_mib} << kMebibyte;
}

transport::bus::StreamConfig journal_stream(const std::string& league, long max_mib) {
  transport::bus::StreamConfig config;
  config.name = transport::link::league_stream("JOURNAL", league);
  config.subjects = {transport::link::journal_subject(league),
                     transport::link::packed_journal_subject(league)};
  config.max_bytes = stream_bytes(max_mib);
  // Refuse new messages rather than drop the oldest: without its beginning a journal is useless.
  config.refuses_when_full = true;
  return config;
}

transport::bus::StreamConfig lease_stream(const std::string& league,
                                          std::chrono::milliseconds length) {
  transport::bus::StreamConfig config;
  config.name = transport::link::lease_stream(league);
  config.subjects = {transport::link::lease_subject(league)};
  config.max_age = length;
  config.max_messages_per_subject = 1;
  config.max_bytes = stream_bytes(1);
  return config;
}

}  // namespace league::league_manager::standby
