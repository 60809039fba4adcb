#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "league_manager/events/events.h"

namespace league::league_manager::view {

/// The history of one match, from the journal.
struct MatchTimeline {
  struct Step {
    core::UtcTimestamp at;
    int attempt = 0;
    int referee = -1;  ///< the referee that got the match; -1: the match was taken back
    std::string reason = {};  ///< why it was taken back
  };
  std::vector<Step> steps;  ///< the last kMostSteps
  std::optional<events::ReportEvidence> evidence;  ///< nothing before the report
};

/// The timelines of the last matches, in bounded memory. Not thread-safe.
class MatchTimelines {
 public:
  static constexpr std::size_t kMostSteps = 20;  ///< of one match
  /// Keeps at most this many matches; those of the first rounds are dropped first.
  explicit MatchTimelines(std::size_t most) : most_(most) {}

  /// Takes the next event of the journal. Returns the match that the event is about, if any.
  std::optional<events::MatchKey> take(const events::Event& event);
  /// Null if the match is unknown, or no longer kept.
  [[nodiscard]] const MatchTimeline* find(events::MatchKey match) const;

 private:
  void add_step(events::MatchKey match, MatchTimeline::Step step);

  const std::size_t most_;
  std::map<events::MatchKey, MatchTimeline> timelines_;
};

}  // namespace league::league_manager::view
