#include "league_manager/core/assignment.h"

#include <algorithm>
#include <tuple>

namespace league::league_manager {

std::vector<int> plan_round(int matches, std::span<const RefereePlace> referees,
                            std::span<const int> totals, const KeptApart& kept_apart) {
  std::vector<int> planned(referees.size());
  std::vector<int> plan;
  plan.reserve(static_cast<std::size_t>(matches));
  auto burden = [&](std::size_t i) {
    // The first wave fills every place of every referee once; the next one begins only when all are
    // full.
    return std::tuple(planned[i] / std::max(referees[i].capacity, 1), planned[i], totals[i]);
  };
  auto least_burdened = [&](int number, bool keeps_apart) {
    int best = -1;
    for (std::size_t i = 0; i < referees.size(); ++i) {
      if (!referees[i].active || (keeps_apart && kept_apart(number, static_cast<int>(i)))) continue;
      if (best < 0 || burden(i) < burden(static_cast<std::size_t>(best)))
        best = static_cast<int>(i);
    }
    return best;
  };
  for (int number = 1; number <= matches; ++number) {
    int best = least_burdened(number, kept_apart != nullptr);
    if (best < 0 && kept_apart) best = least_burdened(number, false);
    if (best >= 0) ++planned[static_cast<std::size_t>(best)];
    plan.push_back(best);
  }
  return plan;
}

namespace {

/// Counts the places that one call of next_assignments gives out.
class Placer {
 public:
  Placer(const RoundBoard& board, std::span<const RefereePlace> referees,
         const KeptApart& kept_apart)
      : board_(board), referees_(referees), kept_apart_(kept_apart) {
    for (int i = 0; i < board.referees(); ++i) {
      const auto& one = referees[static_cast<std::size_t>(i)];
      open_.push_back(board.open_count(i));
      if (!one.active) continue;
      ++active_;
      free_ += std::max(one.capacity - open_.back(), 0);
    }
  }

  [[nodiscard]] bool any_free() const { return free_ > 0; }

  [[nodiscard]] bool can_take(int referee, events::MatchKey match) const {
    if (referee < 0) return false;
    const auto& one = referees_[static_cast<std::size_t>(referee)];
    if (!one.active || open_[static_cast<std::size_t>(referee)] >= one.capacity) return false;
    return may_have(referee, match) && !should_leave(referee, match);
  }

  [[nodiscard]] int least_loaded(events::MatchKey match) const {
    int best = -1;
    auto burden = [this](int i) {
      return std::pair(open_[static_cast<std::size_t>(i)], board_.assigned_total(i));
    };
    for (int i = 0; i < board_.referees(); ++i) {
      if (can_take(i, match) && (best < 0 || burden(i) < burden(best))) best = i;
    }
    return best;
  }

  void take(int referee) {
    ++open_[static_cast<std::size_t>(referee)];
    --free_;
  }

 private:
  [[nodiscard]] bool may_have(int referee, events::MatchKey match) const {
    const MatchSlot& slot = board_.slot(match);
    return slot.is_excused || referee != slot.referee() || active_ == 1;
  }
  /// Whether the two are kept apart and another active referee may have the match, now or later.
  [[nodiscard]] bool should_leave(int referee, events::MatchKey match) const {
    if (!kept_apart_ || !kept_apart_(match.number, referee)) return false;
    for (int i = 0; i < board_.referees(); ++i) {
      if (referees_[static_cast<std::size_t>(i)].active && may_have(i, match) &&
          !kept_apart_(match.number, i))
        return true;
    }
    return false;
  }

  const RoundBoard& board_;
  std::span<const RefereePlace> referees_;
  const KeptApart& kept_apart_;
  std::vector<int> open_;
  int active_ = 0;
  int free_ = 0;
};

}  // namespace

std::vector<Placement> next_assignments(const RoundBoard& board,
                                        std::span<const RefereePlace> referees,
                                        const KeptApart& kept_apart, const SlowMatches& is_slow) {
  std::vector<Placement> placements;
  Placer placer(board, referees, kept_apart);
  if (!placer.any_free()) return placements;
  std::vector<events::MatchKey> others;
  auto pending = board.with_status(MatchStatus::kPending);
  if (is_slow) std::stable_partition(pending.begin(), pending.end(), std::not_fn(is_slow));
  for (events::MatchKey match : pending) {
    if (!placer.any_free()) break;
    // After an excused release the match goes back to the same referee, which may still be playing
    // it and starts it over.
    const MatchSlot& slot = board.slot(match);
    int planned = slot.is_excused ? slot.referee() : slot.planned_referee;
    if (placer.can_take(planned, match)) {
      placer.take(planned);
      placements.push_back({match, planned});
    } else {
      others.push_back(match);
    }
  }
  for (events::MatchKey match : others) {
    if (!placer.any_free()) break;
    int referee = placer.least_loaded(match);
    if (referee < 0) continue;
    placer.take(referee);
    placements.push_back({match, referee});
  }
  return placements;
}

}  // namespace league::league_manager
