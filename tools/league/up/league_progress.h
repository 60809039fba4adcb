#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/core/timestamp.h"

namespace league::schema {
class Fields;
}

namespace league::tools {

/// A row of the table, as `get_standings` gives it.
struct TableRow {
  int rank = 0;
  std::string player_id{};
  std::string display_name{};
  int played = 0;
  int wins = 0;
  int draws = 0;
  int losses = 0;
  int points = 0;
  /// Beside the points, where they are known: docs/table.md.
  std::optional<double> rating = std::nullopt;
  std::optional<double> rating_error = std::nullopt;
  std::optional<double> p_first = std::nullopt;

  void describe(schema::Fields& a);
  /// The figures beside the points alone.
  void describe_figures(schema::Fields& a);
};

/// The progress of a league, from `get_league_status`.
struct LeagueProgress {
  std::string league_id{};
  std::string state{};  ///< `REGISTERING`, `RUNNING`, `COMPLETED`
  int players = 0;
  int players_expected = 0;
  int referees = 0;
  int referees_expected = 0;
  int current_round = 0;
  int total_rounds = 0;
  int total_matches = 0;
  int matches_completed = 0;
  int technical_losses = 0;
  bool is_paused = false;  ///< by the operator
  std::string pause_reason{};  ///< in the operator's words
  std::optional<TableRow> champion{};  ///< only id, name, points and figures beside them
  bool is_decided = true;  ///< no other player may well be stronger than the champion
  std::optional<double> luck{};
  std::string luck_sentence{};  ///< what `luck` means; empty: not known
  std::vector<std::string> shares_first_place{};  ///< ids, including the champion's; empty: the
                                                  ///< place is not shared
  /// By match, the ids of the players that dispute its result.
  std::map<std::string, std::vector<std::string>> disputed{};
  std::optional<core::UtcTimestamp> started_at{};
  std::optional<core::UtcTimestamp> completed_at{};

  /// As get_league_status has it.
  void describe(schema::Fields& a);

  [[nodiscard]] bool has_started() const { return started_at.has_value(); }
  [[nodiscard]] bool is_completed() const { return state == "COMPLETED"; }
  /// From the start of the league to its end, or to `now` while it runs; 0 before the start.
  [[nodiscard]] double seconds(core::UtcTimestamp now) const;
};

/// `champion: alpha (P01) with 13 points`, or `first, not decided: …` if it may well not be the
/// strongest, with the players that share the first place; safe for a
/// terminal. Only if there is a champion.
[[nodiscard]] std::string champion_line(const LeagueProgress& progress);

/// The managers of a league, from the answer of `get_league_status`: `managers: a-1f2e leads in
/// term 3, and 40 of its 42 events are acknowledged; stand-by b-77aa is in sync`, and what they
/// wait for; safe for a terminal. Empty for a league with one manager.
[[nodiscard]] std::string replication_line(const nlohmann::json& status);

/// Reads the answer of `get_league_status`; what is missing stays 0 or empty.
[[nodiscard]] LeagueProgress parse_progress(const nlohmann::json& status);
/// Reads the rows of `get_standings`.
[[nodiscard]] std::vector<TableRow> parse_rows(const nlohmann::json& rows);

}  // namespace league::tools
