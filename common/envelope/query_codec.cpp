#include <array>

#include "common/envelope/codec_definitions.h"
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

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<QueryParams> /*unused*/) {
  a.optional("player_id", s.player_id);
  a.optional("round_id", s.round_id);
  a.optional("offset", s.offset);
  a.optional("limit", s.limit);
  a.optional("match_id", s.match_id);
  a.optional("reason", s.reason);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<LeagueQuery> /*unused*/) {
  a.required("query_type", s.query_type);
  a.unless("query_params", s.query_params, QueryParams{});
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<ScheduledMatch> /*unused*/) {
  a.required("round_id", s.round_id);
  a.required("match_id", s.match_id);
  a.defaulted("game_type", s.game_type);
  a.required("player_A_id", s.player_a_id);
  a.required("player_B_id", s.player_b_id);
  a.optional("referee_id", s.referee_id);
  a.defaulted("status", s.status);
  a.optional("winner", s.winner);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<NextMatch> /*unused*/) {
  a.required("match_id", s.match_id);
  a.required("round_id", s.round_id);
  a.required("opponent_id", s.opponent_id);
  a.defaulted("referee_endpoint", s.referee_endpoint);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<PlayedMatchRow> /*unused*/) {
  a.required("match_id", s.match_id);
  a.required("result", s.result);
  a.required("termination", s.termination);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<QueryData> /*unused*/) {
  a.optional("standings", s.standings);
  a.optional("schedule", s.schedule);
  a.optional("next_match", s.next_match);
  a.optional("stats", s.stats);
  a.optional("matches", s.matches);
  a.optional("total", s.total);
  a.optional("disputed", s.disputed);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<QueryError> /*unused*/) {
  a.required("error_code", s.error_code);
  a.defaulted("error_name", s.error_name);
  a.defaulted("error_description", s.error_description);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<LeagueQueryResponse> /*unused*/) {
  a.required("query_type", s.query_type);
  a.required("success", s.success);
  if (s.success) {
    a.defaulted("data", s.data);
    bool asked_next = s.query_type == query_type_name(QueryType::kGetNextMatch);
    if (asked_next && !s.data.next_match) a.null_in("data", "next_match");
  }
  a.optional("error", s.error);
}

template nlohmann::json encode(const Envelope&, const LeagueQuery&);
template nlohmann::json encode(const Envelope&, const LeagueQueryResponse&);
template std::string encode_text(const Envelope&, const LeagueQuery&);
template core::Result<LeagueQuery> decode(schema::JsonNode);
template core::Result<LeagueQueryResponse> decode(schema::JsonNode);

}  // namespace league::envelope
