#include "player/core/history.h"

#include <algorithm>
#include <utility>

#include "common/core/enum_names.h"

namespace league::player {
namespace {

constexpr core::EnumNames<MatchVerdict, 3> kVerdicts{{"WIN", "LOSS", "DRAW"}};

std::size_t hash_of(const PlayedMatch& match) {
  const std::hash<std::string> hash;
  return hash(match.match_id.str()) ^ (hash(match.league_id.str()) << 1U);
}

}  // namespace

std::string_view verdict_name(MatchVerdict verdict) { return kVerdicts.of(verdict); }
std::optional<MatchVerdict> parse_verdict(std::string_view text) { return kVerdicts.parse(text); }

MatchHistory::MatchHistory(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 1)) {}

bool MatchHistory::add(PlayedMatch match) {
  // Nearly all matches are new, and then their hash says so without a search through thousands.
  const std::size_t hash = hash_of(match);
  const bool is_known =
      hashes_.contains(hash) && std::ranges::any_of(matches_, [&](const auto& known) {
        return known.match_id == match.match_id && known.league_id == match.league_id;
      });
  if (is_known) return false;
  switch (match.verdict) {
    case MatchVerdict::kWin:
      ++tally_.wins;
      break;
    case MatchVerdict::kLoss:
      ++tally_.losses;
      break;
    case MatchVerdict::kDraw:
      ++tally_.draws;
      break;
  }
  matches_.push_back(std::move(match));
  hashes_.insert(hash);
  if (matches_.size() > capacity_) {
    hashes_.erase(hashes_.find(hash_of(matches_.front())));
    matches_.pop_front();
  }
  return true;
}

bool MatchHistory::dispute(DisputedMatch match) {
  const bool is_known = std::any_of(disputed_.begin(), disputed_.end(), [&](const auto& known) {
    return known.match_id == match.match_id && known.league_id == match.league_id;
  });
  if (is_known) return false;
  disputed_.push_back(std::move(match));
  if (disputed_.size() > kMostDisputes) disputed_.pop_front();
  return true;
}

MatchHistory MatchHistory::restore(std::vector<PlayedMatch> matches, const ResultCounts& tally,
                                   std::size_t capacity) {
  MatchHistory history(capacity);
  for (PlayedMatch& match : matches) history.add(std::move(match));
  history.tally_ = tally;
  return history;
}

std::vector<const PlayedMatch*> MatchHistory::meetings_with(const core::LeagueId& league,
                                                            const core::PlayerId& opponent) const {
  std::vector<const PlayedMatch*> meetings;
  for (const PlayedMatch& match : matches_) {
    if (match.league_id == league && match.opponent_id == opponent && match.own_choice &&
        match.opponent_choice)
      meetings.push_back(&match);
  }
  return meetings;
}

std::vector<std::string_view> MatchHistory::choices_of(const core::LeagueId& league,
                                                       const core::PlayerId& opponent) const {
  std::vector<std::string_view> choices;
  for (const PlayedMatch& match : matches_) {
    if (match.league_id != league || match.opponent_id != opponent) continue;
    if (match.opponent_choice) choices.emplace_back(*match.opponent_choice);
  }
  return choices;
}

std::vector<std::string_view> MatchHistory::own_choices(const core::LeagueId& league) const {
  std::vector<std::string_view> choices;
  for (const PlayedMatch& match : matches_) {
    if (match.league_id == league && match.own_choice) choices.emplace_back(*match.own_choice);
  }
  return choices;
}

std::vector<int> MatchHistory::drawn_numbers(const core::LeagueId& league) const {
  std::vector<int> numbers;
  for (const PlayedMatch& match : matches_) {
    if (match.league_id == league && match.drawn_number) numbers.push_back(*match.drawn_number);
  }
  return numbers;
}

}  // namespace league::player
