#include <array>

#include "common/envelope/codec_definitions.h"
#include "common/envelope/field_rules.h"
#include "common/envelope/query_messages.h"
#include "common/envelope/shared_fields.h"

namespace league::envelope {

static std::array<EnumName<QueryType>, 6> enum_names(Of<QueryType> /*unused*/) {
  return {{{QueryType::kGetStandings, "GET_STANDINGS"},
           {QueryType::kGetSchedule, "GET_SCHEDULE"},
           {QueryType::kGetNextMatch, "GET_NEXT_MATCH"},
           {QueryType::kGetPlayerStats, "GET_PLAYER_STATS"},
           {QueryType::kDisputeMatch, "DISPUTE_MATCH"},
           {QueryType::kGetRegistrations, "GET_REGISTRATIONS"}}};
}

std::string_view query_type_name(QueryType type) {
  for (const auto& [candidate, name] : enum_names(Of<QueryType>{})) {
    if (candidate == type) return name;
  }
  return "";
}

void describe(Fields& a, QueryParams& s) {
  a.optional(
      "player_id", s.player_id,
      rule::text("Whose next match or statistics; default: your own.", 1, 64).such_as("P01"));
  a.optional("round_id", s.round_id, rule::number("Only this round.", 1).such_as("1"));
  a.optional("offset", s.offset, rule::number("Rows to skip.", 0).such_as("0"));
  a.optional("limit", s.limit, rule::number("Rows to return.", 1).such_as("50"));
  a.optional("match_id", s.match_id,
             rule::text("DISPUTE_MATCH: the match whose result is false.", 1, 64).such_as("R1M1"));
  a.optional("reason", s.reason,
             rule::text("DISPUTE_MATCH: what is false, in one sentence.", 500)
                 .such_as("my choice was odd, not even"));
}

void describe(Fields& a, LeagueQuery& s) {
  a.required("query_type", s.query_type, rule::value("What is asked.").such_as("GET_STANDINGS"));
  a.unless("query_params", s.query_params, QueryParams{}, rule::value("Parameters of the query."));
}

const MessageCodec& LeagueQuery::codec() {
  return codec_for<LeagueQuery>(
      {.description =
           "A player or referee asks. Call league_query of the league manager; the answer is "
           "LEAGUE_QUERY_RESPONSE.",
       .needs_league = true});
}

void describe(Fields& a, ScheduledMatch& s) {
  a.required("round_id", s.round_id, rule::kRoundId);
  a.required("match_id", s.match_id, rule::kMatchId);
  a.defaulted("game_type", s.game_type, rule::kGameType);
  a.required("player_A_id", s.player_a_id, rule::kPlayerAId);
  a.required("player_B_id", s.player_b_id, rule::kPlayerBId);
  a.optional("referee_id", s.referee_id, rule::kRefereeId);
  a.defaulted("status", s.status,
              rule::text("PENDING, IN_PROGRESS or COMPLETED.", 32).such_as("PENDING"));
  a.optional("winner", s.winner,
             rule::text("The winner, if there is one.", 1, 64).such_as("P01").or_null());
  a.optional(
      "meeting", s.meeting,
      rule::number("Which meeting of its players it is, where each pair meets several times.", 1)
          .such_as("2"));
}

void describe(Fields& a, NextMatch& s) {
  a.required("match_id", s.match_id, rule::kMatchId);
  a.required("round_id", s.round_id, rule::kRoundId);
  a.required("opponent_id", s.opponent_id, rule::kOpponentId);
  a.defaulted("referee_endpoint", s.referee_endpoint,
              rule::text("Address of the referee.", 256).such_as("http://localhost:8001/mcp"));
}

void describe(Fields& a, PlayedMatchRow& s) {
  a.required("match_id", s.match_id, rule::kMatchId);
  a.required("result", s.result, rule::text("How it ended for the player.", 64).such_as("win"));
  a.required("termination", s.termination,
             rule::text("Machine-readable reason.", 64).such_as("normal"));
}

/// `has_next`: the next match is written, and null when none is left.
static void describe(Fields& a, QueryData& s, bool has_next) {
  a.optional("standings", s.standings, rule::value("The table by rank.").each(rule::kRow));
  a.optional("schedule", s.schedule, rule::value("Matches.").each(rule::kScheduledMatch));
  const Rule next = rule::value("The next match; null when none is left.").or_null();
  has_next ? a.nullable("next_match", s.next_match, next)
           : a.optional("next_match", s.next_match, next);
  a.optional("stats", s.stats, rule::value("One row of the table."));
  a.optional("matches", s.matches,
             rule::value("The matches of a player.").each(rule::kPlayedMatch));
  a.optional("total", s.total, rule::number("Rows in all, of a paged answer.", 0).such_as("8"));
  a.optional("disputed", s.disputed,
             rule::value("DISPUTE_MATCH: true when the dispute is on record.").such_as("true"));
}

void describe(Fields& a, QueryError& s) {
  a.required("error_code", s.error_code, rule::kErrorCode);
  a.defaulted("error_name", s.error_name, rule::kErrorName);
  a.defaulted("error_description", s.error_description, rule::kErrorDescription);
}

void describe(Fields& a, LeagueQueryResponse& s) {
  a.required("query_type", s.query_type,
             rule::text("What was asked.", 64).such_as("GET_STANDINGS"));
  a.required(
      "success", s.success,
      rule::value("True if data holds the answer, false if error says why not.").such_as("true"));
  if (s.success || a.lists()) {
    const bool has_next = s.query_type == query_type_name(QueryType::kGetNextMatch);
    a.object(
        "data", [&](Fields& data) { describe(data, s.data, has_next); },
        rule::value("The answer, when success is true."));
  }
  a.optional("error", s.error, rule::value("Why there is no answer, when success is false."));
}

const MessageCodec& LeagueQueryResponse::codec() {
  return codec_for<LeagueQueryResponse>(
      {.description = "The league manager's answer to LEAGUE_QUERY."});
}

}  // namespace league::envelope
