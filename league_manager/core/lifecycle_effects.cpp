#include "league_manager/core/lifecycle_effects.h"

namespace league::league_manager {

void apply_to_lifecycles(const Event& event, const Schedule& schedule,
                         const std::function<AgentLifecycle&(AgentRef)>& lifecycle_of) {
  if (const auto* failure = std::get_if<FailureCounted>(&event.body)) {
    if (!failure->is_excused) lifecycle_of(failure->agent).count_failure(failure->match);
  } else if (const auto* change = std::get_if<AgentStateChanged>(&event.body)) {
    lifecycle_of(change->agent)
        .enter(change->to, event.at, change->reason, change->detail.value_or(std::string()));
  } else if (const auto* report = std::get_if<MatchReported>(&event.body)) {
    Pairing pairing = schedule.pairing(report->match);
    const bool played = !report->result.is_technical();
    const auto winner = game::winner_of(report->result.outcome);
    if (played || winner == game::Side::kA)
      lifecycle_of(AgentRef::player(pairing.player_a)).count_success();
    if (played || winner == game::Side::kB)
      lifecycle_of(AgentRef::player(pairing.player_b)).count_success();
    lifecycle_of(AgentRef::referee(report->referee)).count_success();
  }
}

}  // namespace league::league_manager
