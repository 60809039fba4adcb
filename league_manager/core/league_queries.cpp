#include <algorithm>

#include "league_manager/core/league.h"

namespace league::league_manager {

LeagueStatus League::status() const {
  LeagueStatus status;
  status.state = state_;
  status.players = roster_.taken(events::AgentKind::kPlayer);
  status.referees = roster_.taken(events::AgentKind::kReferee);
  status.current_round = board_.round();
  status.total_rounds = schedule_.rounds();
  status.total_matches = schedule_.total_matches() - voided_.size();
  if (is_ended_ && state_ == LeagueState::kCompleted)
    status.total_matches = static_cast<std::size_t>(finished_.total_matches);
  status.finished = finished_;
  status.started_at = started_at_;
  status.completed_at = completed_at_;
  return status;
}

std::vector<RankedPlayer> League::table() const {
  if (state_ != LeagueState::kRegistering) return standings_.table();
  std::vector<RankedPlayer> table;
  for (int i = 0; i < roster_.count(events::AgentKind::kPlayer); ++i) {
    if (is_seated(events::AgentRef::player(i)))
      table.push_back({.rank = 1, .player = i, .tally = {}});
  }
  return table;
}

std::optional<events::CompactResult> League::finished_result(events::MatchKey match) const {
  auto round = static_cast<std::size_t>(match.round - 1);
  if (round < results_.size()) {
    const events::CompactResult& result =
        results_[round][static_cast<std::size_t>(match.number - 1)];
    return result.is_unplayed ? std::nullopt : std::optional(result);
  }
  if (!board_.contains(match) || board_.slot(match).status != MatchStatus::kFinished)
    return std::nullopt;
  return board_.slot(match).result;
}

std::optional<MatchView> League::match(events::MatchKey match) const {
  if (!schedule_.contains(match)) return std::nullopt;
  MatchView view;
  view.match = match;
  view.pairing = schedule_.pairing(match);
  view.result = finished_result(match);
  if (view.result) {
    view.status = MatchStatus::kFinished;
    view.attempt = view.result->attempt;
    view.referee = view.result->referee;
  } else if (board_.contains(match)) {
    const MatchSlot& slot = board_.slot(match);
    view.status = slot.status;
    view.attempt = slot.attempts;
    view.referee = slot.status == MatchStatus::kAssigned ? slot.referee() : slot.planned_referee;
  }
  return view;
}

std::vector<MatchView> League::earlier_meetings(events::MatchKey match) const {
  std::vector<MatchView> earlier;
  for (const events::MatchKey one : schedule_.earlier_matches(match)) {
    const auto result = finished_result(one);
    if (result && !result->is_voided) earlier.push_back(*this->match(one));
  }
  return earlier;
}

std::vector<MatchView> League::schedule_page(std::size_t offset, std::size_t limit) const {
  std::vector<MatchView> page;
  auto total = schedule_.total_matches();
  if (offset >= total) return page;
  auto end = offset + std::min(limit, total - offset);
  page.reserve(end - offset);
  for (auto i = offset; i < end; ++i) page.push_back(*match(schedule_.match_at(i)));
  return page;
}

std::optional<MatchView> League::next_match(int player) const {
  if (player < 0 || player >= schedule_.players()) return std::nullopt;
  for (int round = std::max(board_.round(), 1); round <= schedule_.rounds(); ++round) {
    auto key = schedule_.match_of(player, round);
    if (key && !finished_result(*key)) return match(*key);
  }
  return std::nullopt;
}

std::string League::technical_reason(events::MatchKey match) const {
  const auto found = technical_reasons_.find(match);
  return found != technical_reasons_.end() ? found->second : std::string();
}

std::vector<MatchView> League::finished_matches(int player) const {
  std::vector<MatchView> finished;
  if (player < 0 || player >= schedule_.players()) return finished;
  for (int round = 1; round <= board_.round(); ++round) {
    const auto key = schedule_.match_of(player, round);
    const auto result = key ? finished_result(*key) : std::nullopt;
    if (result && !result->is_voided) finished.push_back(*match(*key));
  }
  return finished;
}

std::optional<events::MatchSummary> League::round_summary(int round) const {
  if (round < 1 || static_cast<std::size_t>(round) > summaries_.size()) return std::nullopt;
  return summaries_[static_cast<std::size_t>(round - 1)];
}

}  // namespace league::league_manager
