#pragma once

#include <cstddef>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/core/ids.h"
#include "common/core/result.h"

namespace league::player {

/// How a match ended for the player that remembers it.
enum class MatchVerdict { kWin, kLoss, kDraw };
/// `WIN`, `LOSS`, `DRAW`.
[[nodiscard]] std::string_view verdict_name(MatchVerdict verdict);
[[nodiscard]] std::optional<MatchVerdict> parse_verdict(std::string_view text);

/// A finished match as its player knows it from GAME_OVER.
struct PlayedMatch {
  core::LeagueId league_id{};
  std::string league_key{};  ///< the league's identity; empty where it has told none
  core::MatchId match_id{};
  int round_id = 0;  ///< 0 where it is not known
  core::PlayerId opponent_id{};
  MatchVerdict verdict = MatchVerdict::kDraw;
  bool is_technical = false;
  std::optional<std::string> own_choice = std::nullopt;  ///< nothing: the match ended without it
  std::optional<std::string> opponent_choice = std::nullopt;  ///< likewise
  std::optional<int> drawn_number = std::nullopt;

  bool operator==(const PlayedMatch&) const = default;
};

/// A match whose result the player disputes.
struct DisputedMatch {
  core::LeagueId league_id{};
  std::string league_key{};  ///< as above
  core::MatchId match_id{};
  int round_id = 0;  ///< 0 where it is not known
  core::PlayerId opponent_id{};
  std::string reason{};  ///< what is wrong, for people; contains no secret

  bool operator==(const DisputedMatch&) const = default;
};

/// The number of matches won, lost and drawn.
struct ResultCounts {
  int wins = 0;
  int losses = 0;
  int draws = 0;

  bool operator==(const ResultCounts&) const = default;
};

/// What a player remembers: its last matches, oldest first, the tally of all of them, and what it
/// disputes. Look-ups need the league, since the same id belongs to another bot in another league.
/// Not thread-safe.
class MatchHistory {
 public:
  static constexpr std::size_t kDefaultCapacity = 10'000;
  static constexpr std::size_t kMostDisputes = 1'000;

  explicit MatchHistory(std::size_t capacity = kDefaultCapacity);

  /// Remembers `match`; false, without a change, if it is remembered already (GAME_OVER can arrive
  /// twice). Beyond the capacity the oldest match is forgotten, but still counted in the tally.
  bool add(PlayedMatch match);

  /// Remembers that the player disputes a match; false if it does so already. A dispute does not
  /// end the match, and stays if a correct GAME_OVER follows. Only the newest disputes are kept.
  bool dispute(DisputedMatch match);

  [[nodiscard]] const std::deque<PlayedMatch>& matches() const { return matches_; }
  [[nodiscard]] const std::deque<DisputedMatch>& disputed() const { return disputed_; }
  [[nodiscard]] const ResultCounts& tally() const { return tally_; }
  /// What `opponent` chose in matches of `league` against us, oldest first. These texts and that
  /// of `last_own_choice` are valid until the history changes.
  [[nodiscard]] std::vector<std::string_view> choices_of(const core::LeagueId& league,
                                                         const core::PlayerId& opponent) const;
  /// The matches of `league` against `opponent` in which both chose, oldest first.
  [[nodiscard]] std::vector<const PlayedMatch*> meetings_with(const core::LeagueId& league,
                                                              const core::PlayerId& opponent) const;
  /// Our own last choice in `league`.
  [[nodiscard]] std::optional<std::string_view> last_own_choice(const core::LeagueId& league) const;
  /// The numbers drawn in our matches in `league`, oldest first.
  [[nodiscard]] std::vector<int> drawn_numbers(const core::LeagueId& league) const;

  /// Restores a history: `matches` oldest first, of which the newest that fit are kept, and the
  /// tally of all that were ever added.
  [[nodiscard]] static MatchHistory restore(std::vector<PlayedMatch> matches,
                                            const ResultCounts& tally, std::size_t capacity);

  /// What they remember.
  bool operator==(const MatchHistory& other) const;

 private:
  /// The matches of `league` against `opponent`, oldest first.
  [[nodiscard]] std::vector<const PlayedMatch*> against(const core::LeagueId& league,
                                                        const core::PlayerId& opponent) const;
  void forget_oldest();

  std::size_t capacity_;
  std::deque<PlayedMatch> matches_;
  std::size_t forgotten_ = 0;  ///< matches: the number of the first of matches_
  std::unordered_multiset<std::size_t> hashes_;  ///< of league and match of each of matches_
  // Matches are numbered in the order of add().
  std::unordered_map<std::size_t, std::size_t>
      newest_;  ///< by the hash of league and opponent, the number of their newest match
  std::deque<std::optional<std::size_t>> previous_;  ///< of each of matches_, with the same hash
  std::deque<DisputedMatch> disputed_;
  ResultCounts tally_;
};

/// The contents of `history.json`: `schema_version`, `player_id`, `stats`, `matches`, and
/// `disputed` if there are disputes.
[[nodiscard]] nlohmann::json history_to_json(const MatchHistory& history,
                                             const core::PlayerId& player);

/// The owner of a history.
struct HistoryOwner {
  core::PlayerId player_id{};
  std::string display_name;
  /// A league that the player has just entered: matches of it in the file are those of an earlier
  /// league with the same name. Empty: the player is back in a league, or in none yet.
  core::LeagueId new_league{};
};

/// The whole content of `history.json`.
[[nodiscard]] std::string history_text(const MatchHistory& history, const HistoryOwner& owner);

/// Reads what `history_to_json` wrote; unknown fields are ignored. An Error with the JSON pointer
/// of the field for anything else, never an exception.
[[nodiscard]] core::Result<MatchHistory> history_from_json(
    const nlohmann::json& json, std::size_t capacity = MatchHistory::kDefaultCapacity);

}  // namespace league::player
