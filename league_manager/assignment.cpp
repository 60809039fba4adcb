#include "league_manager/assignment.h"

#include <algorithm>
#include <tuple>

namespace league::league_manager {

std::vector<int> plan_round(int matches, std::span<const RefereePlace> referees,
                            std::span<const int> totals) {
  std::vector<int> planned(referees.size());
  std::vector<int> plan;
  plan.reserve(static_cast<std::size_t>(matches));
  auto burden = [&](std::size_t i) {
    // Wave 0 fills every place once, evenly; only when all are full does wave 1 begin.
    return std::tuple(planned[i] / std::max(referees[i].capacity, 1), planned[i], totals[i]);
  };
  for (int match = 0; match < matches; ++match) {
    int best = -1;
    for (std::size_t i = 0; i < referees.size(); ++i) {
      if (!referees[i].active) continue;
      if (best < 0 || burden(i) < burden(static_cast<std::size_t>(best)))
        best = static_cast<int>(i);
    }
    if (best >= 0) ++planned[static_cast<std::size_t>(best)];
    plan.push_back(best);
  }
  return plan;
}

namespace {

/// Places given out in one call of next_assignments.
class Placer {
 public:
  Placer(const RoundBoard& board, std::span<const RefereePlace> referees)
      : board_(board), referees_(referees) {
    for (int i = 0; i < board.referees(); ++i) {
      const auto& one = referees[static_cast<std::size_t>(i)];
      open_.push_back(board.open_count(i));
      if (!one.active) continue;
      ++active_;
      if (!one.takes_from_queue) waits_to_be_given_ = true;
      free_ += std::max(one.capacity - open_.back(), 0);
    }
  }

  [[nodiscard]] bool any_free() const { return free_ > 0; }
  /// Whether any referee is given matches that are not urgent.
  [[nodiscard]] bool any_waits_to_be_given() const { return waits_to_be_given_; }

  [[nodiscard]] bool can_take(int referee, const MatchSlot& slot) const {
    if (referee < 0) return false;
    const auto& one = referees_[static_cast<std::size_t>(referee)];
    if (!one.active || open_[static_cast<std::size_t>(referee)] >= one.capacity) return false;
    return slot.is_excused || referee != slot.referee() || active_ == 1;
  }

  /// Whether `referee` is given the match, and does not come for it.
  [[nodiscard]] bool can_get(int referee, const MatchSlot& slot, bool is_urgent) const {
    if (!can_take(referee, slot)) return false;
    bool is_back = slot.is_excused && referee == slot.referee();
    return is_urgent || is_back || !referees_[static_cast<std::size_t>(referee)].takes_from_queue;
  }

  [[nodiscard]] int least_loaded(const MatchSlot& slot, bool is_urgent) const {
    int best = -1;
    auto burden = [this](int i) {
      return std::pair(open_[static_cast<std::size_t>(i)], board_.assigned_total(i));
    };
    for (int i = 0; i < board_.referees(); ++i) {
      if (can_get(i, slot, is_urgent) && (best < 0 || burden(i) < burden(best))) best = i;
    }
    return best;
  }

  void take(int referee) {
    ++open_[static_cast<std::size_t>(referee)];
    --free_;
  }

 private:
  const RoundBoard& board_;
  std::span<const RefereePlace> referees_;
  std::vector<int> open_;
  int active_ = 0;
  int free_ = 0;
  bool waits_to_be_given_ = false;
};

}  // namespace

bool can_take(const RoundBoard& board, std::span<const RefereePlace> referees, int referee,
              const MatchSlot& slot) {
  return Placer(board, referees).can_take(referee, slot);
}

std::vector<Placement> next_assignments(const RoundBoard& board,
                                        std::span<const RefereePlace> referees,
                                        core::UtcTimestamp queued_before) {
  std::vector<Placement> placements;
  Placer placer(board, referees);
  if (!placer.any_free()) return placements;
  struct Other {
    MatchKey match;
    bool is_urgent;
  };
  std::vector<Other> others;
  // Where all come for their matches themselves, only what is urgent or has come back is given.
  const bool is_any_given = placer.any_waits_to_be_given() || board.started_at() < queued_before;
  for (MatchKey match :
       is_any_given ? board.with_status(MatchStatus::kPending) : board.pending_again()) {
    if (!placer.any_free()) break;
    // A referee that is not to blame and may still be at it starts the match over.
    const MatchSlot& slot = board.slot(match);
    bool is_urgent = slot.since < queued_before;
    int planned = slot.is_excused ? slot.referee() : slot.planned_referee;
    if (placer.can_get(planned, slot, is_urgent)) {
      placer.take(planned);
      placements.push_back({match, planned});
    } else if (is_urgent || placer.any_waits_to_be_given()) {
      others.push_back({match, is_urgent});
    }
  }
  for (auto [match, is_urgent] : others) {
    if (!placer.any_free()) break;
    int referee = placer.least_loaded(board.slot(match), is_urgent);
    if (referee < 0) continue;
    placer.take(referee);
    placements.push_back({match, referee});
  }
  return placements;
}

}  // namespace league::league_manager
