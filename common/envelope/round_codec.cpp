#include "common/envelope/codec_definitions.h"
#include "common/envelope/round_messages.h"
#include "common/envelope/shared_fields.h"

namespace league::envelope {

/// The part of a match that everybody sees.
template <typename Archive, typename Self>
void describe_public_part(Archive& a, Self& s) {
  a.required("match_id", s.match_id);
  a.required("game_type", s.game_type);
  a.required("player_A_id", s.player_a_id);
  a.required("player_B_id", s.player_b_id);
  a.required("referee_endpoint", s.referee_endpoint);
  a.optional("draw_commitment", s.draw_commitment);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<AnnouncedMatch> /*unused*/) {
  describe_public_part(a, s);
  a.optional("referee_id", s.referee_id);
  a.optional("referee_credential", s.referee_credential);
  a.optional("replay_of", s.replay_of);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<MatchAssignment> /*unused*/) {
  describe_public_part(a, s);
  a.required("referee_id", s.referee_id);
  a.required("attempt", s.attempt);
  a.optional("term", s.term);
  a.required("conversation_id", s.conversation_id);
  a.required("player_A_endpoint", s.player_a_endpoint);
  a.required("player_B_endpoint", s.player_b_endpoint);
  a.required("player_A_credential", s.player_a_credential);
  a.required("player_B_credential", s.player_b_credential);
  a.required("player_A_token_hash", s.player_a_token_hash);
  a.required("player_B_token_hash", s.player_b_token_hash);
  a.optional("player_A_answer_hash", s.player_a_answer_hash);
  a.optional("player_B_answer_hash", s.player_b_answer_hash);
  a.unless("player_A_receipts", s.player_a_receipts, false);
  a.unless("player_B_receipts", s.player_b_receipts, false);
  a.optional("player_A_dialect", s.player_a_dialect);
  a.optional("player_B_dialect", s.player_b_dialect);
  a.required("draw_seed", s.draw_seed);
  a.optional("player_A_standings", s.player_a_standings);
  a.optional("player_B_standings", s.player_b_standings);
  a.unless("player_A_suspended", s.player_a_suspended, false);
  a.unless("player_B_suspended", s.player_b_suspended, false);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<RoundAnnouncement> /*unused*/) {
  a.required("matches", s.matches);
  a.optional("total_matches", s.total_matches);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<RoundAssignment> /*unused*/) {
  a.required("matches", s.matches);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<LeagueStandingsUpdate> /*unused*/) {
  a.required("standings", s.standings);
  a.optional("total_players", s.total_players);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<RoundSummary> /*unused*/) {
  a.defaulted("total_matches", s.total_matches);
  a.defaulted("wins", s.wins);
  a.defaulted("draws", s.draws);
  a.defaulted("technical_losses", s.technical_losses);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<RoundCompleted> /*unused*/) {
  a.defaulted("matches_played", s.matches_completed);
  a.defaulted("matches_completed", s.matches_completed);
  a.nullable("next_round_id", s.next_round_id);
  a.defaulted("summary", s.summary);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<Champion> /*unused*/) {
  a.required("player_id", s.player_id);
  a.defaulted("display_name", s.display_name);
  a.defaulted("points", s.points);
  a.unless("shared", s.is_shared, false);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<Attestation> /*unused*/) {
  a.required("statement", s.statement);
  a.required("signature", s.signature);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<LeagueCompleted> /*unused*/) {
  a.defaulted("total_rounds", s.total_rounds);
  a.defaulted("total_matches", s.total_matches);
  a.nullable("champion", s.champion);
  a.defaulted("final_standings", s.final_standings);
  a.unless("voided_matches", s.voided_matches, {});
  a.unless("ended_early", s.is_ended_early, false);
  a.optional("attestation", s.attestation);
}

template <typename T>
static nlohmann::json encode_rows(std::span<const T> rows) {
  auto array = nlohmann::json::array();
  for (const auto& row : rows) {
    auto object = nlohmann::json::object();
    FieldWriter writer(object);
    describe(writer, row, Of<T>{});
    array.push_back(std::move(object));
  }
  return array;
}

nlohmann::json encode_assignments(std::span<const MatchAssignment> matches) {
  return encode_rows(matches);
}

nlohmann::json encode_announced(std::span<const AnnouncedMatch> matches) {
  return encode_rows(matches);
}

nlohmann::json encode_standings(std::span<const StandingsRow> rows) { return encode_rows(rows); }

core::Result<std::vector<MatchAssignment>> decode_assignments(const nlohmann::json& matches) {
  auto wrapped = nlohmann::json::object();
  wrapped["matches"] = matches;
  auto decoded = decode<RoundAssignment>(wrapped);
  if (!decoded) return std::move(decoded).error();
  return std::move(decoded->matches);
}

template nlohmann::json encode(const Envelope&, const RoundAnnouncement&);
template nlohmann::json encode(const Envelope&, const RoundAssignment&);
template nlohmann::json encode(const Envelope&, const LeagueStandingsUpdate&);
template nlohmann::json encode(const Envelope&, const RoundCompleted&);
template nlohmann::json encode(const Envelope&, const LeagueCompleted&);
template core::Result<RoundAnnouncement> decode(schema::JsonNode);
template core::Result<RoundAssignment> decode(schema::JsonNode);
template core::Result<LeagueStandingsUpdate> decode(schema::JsonNode);
template core::Result<RoundCompleted> decode(schema::JsonNode);
template core::Result<LeagueCompleted> decode(schema::JsonNode);

}  // namespace league::envelope
