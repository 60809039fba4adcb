#include "league_manager/core/match_slot.h"

namespace league::league_manager {

int MatchSlot::last_attempt_of(int referee) const {
  for (int attempt = attempts; attempt > 0 && attempt > attempts - kKnownAttempts; --attempt) {
    if (referee_of(attempt) == referee) return attempt;
  }
  return 0;
}

}  // namespace league::league_manager
