#include "league_manager/view/match_timelines.h"

namespace league::league_manager::view {

std::optional<events::MatchKey> MatchTimelines::take(const events::Event& event) {
  if (const auto* assigned = std::get_if<events::MatchAssigned>(&event.body)) {
    add_step(assigned->match, {event.at, assigned->attempt, assigned->referee});
    return assigned->match;
  }
  if (const auto* released = std::get_if<events::MatchReleased>(&event.body)) {
    add_step(released->match, {event.at, released->attempt, -1, released->reason});
    return released->match;
  }
  if (const auto* reported = std::get_if<events::MatchReported>(&event.body)) {
    timelines_[reported->match].evidence = reported->evidence;
    return reported->match;
  }
  if (const auto* forfeited = std::get_if<events::MatchForfeited>(&event.body))
    return forfeited->match;
  if (const auto* disputed = std::get_if<events::MatchDisputed>(&event.body))
    return disputed->match;
  if (const auto* acted = std::get_if<events::OperatorActed>(&event.body)) return acted->match;
  return std::nullopt;
}

void MatchTimelines::add_step(events::MatchKey match, MatchTimeline::Step step) {
  auto& steps = timelines_[match].steps;
  if (steps.size() == kMostSteps) steps.erase(steps.begin());
  steps.push_back(std::move(step));
  while (timelines_.size() > most_) timelines_.erase(timelines_.begin());
}

const MatchTimeline* MatchTimelines::find(events::MatchKey match) const {
  const auto found = timelines_.find(match);
  return found == timelines_.end() ? nullptr : &found->second;
}

}  // namespace league::league_manager::view
