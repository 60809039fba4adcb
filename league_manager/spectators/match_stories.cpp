#include "league_manager/spectators/match_stories.h"

namespace league::league_manager {

std::optional<MatchKey> MatchStories::take(const Event& event) {
  if (const auto* assigned = std::get_if<MatchAssigned>(&event.body)) {
    add_step(assigned->match, {event.at, assigned->attempt, assigned->referee});
    return assigned->match;
  }
  if (const auto* released = std::get_if<MatchReleased>(&event.body)) {
    add_step(released->match, {event.at, released->attempt, -1, released->reason});
    return released->match;
  }
  if (const auto* reported = std::get_if<MatchReported>(&event.body)) {
    stories_[reported->match].evidence = reported->evidence;
    return reported->match;
  }
  if (const auto* forfeited = std::get_if<MatchForfeited>(&event.body)) return forfeited->match;
  if (const auto* disputed = std::get_if<MatchDisputed>(&event.body)) return disputed->match;
  if (const auto* acted = std::get_if<OperatorActed>(&event.body)) return acted->match;
  return std::nullopt;
}

void MatchStories::add_step(MatchKey match, MatchStory::Step step) {
  auto& steps = stories_[match].steps;
  if (steps.size() == kMostSteps) steps.erase(steps.begin());
  steps.push_back(std::move(step));
  while (stories_.size() > most_) stories_.erase(stories_.begin());
}

const MatchStory* MatchStories::find(MatchKey match) const {
  const auto found = stories_.find(match);
  return found == stories_.end() ? nullptr : &found->second;
}

}  // namespace league::league_manager
