#include "league_manager/league.h"

namespace league::league_manager {

std::string_view claim_verdict_name(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::kYours:
      return "YOURS";
    case ClaimVerdict::kHeld:
      return "HELD";
    case ClaimVerdict::kNotNow:
      return "NOT_NOW";
    case ClaimVerdict::kOver:
      return "OVER";
  }
  return "OVER";
}

namespace {

/// What becomes of one claim, as far as the board says; kYours for a match that waits.
ClaimVerdict verdict_on(const RoundBoard& board, int referee, const Claim& claim) {
  if (!board.contains(claim.match)) return ClaimVerdict::kOver;
  const MatchSlot& slot = board.slot(claim.match);
  if (slot.status == MatchStatus::kFinished) return ClaimVerdict::kOver;
  if (slot.status == MatchStatus::kPending) return ClaimVerdict::kYours;
  if (slot.referee() == referee) return ClaimVerdict::kYours;
  // What was queued for an earlier attempt has been queued again since.
  return claim.attempt < slot.attempts ? ClaimVerdict::kOver : ClaimVerdict::kHeld;
}

}  // namespace

ClaimDecision League::decide_claims(int referee, const std::vector<Claim>& claims,
                                    core::UtcTimestamp now) const {
  ClaimDecision decision;
  bool is_running = state_ == LeagueState::kRunning && is_round_open_;
  if (!is_running || !roster_.contains(AgentRef::referee(referee))) {
    decision.verdicts.assign(claims.size(), ClaimVerdict::kOver);
    return decision;
  }
  Draft draft(running(), now);
  const auto places = draft.places();
  for (const auto& claim : claims) {
    auto verdict = verdict_on(draft.board(), referee, claim);
    if (verdict == ClaimVerdict::kYours &&
        draft.board().slot(claim.match).status == MatchStatus::kPending) {
      const MatchSlot& slot = draft.board().slot(claim.match);
      if (can_take(draft.board(), places, referee, slot)) {
        draft.add(MatchAssigned{claim.match, slot.attempts + 1, referee, std::nullopt});
      } else {
        verdict = ClaimVerdict::kNotNow;
      }
    }
    decision.verdicts.push_back(verdict);
  }
  decision.events = std::move(draft).take();
  return decision;
}

}  // namespace league::league_manager
