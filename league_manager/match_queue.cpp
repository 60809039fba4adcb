#include "league_manager/match_queue.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace league::league_manager {

/// The matches that wait, where anybody comes for them.
std::vector<QueueKeeper::Waiting> QueueKeeper::waiting_matches(const League& league) {
  std::vector<Waiting> waiting;
  if (league.state() != LeagueState::kRunning) return waiting;
  auto referees = league.roster().agents(AgentKind::kReferee);
  bool any_comes = std::ranges::any_of(
      referees, [](const Agent& referee) { return referee.profile.takes_from_queue; });
  if (!any_comes) return waiting;
  for (MatchKey match : league.board().with_status(MatchStatus::kPending))
    waiting.push_back({match, league.board().slot(match).attempts + 1});
  return waiting;
}

/// One that is over: whoever takes it from the queue is told so, and nothing more happens.
std::optional<MatchKey> QueueKeeper::finished_match(const League& league) {
  if (league.state() != LeagueState::kRunning) return std::nullopt;
  const auto& board = league.board();
  if (board.round() > 1) return MatchKey{board.round() - 1, 1};
  auto finished = board.with_status(MatchStatus::kFinished);
  return finished.empty() ? std::nullopt : std::optional(finished.front());
}

QueueKeeper::QueueKeeper(Ledger& ledger, MatchQueue& queue, const core::Clock& clock,
                         std::chrono::milliseconds patience, bool works)
    : ledger_(ledger), queue_(queue), clock_(clock), patience_(patience), is_working_(works) {}

void QueueKeeper::sync() {
  auto [waiting, finished] = ledger_.read([](const League& league) {
    return std::pair(waiting_matches(league), finished_match(league));
  });
  std::vector<Offer> offers;
  {
    std::lock_guard lock(mutex_);
    offers = due_offers(waiting, finished);
  }
  for (const auto& [one, repetition] : offers) {
    queue_.offer(one.match, one.attempt, repetition,
                 [this, match = one.match](OfferOutcome outcome, const std::string& why) {
                   on_offered(match, outcome, why);
                 });
  }
}

std::vector<QueueKeeper::Offer> QueueKeeper::due_offers(const std::vector<Waiting>& waiting,
                                                        std::optional<MatchKey> finished) {
  constexpr int kMostDoublings = 6;
  auto now = clock_.steady_now();
  std::vector<Offer> offers;
  std::map<MatchKey, Offered> kept;
  for (const auto& one : waiting) {
    auto known = offered_.find(one.match);
    bool is_new = known == offered_.end() || known->second.attempt != one.attempt;
    Offered offered = is_new ? Offered{one.attempt, -1} : known->second;
    if (is_working_ && (is_new || now >= offered.due)) {
      ++offered.repetitions;
      offered.due = now + patience_ * (1 << std::min(offered.waits++, kMostDoublings));
      offers.push_back({one, offered.repetitions});
    }
    kept.emplace(one.match, offered);
  }
  offered_ = std::move(kept);
  return is_working_ ? offers : next_trial(waiting, finished);
}

/// Nothing but a match that it takes shows that a queue works again.
std::vector<QueueKeeper::Offer> QueueKeeper::next_trial(const std::vector<Waiting>& waiting,
                                                        std::optional<MatchKey> finished) {
  bool is_any = !waiting.empty() || finished;
  if (!is_any || clock_.steady_now() < trial_due_ || std::exchange(is_tried_, true)) return {};
  if (waiting.empty()) return {{{*finished, 1}, ++trials_}};
  auto& offered = offered_[waiting.front().match];
  // Never the first one: before a repetition the stream is looked for, and made where it is lost.
  offered.repetitions = std::max(offered.repetitions + 1, 1);
  return {{waiting.front(), offered.repetitions}};
}

void QueueKeeper::offer_all_anew() {
  for (auto& [match, offered] : offered_) {
    offered.waits = 0;
    offered.due = {};
  }
}

void QueueKeeper::on_offered(MatchKey match, OfferOutcome outcome, const std::string& why) {
  const bool works = outcome == OfferOutcome::kTaken;
  {
    std::lock_guard lock(mutex_);
    const bool was_trial = std::exchange(is_tried_, false);
    auto known = offered_.find(match);
    if (outcome == OfferOutcome::kUnknown) {
      if (known != offered_.end()) known->second.waits = 0, known->second.due = {};
      return;
    }
    if (!works && was_trial) {
      trial_due_ = clock_.steady_now() + trial_pause_;
      trial_pause_ = std::min(2 * trial_pause_, kLongestPause);
    }
    if (std::exchange(is_working_, works) == works) return;
    trial_due_ = {};
    trial_pause_ = kFirstPause;
    offer_all_anew();
    if (works && known != offered_.end()) known->second.due = clock_.steady_now() + patience_;
    ledger_.use_queue(works);
  }
  if (works) {
    spdlog::info("the queue of matches works again: referees come for them");
  } else {
    spdlog::warn("the queue of matches does not work, so they are given out until it does: {}",
                 why);
  }
}

}  // namespace league::league_manager
