#include "league_manager/journal_stream.h"

#include <nlohmann/json.hpp>

#include "common/transport/bus/subject.h"

namespace league::league_manager {
namespace {

using nlohmann::json;

core::Error unreadable_piece(const std::string& why) {
  return {core::ErrorCode::kInvalidReply,
          "a message of the journal's stream cannot be read: " + why, ""};
}

}  // namespace

std::string write_piece(const JournalPiece& piece) {
  json records = json::array();
  for (const auto& record : piece.records)
    records.push_back({{"type", record.type}, {"payload", record.payload}});
  json out = {{"term", piece.term},
              {"first_sequence", piece.first_sequence},
              {"records", std::move(records)}};
  if (piece.has_more) out["more"] = true;
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

core::Result<JournalPiece> read_piece(std::string_view payload) {
  try {
    json in = json::parse(payload);
    JournalPiece piece;
    in.at("term").get_to(piece.term);
    in.at("first_sequence").get_to(piece.first_sequence);
    for (const auto& record : in.at("records"))
      piece.records.push_back(
          {record.at("type").get<std::string>(), record.at("payload").get<std::string>()});
    piece.has_more = in.value("more", false);
    if (piece.term < 1 || piece.first_sequence < 1) return unreadable_piece("numbers begin at 1");
    return piece;
  } catch (const json::exception& problem) {
    return unreadable_piece(problem.what());
  }
}

std::string write_had(const JournalHad& had) {
  return json{{"term", had.term}, {"sequence", had.sequence}}.dump();
}

core::Result<JournalHad> read_had(std::string_view payload) {
  json in = json::parse(payload, nullptr, false);
  if (!in.is_object() || !in.contains("term") || !in["term"].is_number_integer() ||
      !in.contains("sequence") || !in["sequence"].is_number_unsigned())
    return unreadable_piece("it does not say what a follower has");
  return JournalHad{in["term"].get<int>(), in["sequence"].get<std::uint64_t>()};
}

transport::StreamConfig journal_stream(const std::string& league) {
  transport::StreamConfig config;
  config.name = transport::league_stream("JOURNAL", league);
  config.subjects = {transport::journal_subject(league)};
  return config;
}

transport::StreamConfig lease_stream(std::chrono::milliseconds length) {
  transport::StreamConfig config;
  config.name = kLeaseStream;
  config.subjects = {"$KV.league_lease.>"};
  config.max_age = length;
  config.max_messages_per_subject = 1;
  return config;
}

}  // namespace league::league_manager
