#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "league_manager/view/match_timelines.h"
#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {

/// Why a player lost a match technically.
enum class LossCause : std::uint8_t {
  kTimeout,
  kConnection,
  kInvalidAnswer,
  kShutDown,
  kNotItsFault,  ///< no referee finished the match, or the referee itself was late
};
inline constexpr int kLossCauses = 5;
/// `timeouts`: the heading of its column.
[[nodiscard]] std::string_view loss_cause_name(LossCause cause);

/// A match as one of its players sees it.
struct OwnMatch {
  league_manager::MatchView view;
  game::Side side = game::Side::kA;
  int opponent = 0;
  std::optional<int> points;  ///< nothing for a void match and for one without a result
  std::optional<LossCause> lost_technically;
  std::vector<std::int64_t> answered_in_us;  ///< for its answers that counted
};

/// The figures of one player in a league.
struct PlayerFigures {
  league_manager::RankedPlayer row;
  std::vector<OwnMatch> matches;  ///< those that have begun, by round
  std::map<std::string, std::uint64_t> leniencies;  ///< and how often each was needed, proven
  /// Others, which count for nothing, by the agent whose word it is and their name.
  std::map<std::pair<std::string, std::string>, std::uint64_t> told_leniencies = {};

  [[nodiscard]] int losses(LossCause cause) const;
  [[nodiscard]] int technical_losses() const;
  /// A percentile (`percent` 0...100) of the times of all its answers that counted, in
  /// milliseconds; nothing if there are none.
  [[nodiscard]] std::optional<double> answer_percentile(int percent) const;
};

/// The histories of all matches, from the journal in the data directory `data`.
[[nodiscard]] core::Result<league_manager::view::MatchTimelines> read_timelines(
    const std::filesystem::path& data);

/// By index of the player. Reads `logs`, which may be empty, for leniencies; logs that cannot be
/// read are noted in `notes`.
[[nodiscard]] std::vector<PlayerFigures> read_figures(
    const std::filesystem::path& logs, const league_manager::files::LeagueBook& book,
    const league_manager::view::MatchTimelines& timelines, std::vector<std::string>& notes);

}  // namespace league::tools::auditor
