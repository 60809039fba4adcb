#include "common/envelope/codec_definitions.h"
#include "common/envelope/field_rules.h"
#include "common/envelope/round_messages.h"
#include "common/envelope/shared_fields.h"

namespace league::envelope {

/// The part of a match that everybody sees.
template <typename Self>
void describe_public_part(Fields& a, Self& s) {
  a.required("match_id", s.match_id, rule::kMatchId);
  a.required("game_type", s.game_type, rule::kGameType);
  a.required("player_A_id", s.player_a_id, rule::kPlayerAId);
  a.required("player_B_id", s.player_b_id, rule::kPlayerBId);
  a.required(
      "referee_endpoint", s.referee_endpoint,
      rule::text("Address of the match's referee.", 256).such_as("http://localhost:8001/mcp"));
  a.optional("draw_commitment", s.draw_commitment,
             rule::text("SHA-256 of the draw's seed, public before any choice exists.", 256));
}

void describe(Fields& a, AnswerLimits& s) {
  constexpr int kDay = 86'400'000;
  a.required("GAME_INVITATION", s.game_invitation,
             rule::number("For GAME_JOIN_ACK.", 1, kDay).such_as("60000"));
  a.required("CHOOSE_PARITY_CALL", s.choose_parity_call,
             rule::number("For CHOOSE_PARITY_RESPONSE.", 1, kDay).such_as("60000"));
}

void describe(Fields& a, PlayerLimits& s) {
  a.optional("player_A", s.player_a, rule::value("Those of player A."));
  a.optional("player_B", s.player_b, rule::value("Those of player B."));
}

void describe(Fields& a, EarlierChoices& s) {
  a.nullable("A", s.player_a, rule::kChosenThen);
  a.nullable("B", s.player_b, rule::kChosenThen);
}

/// The part of a match that its referee alone sees.
template <typename Self>
void describe_assigned_part(Fields& a, Self&& s) {
  a.required("attempt", s.attempt,
             rule::number("Counts how often the match was assigned.", 1).such_as("1"));
  a.optional("term", s.term,
             rule::number(
                 "Term of the manager that assigns the match, in a league with a stand-by manager: "
                 "a referee ignores assignments of a term lower than the highest that it has seen.",
                 1)
                 .such_as("1"));
  a.required("conversation_id", s.conversation_id,
             rule::text("Conversation of the match.", 1, 100).such_as("convr1m1001"));
  a.required("player_A_endpoint", s.player_a_endpoint,
             rule::text("Where player A is called.", 256).such_as("http://localhost:8101/mcp"));
  a.required("player_B_endpoint", s.player_b_endpoint,
             rule::text("Where player B is called.", 256).such_as("http://localhost:8102/mcp"));
  a.required("player_A_credential", s.player_a_credential,
             rule::text("What the referee shows player A as auth_token.", 512));
  a.required("player_B_credential", s.player_b_credential,
             rule::text("What the referee shows player B as auth_token.", 512));
  a.required("player_A_token_hash", s.player_a_token_hash,
             rule::text("SHA-256 of the token that player A must show.", 256));
  a.required("player_B_token_hash", s.player_b_token_hash,
             rule::text("SHA-256 of the token that player B must show.", 256));
  a.optional(
      "player_A_answer_hash", s.player_a_answer_hash,
      rule::text("SHA-256 of the credential that player A shows in a call of its own.", 256));
  a.optional(
      "player_B_answer_hash", s.player_b_answer_hash,
      rule::text("SHA-256 of the credential that player B shows in a call of its own.", 256));
  a.flag("player_A_receipts", s.player_a_receipts,
         rule::value("True if player A has declared receipts."));
  a.flag("player_B_receipts", s.player_b_receipts,
         rule::value("True if player B has declared receipts."));
  a.optional("player_A_dialect", s.player_a_dialect,
             rule::text("The way of calling player A that worked last.", 64));
  a.optional("player_B_dialect", s.player_b_dialect,
             rule::text("The way of calling player B that worked last.", 64));
  a.required("draw_seed", s.draw_seed, rule::text("Seed of the draw, for the referee alone.", 256));
  a.optional("player_A_standings", s.player_a_standings, rule::value("A tally."));
  a.optional("player_B_standings", s.player_b_standings, rule::value("A tally."));
  a.flag("player_A_suspended", s.player_a_suspended,
         rule::value("True if player A must answer a ping first."));
  a.flag("player_B_suspended", s.player_b_suspended,
         rule::value("True if player B must answer a ping first."));
  a.optional("limits_ms", s.limits_ms,
             rule::value("Limits of players that a person or a chat program plays, in "
                         "milliseconds: each of their calls is made once, with this limit."));
  a.unless("meetings", s.meetings, 1, rule::kMeetings);
  a.unless("meeting", s.meeting, 1, rule::kMeetingNumber);
  a.filled("history", s.history, rule::kHistory);
}

void describe(Fields& a, MatchAssignment& s) {
  describe_public_part(a, s);
  a.required("referee_id", s.referee_id, rule::kRefereeId);
  describe_assigned_part(a, s);
}

void describe(Fields& a, AnnouncedMatch& s) {
  describe_public_part(a, s);
  a.optional("referee_id", s.referee_id, rule::kRefereeId);
  a.optional("referee_credential", s.referee_credential,
             rule::text("What this match's referee shows its players in auth_token: match (the "
                        "match credential), token:HASH (its own token, of which HASH is the "
                        "hexadecimal SHA-256), or none.",
                        80)
                 .such_as("match"));
  a.optional(
      "replay_of", s.replay_of,
      rule::text("The match that the operator has made void and that this one repeats.", 1, 64)
          .such_as("R1M2"));
  if (a.lists()) {
    // Copies for a referee hold a MatchAssignment each.
    a.none_is_required();
    describe_assigned_part(a, MatchAssignment{});
  }
}

void describe(Fields& a, RoundAnnouncement& s) {
  a.required("matches", s.matches, rule::value("The matches.").each(rule::kMatch));
  a.optional(
      "total_matches", s.total_matches,
      rule::number("How many matches the round has, in a copy that holds only the recipient's own.",
                   1)
          .such_as("33"));
}

const MessageCodec& RoundAnnouncement::codec() {
  return codec_for<RoundAnnouncement>(
      {.description =
           "The matches of a round. The league manager calls notify_round of players and "
           "referees; the copy for a referee holds that referee's matches, and beyond 64 "
           "players that for a player its own.",
       .needs_league = true,
       .needs_round = true});
}

void describe(Fields& a, RoundAssignment& s) { a.required("matches", s.matches); }

const MessageCodec& RoundAssignment::codec() { return codec_for<RoundAssignment>({}); }

void describe(Fields& a, LeagueStandingsUpdate& s) {
  a.required(
      "standings", s.standings,
      rule::value("Rows by rank; in a large league the first ones and those around the recipient.")
          .each(rule::kRow));
  a.optional("total_players", s.total_players,
             rule::number("Rows of the whole table.", 0).such_as("8"));
}

const MessageCodec& LeagueStandingsUpdate::codec() {
  return codec_for<LeagueStandingsUpdate>(
      {.description =
           "The table after a round. The league manager calls update_standings of the players.",
       .needs_league = true,
       .needs_round = true});
}

void describe(Fields& a, RoundSummary& s) {
  a.defaulted("total_matches", s.total_matches, rule::number("Matches.", 0).such_as("4"));
  a.defaulted("wins", s.wins, rule::number("Decided by play.", 0).such_as("3"));
  a.defaulted("draws", s.draws, rule::number("Drawn.", 0).such_as("1"));
  a.defaulted("technical_losses", s.technical_losses,
              rule::number("Decided otherwise.", 0).such_as("0"));
}

void describe(Fields& a, RoundCompleted& s) {
  a.defaulted("matches_played", s.matches_completed,
              rule::number("The same figure under another name.", 0).such_as("4"));
  a.defaulted("matches_completed", s.matches_completed,
              rule::number("Matches of the round.", 0).such_as("4"));
  a.nullable("next_round_id", s.next_round_id,
             rule::number("The next round; null after the last.", 1).such_as("2"));
  a.defaulted("summary", s.summary,
              rule::value("How the matches ended; the last three add up to the first."));
}

const MessageCodec& RoundCompleted::codec() {
  return codec_for<RoundCompleted>(
      {.description =
           "A round is over. The league manager calls notify_round_completed of players and "
           "referees.",
       .needs_league = true,
       .needs_round = true});
}

void describe(Fields& a, Champion& s) {
  a.required("player_id", s.player_id, rule::kPlayerId);
  a.defaulted("display_name", s.display_name, rule::kDisplayName);
  a.defaulted("points", s.points, rule::number("Points.", 0).such_as("7"));
  a.flag("shared", s.is_shared, rule::value("True if others are first with it."));
}

void describe(Fields& a, Attestation& s) {
  a.required(
      "statement", s.statement,
      rule::text("Lines that name the league, its table, its results, its journal and the logs.",
                 4096));
  a.required("signature", s.signature,
             rule::text("Ed25519 signature of the statement, in hexadecimal.", 128));
}

void describe(Fields& a, LeagueCompleted& s) {
  a.defaulted("total_rounds", s.total_rounds, rule::number("Rounds played.", 0).such_as("3"));
  a.defaulted("total_matches", s.total_matches, rule::number("Matches played.", 0).such_as("6"));
  a.nullable("champion", s.champion, rule::value("The winner of the league."));
  a.defaulted("final_standings", s.final_standings,
              rule::value("The table by rank.").each(rule::kRow));
  a.filled(
      "voided_matches", s.voided_matches,
      rule::value(
          "Matches that the operator has voided: they count for nobody. Absent if there are none.")
          .each(rule::kEachMatchId)
          .such_as(R"(["R1M2"])"));
  a.optional("meetings", s.meetings,
             rule::number("How often each pair meets. Matches among players with the same points "
                          "count only if each two of them have met equally often.",
                          1)
                 .such_as("1"));
  a.flag("ended_early", s.is_ended_early,
         rule::value("True if the operator has ended the league before all matches were played."));
  a.optional("attestation", s.attestation,
             rule::value("The result of the league, signed with its key."));
}

const MessageCodec& LeagueCompleted::codec() {
  return codec_for<LeagueCompleted>(
      {.description =
           "The league is over. The league manager calls notify_league_completed of players and "
           "referees.",
       .needs_league = true});
}

template <typename T>
static nlohmann::json encode_rows(std::span<const T> rows) {
  return schema::to_json(std::vector<T>(rows.begin(), rows.end()));
}

nlohmann::json encode_assignments(std::span<const MatchAssignment> matches) {
  return encode_rows(matches);
}

nlohmann::json encode_announced(std::span<const AnnouncedMatch> matches) {
  return encode_rows(matches);
}

nlohmann::json encode_standings(std::span<const StandingsRow> rows) { return encode_rows(rows); }

core::Result<std::vector<MatchAssignment>> decode_assignments(const nlohmann::json& matches) {
  auto decoded = decode<RoundAssignment>({{"matches", matches}});
  if (!decoded) return std::move(decoded).error();
  return std::move(decoded->matches);
}

}  // namespace league::envelope
