#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/ids.h"
#include "common/envelope/message_type.h"
#include "common/envelope/round_messages.h"

namespace league::envelope {

/// `kDisputeMatch` is ours: a player says that a result is false (protocol §4, message 15).
/// `kGetRegistrations` is for third-party referees that ask for their work (protocol §9).
enum class QueryType {
  kGetStandings,
  kGetSchedule,
  kGetNextMatch,
  kGetPlayerStats,
  kDisputeMatch,
  kGetRegistrations,
};

/// `GET_STANDINGS`.
[[nodiscard]] std::string_view query_type_name(QueryType type);

/// What narrows a query; each part is optional.
struct QueryParams {
  std::optional<core::PlayerId>
      player_id;  ///< whose next match or statistics; default: the asker's
  std::optional<int> round_id = std::nullopt;
  std::optional<int> offset = std::nullopt;  ///< rows to skip
  std::optional<int> limit = std::nullopt;  ///< rows to return
  std::optional<core::MatchId> match_id = std::nullopt;  ///< of DISPUTE_MATCH
  std::optional<std::string> reason = std::nullopt;  ///< of DISPUTE_MATCH, for people

  bool operator==(const QueryParams&) const = default;
};

/// Message 15.
struct LeagueQuery {
  static constexpr MessageType kType = MessageType::kLeagueQuery;
  static const MessageCodec& codec();
  using Answer = struct LeagueQueryResponse;
  QueryType query_type = QueryType::kGetStandings;
  QueryParams query_params{};

  bool operator==(const LeagueQuery&) const = default;
};

/// A match of the schedule, played or not.
struct ScheduledMatch {
  int round_id = 0;
  core::MatchId match_id{};
  std::string game_type{};
  core::PlayerId player_a_id{};
  core::PlayerId player_b_id{};
  std::optional<core::RefereeId> referee_id = std::nullopt;
  std::string status{};  ///< `PENDING`, `IN_PROGRESS`, `COMPLETED`
  std::optional<core::PlayerId> winner = std::nullopt;  ///< nothing before the end and after a draw
  std::optional<int> meeting = std::nullopt;  ///< which of its pair, where pairs meet several times

  bool operator==(const ScheduledMatch&) const = default;
};

/// Where a player plays next.
struct NextMatch {
  core::MatchId match_id{};
  int round_id = 0;
  core::PlayerId opponent_id{};
  std::string referee_endpoint{};  ///< empty while no referee is assigned

  bool operator==(const NextMatch&) const = default;
};

/// A finished match as one of its players sees it.
struct PlayedMatchRow {
  core::MatchId match_id{};
  std::string result{};  ///< `WIN`, `LOSS`, `DRAW`
  std::string termination{};  ///< `NORMAL`, or how it was lost, such as `TIMEOUT_CHOICE`

  bool operator==(const PlayedMatchRow&) const = default;
};

/// What an answer holds; exactly the part that was asked for.
struct QueryData {
  std::optional<std::vector<StandingsRow>> standings = std::nullopt;
  std::optional<std::vector<ScheduledMatch>> schedule = std::nullopt;
  std::optional<NextMatch> next_match = std::nullopt;  ///< null on the wire when there is none left
  std::optional<StandingsRow> stats = std::nullopt;
  std::optional<std::vector<PlayedMatchRow>> matches = std::nullopt;  ///< beside `stats`
  std::optional<int> total = std::nullopt;  ///< rows in all, of a paged answer
  std::optional<bool> disputed = std::nullopt;  ///< DISPUTE_MATCH: the dispute is on record

  bool operator==(const QueryData&) const = default;
};

/// Why a query was not answered.
struct QueryError {
  std::string error_code{};
  std::string error_name{};
  std::string error_description{};

  bool operator==(const QueryError&) const = default;
};

/// Message 16.
struct LeagueQueryResponse {
  static constexpr MessageType kType = MessageType::kLeagueQueryResponse;
  static const MessageCodec& codec();
  std::string query_type{};  ///< as it was asked, even if it is none of ours
  bool success = false;
  QueryData data{};  ///< when `success`
  std::optional<QueryError> error = std::nullopt;  ///< otherwise

  bool operator==(const LeagueQueryResponse&) const = default;
};

}  // namespace league::envelope
