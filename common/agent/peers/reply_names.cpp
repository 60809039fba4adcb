#include "common/agent/peers/reply_names.h"

#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"

namespace league::agent::peers {

using core::ErrorCode;
using envelope::Leniency;
using nlohmann::json;

core::Result<void> compare_names(const PeerCall& call, const envelope::Envelope& reply,
                                 envelope::Mode mode, envelope::Leniencies& taken) {
  const auto& defaults = call.reply_defaults;
  struct Name {
    bool is_other;
    Leniency leniency;
    ErrorCode code;
    std::string_view field;
    std::string wanted;
  };
  const bool is_other_round = call.round_id && reply.round_id && *reply.round_id != *call.round_id;
  const bool is_other_league =
      call.league_id && reply.league_id && *reply.league_id != *call.league_id;
  const Name names[] = {
      {defaults.sender && reply.sender.str() != *defaults.sender, Leniency::kForeignReplySender,
       ErrorCode::kSenderMismatch, "sender", defaults.sender.value_or("")},
      {defaults.conversation_id && reply.conversation_id != *defaults.conversation_id,
       Leniency::kForeignConversationId, ErrorCode::kInvalidReply, "conversation_id",
       call.conversation_id},
      {is_other_league, Leniency::kForeignLeagueId, ErrorCode::kLeagueIdMismatch, "league_id",
       is_other_league ? call.league_id->str() : ""},
      {is_other_round, Leniency::kForeignRoundId, ErrorCode::kInvalidFieldValue, "round_id",
       is_other_round ? std::to_string(*call.round_id) : ""},
  };
  for (const auto& name : names) {
    if (!name.is_other) continue;
    if (mode == envelope::Mode::kStrict) {
      const std::string field(name.field);
      return core::Error{
          name.code, "strict mode: " + field + " must be " + name.wanted + ", as this call says",
          "/" + field};
    }
    taken.add(name.leniency);
  }
  return {};
}

bool names_other_player(const envelope::AnswerMessage& answer,
                        const std::optional<core::PlayerId>& called) {
  if (!called) return false;
  if (const auto* ack = std::get_if<envelope::GameJoinAck>(&answer))
    return ack->player_id != *called;
  const auto* choice = std::get_if<envelope::ChooseParityResponse>(&answer);
  return choice != nullptr && choice->player_id != *called;
}

void note_foreign_player(dialects::IncomingReply& reply,
                         const std::optional<core::PlayerId>& called) {
  const json& said = schema::field_at(reply.message, "player_id");
  if (!called || !said.is_string() || said == called->str()) return;
  reply.message["player_id"] = called->str();
  reply.leniencies.add(Leniency::kForeignReplyPlayer);
}

}  // namespace league::agent::peers
