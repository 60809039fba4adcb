#include "common/envelope/match_record.h"

#include <nlohmann/json.hpp>

#include "common/schema/fields.h"

namespace league::envelope {

void describe(schema::Fields& a, RecordedCall& s) {
  a.required("message_type", s.message_type);
  a.defaulted("attempt", s.attempt);
  a.defaulted("play", s.play);
  a.defaulted("at", s.at);
  a.optional("answered_at", s.answered_at);
  a.optional("answer_ms", s.answer_ms);
  a.optional("accept", s.accept);
  a.optional("choice_commitment", s.choice_commitment);
  a.optional("parity_choice", s.parity_choice);
  a.optional("choice_nonce", s.choice_nonce);
  a.optional("opponent_commitment", s.opponent_commitment);
  a.optional("receipt", s.receipt);
  a.optional("refused", s.refused);
  a.optional("reason", s.reason);
  a.unless("caller_fault", s.is_callers_fault, false);
}

void describe(schema::Fields& a, MatchRecord& s) {
  a.required("match_id", s.match_id);
  a.required("player_id", s.player_id);
  a.required("calls", s.calls);
}

nlohmann::json encode_match_record(const MatchRecord& record) { return schema::to_json(record); }

core::Result<MatchRecord> decode_match_record(const nlohmann::json& record) {
  constexpr std::size_t kMostCalls = 64;
  auto decoded = schema::read<MatchRecord>(record);
  if (decoded && decoded->calls.size() > kMostCalls)
    return core::Error{core::ErrorCode::kInvalidFieldValue, "calls has more than 64 entries",
                       "/calls"};
  return decoded;
}

}  // namespace league::envelope
