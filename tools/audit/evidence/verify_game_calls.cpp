#include <algorithm>

#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/verify_evidence.h"
#include "tools/audit/evidence/verify_record_fields.h"

namespace league::tools::auditor {

using nlohmann::json;

std::size_t EvidenceCollector::open_game_call(const json& record, const json& message) {
  bool by_referee = agent_.starts_with("referee:") && is_out(record);
  bool to_player = agent_.starts_with("player:") && !is_out(record);
  const std::string& peer = text_at(record, "peer");
  const std::string& referee = by_referee ? agent_ : text_at(message, "sender");
  if ((!by_referee && !to_player) || !referee.starts_with("referee:")) return OpenCall::kNone;
  if (by_referee && !peer.starts_with("player:")) return OpenCall::kNone;
  GameCall call;
  call.match_id = match_in(text_at(record, "match_id"), message);
  call.conversation = text_at(record, "conversation_id");
  call.player = id_of(by_referee ? peer : agent_);
  call.referee = referee;
  call.is_invitation = type_in(record, message) == "GAME_INVITATION";
  const json& context = field_at(message, "context");
  call.knows_opponent = !call.is_invitation;
  call.opponent_commitment = text_at(context, "opponent_commitment");
  call.attempt = number_at(context, "attempt");
  call.play = number_at(context, "play");
  call.run = run_;
  call.time_us = time_us_;
  call.mono_ns = number_at(record, "mono_ns").value_or(0);
  auto deadline = instant_at(message, "deadline");
  auto sent = instant_at(message, "timestamp");
  if (deadline && sent) {
    call.stated_us = *sent;
    call.allowed_us = *deadline - *sent;
  }
  call.place = place_;
  const std::string& commitment =
      text_at(call.is_invitation ? message : context, "draw_commitment");
  call.draw_commitment = commitment;
  if (!commitment.empty())
    facts_->matches.push_back(
        {call.match_id, referee, {}, {}, {}, commitment, 0, time_us_, place_});
  facts_->calls.push_back(std::move(call));
  return facts_->calls.size() - 1;
}

void EvidenceCollector::answer(GameCall& call, const json& record, const json& message) {
  // An answer that names another match does not answer this call.
  const std::string& named = text_at(message, "match_id");
  if (!named.empty() && named != call.match_id) return;
  call.is_answered = true;
  call.is_answer_accepted = !record.contains("verdict");
  const json& accept = field_at(message, "accept");
  call.accepts =
      accept.is_boolean() ? accept.get<bool>() : message.is_object() && !message.contains("accept");
  call.commitment = text_at(message, "choice_commitment");
  const std::string& choice = text_at(message, "parity_choice");
  call.choice = choice.empty() ? text_at(message, "choice") : choice;
  call.nonce = text_at(message, "choice_nonce");
  call.receipt = text_at(message, "receipt");
  call.answered_us = time_us_;
  call.answered_mono_ns = number_at(record, "mono_ns").value_or(0);
  call.answer_place = place_;
}

/// Takes an answer that a bot sends as a call of its own.
void EvidenceCollector::take_posted_answer(const json& record, const json& message,
                                           const std::string& type) {
  bool is_ack = type == "GAME_JOIN_ACK";
  if (!is_ack && type != "CHOOSE_PARITY_RESPONSE") return;
  auto call = std::find_if(facts_->calls.rbegin(), facts_->calls.rend(), [&](const GameCall& one) {
    return one.is_invitation == is_ack && !one.is_answered &&
           one.match_id == text_at(message, "match_id") &&
           "player:" + one.player == text_at(record, "peer");
  });
  if (call != facts_->calls.rend()) answer(*call, record, message);
}

}  // namespace league::tools::auditor
