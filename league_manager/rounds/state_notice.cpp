#include "league_manager/rounds/state_notice.h"

#include "common/core/text.h"

namespace league::league_manager::rounds {

namespace {

/// What the new state means for the agent.
std::string_view consequence_of(const events::AgentStateChanged& change, bool is_started) {
  const bool is_player = change.agent.kind == events::AgentKind::kPlayer;
  if (change.reason == events::kReasonDraining)
    return "You keep the matches that you have, and get no other until you register again.";
  switch (change.to) {
    case events::AgentState::kSuspended:
      return is_player ? "Your next match begins with a ping. If you do not answer it, you lose "
                         "the match immediately. Any answer lets you play, with one attempt per "
                         "call; a match that you do not lose technically makes you ACTIVE again."
                       : "Your matches go to other referees. You get matches again when you answer "
                         "pings or register again; if you were suspended for failed matches, only "
                         "while there is no other referee.";
    case events::AgentState::kShutdown:
      if (!is_started)
        return "Your seat, name, address and code are free again, and your token is void.";
      return is_player ? "Your matches are lost without being played until the operator of the "
                         "league restores you."
                       : "You get no matches until the operator of the league restores you.";
    case events::AgentState::kInit:
    case events::AgentState::kRegistered:
    case events::AgentState::kActive:
      break;
  }
  return is_player ? "You play your matches normally." : "You get matches again.";
}

}  // namespace

envelope::LeagueError state_notice(const events::AgentStateChanged& change, bool is_started) {
  std::string text =
      "You are " + std::string(events::agent_state_name(change.to)) + " now: " + change.reason;
  if (change.detail) text += ", " + *change.detail;
  text += ". ";
  text += consequence_of(change, is_started);
  auto notice = envelope::make_league_error(
      {core::ErrorCode::kAgentStateChanged, std::move(text), ""},
      std::string(envelope::wire_name(envelope::MessageType::kLeagueError)));
  notice.context["state"] = events::agent_state_name(change.to);
  notice.context["reason"] = change.reason;
  return notice;
}

envelope::LeagueError receipt_notice(events::MatchKey match, events::ReceiptState state) {
  const std::string id = match.id().str();
  const bool is_absent = state == events::ReceiptState::kAbsent;
  std::string text =
      "Your receipts for " + id + (is_absent ? " are missing" : " are false") +
      ": the match counts as one of a player without receipts. A receipt is the lower-case "
      "hexadecimal HMAC-SHA-256, with receipt_key as text, of the text in section 7 of the "
      "protocol";
  auto notice = envelope::make_league_error(
      {core::ErrorCode::kInvalidFieldValue, std::move(text), "/receipt"},
      std::string(envelope::wire_name(envelope::MessageType::kGameJoinAck)));
  notice.context["match_id"] = id;
  notice.context["receipts"] = events::receipt_state_name(state);
  return notice;
}

core::ConversationId receipt_conversation(events::MatchKey match) {
  return core::ConversationId("convreceipts" + core::lower_case(match.id().str()));
}

core::ConversationId state_conversation(events::AgentRef agent) {
  return core::ConversationId("convstate" + core::lower_case(agent.id()));
}

}  // namespace league::league_manager::rounds
