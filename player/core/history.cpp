#include "player/core/history.h"

#include <algorithm>
#include <utility>

#include "common/core/enum_names.h"

namespace league::player {
namespace {

constexpr core::EnumNames<MatchVerdict, 3> kVerdicts{{"WIN", "LOSS", "DRAW"}};

std::size_t hash_in(const core::LeagueId& league, const std::string& id) {
  const std::hash<std::string> hash;
  return hash(id) ^ (hash(league.str()) << 1U);
}

std::size_t hash_of(const PlayedMatch& match) {
  return hash_in(match.league_id, match.match_id.str());
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
  const std::size_t number = forgotten_ + matches_.size();
  const auto [newest, is_first] =
      newest_.try_emplace(hash_in(match.league_id, match.opponent_id.str()), number);
  previous_.push_back(is_first ? std::nullopt
                               : std::optional(std::exchange(newest->second, number)));
  matches_.push_back(std::move(match));
  hashes_.insert(hash);
  if (matches_.size() > capacity_) forget_oldest();
  return true;
}

void MatchHistory::forget_oldest() {
  const PlayedMatch& oldest = matches_.front();
  hashes_.erase(hashes_.find(hash_of(oldest)));
  const auto newest = newest_.find(hash_in(oldest.league_id, oldest.opponent_id.str()));
  if (newest->second == forgotten_) newest_.erase(newest);
  matches_.pop_front();
  previous_.pop_front();
  ++forgotten_;
}

bool MatchHistory::operator==(const MatchHistory& other) const {
  return capacity_ == other.capacity_ && matches_ == other.matches_ &&
         disputed_ == other.disputed_ && tally_ == other.tally_;
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

std::vector<const PlayedMatch*> MatchHistory::against(const core::LeagueId& league,
                                                      const core::PlayerId& opponent) const {
  std::vector<const PlayedMatch*> found;
  const auto newest = newest_.find(hash_in(league, opponent.str()));
  std::optional<std::size_t> number;
  if (newest != newest_.end()) number = newest->second;
  for (; number && *number >= forgotten_; number = previous_[*number - forgotten_]) {
    const PlayedMatch& match = matches_[*number - forgotten_];
    if (match.league_id == league && match.opponent_id == opponent) found.push_back(&match);
  }
  std::ranges::reverse(found);
  return found;
}

std::vector<const PlayedMatch*> MatchHistory::meetings_with(const core::LeagueId& league,
                                                            const core::PlayerId& opponent) const {
  auto meetings = against(league, opponent);
  std::erase_if(meetings,
                [](const auto* match) { return !match->own_choice || !match->opponent_choice; });
  return meetings;
}

std::vector<std::string_view> MatchHistory::choices_of(const core::LeagueId& league,
                                                       const core::PlayerId& opponent) const {
  std::vector<std::string_view> choices;
  for (const PlayedMatch* match : against(league, opponent)) {
    if (match->opponent_choice) choices.emplace_back(*match->opponent_choice);
  }
  return choices;
}

std::optional<std::string_view> MatchHistory::last_own_choice(const core::LeagueId& league) const {
  for (auto match = matches_.rbegin(); match != matches_.rend(); ++match) {
    if (match->league_id == league && match->own_choice) return *match->own_choice;
  }
  return std::nullopt;
}

std::vector<int> MatchHistory::drawn_numbers(const core::LeagueId& league) const {
  std::vector<int> numbers;
  for (const PlayedMatch& match : matches_) {
    if (match.league_id == league && match.drawn_number) numbers.push_back(*match.drawn_number);
  }
  return numbers;
}

}  // namespace league::player
