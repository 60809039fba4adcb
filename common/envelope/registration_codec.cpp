#include <array>

#include "common/envelope/codec_definitions.h"
#include "common/envelope/described_field.h"
#include "common/envelope/field_rules.h"
#include "common/envelope/registration_messages.h"

namespace league::envelope {

static bool read_value(schema::Reading& reading, schema::JsonNode in, RawJson& value,
                       const schema::FieldPath& at) {
  if (!is_object(reading, in, at)) return false;
  value.text = in.to_json().dump();
  return true;
}
static void write_value(schema::FieldSink& out, const RawJson& value) { out.json(value.text); }
static DescribedField list_value(Of<RawJson> /*unused*/, const Rule& rule) {
  return {.type = "object", .rule = rule};
}

static std::array<EnumName<RegistrationStatus>, 2> enum_names(Of<RegistrationStatus> /*unused*/) {
  return {
      {{RegistrationStatus::kAccepted, "ACCEPTED"}, {RegistrationStatus::kRejected, "REJECTED"}}};
}

void describe(Fields& a, RefereeMeta& s) {
  a.required("display_name", s.display_name,
             rule::text("Name for people, 1 to 50 characters.", 1, 50).such_as("Referee Alpha"));
  a.required("version", s.version, rule::kAgentVersion);
  a.required("game_types", s.game_types, rule::kGameTypes);
  a.required(
      "contact_endpoint", s.contact_endpoint,
      rule::text("Where the agent is called.", 256)
          .matching(
              R"(^(([Hh][Tt][Tt][Pp][Ss]?|[Ww][Ss][Ss]?|[Ss][Ss][Ee]\+[Hh][Tt][Tt][Pp][Ss]?|[Tt][Cc][Pp])://|[Uu][Nn][Ii][Xx]:/|[Ss][Tt][Dd][Ii][Oo]:.|[Nn][Aa][Tt][Ss]:.))")
          .such_as("http://localhost:8001/mcp"));
  a.required(
      "max_concurrent_matches", s.max_concurrent_matches,
      rule::number("How many matches the referee runs at the same time.", 1, 100000).such_as("10"));
  a.optional("protocol_version", s.protocol_version, rule::kProtocolVersion);
  a.flag("assignments_in_ack", s.assignments_in_ack,
         rule::value("True if the referee takes its next matches from the answer to "
                     "MATCH_RESULT_REPORT (field matches)."));
  a.optional("log_public_key", s.log_public_key, rule::kLogPublicKey);
  a.flag("hears_events", s.hears_events, rule::kHearsEvents);
  a.flag("match_credentials", s.match_credentials,
         rule::value("True for a referee that shows players match credentials in place of its "
                     "own token, and reveals the seed of every draw.")
             .such_as("true"));
  a.optional("admission_key", s.admission_key,
             rule::text("The key that admits referees (the manager's referee.key); needed unless "
                        "the request comes from the manager's own machine.",
                        1, 256));
  a.flag("game_definitions", s.game_definitions, rule::kTakesDefinitions);
}

void describe(Fields& a, PlayerMeta& s) {
  a.required("display_name", s.display_name,
             rule::text("Name for people, 1 to 50 characters.", 1, 50).such_as("AlphaBot"));
  a.required("version", s.version, rule::kAgentVersion);
  a.required("game_types", s.game_types, rule::kGameTypes);
  a.required(
      "contact_endpoint", s.contact_endpoint,
      rule::text("Where the agent is called; \"outward\": nowhere, it opens the connection itself.",
                 256)
          .matching(
              R"(^(([Hh][Tt][Tt][Pp][Ss]?|[Ww][Ss][Ss]?|[Ss][Ss][Ee]\+[Hh][Tt][Tt][Pp][Ss]?|[Tt][Cc][Pp])://|[Uu][Nn][Ii][Xx]:/|[Ss][Tt][Dd][Ii][Oo]:.|[Nn][Aa][Tt][Ss]:.)|^outward$)")
          .such_as("http://localhost:8101/mcp"));
  a.optional("protocol_version", s.protocol_version, rule::kProtocolVersion);
  a.optional("contact_email", s.contact_email,
             rule::text("How to reach the author.", 254).such_as("author@example.org"));
  a.optional("log_public_key", s.log_public_key, rule::kLogPublicKey);
  a.flag("hears_events", s.hears_events, rule::kHearsEvents);
  a.optional("registration_code", s.registration_code,
             rule::text("The code that the operator gave this bot; required if the league accepts "
                        "only players with a code.",
                        1, 256));
  a.flag("receipts", s.receipts,
         rule::value("True if the player puts receipts into its answers and commits in every "
                     "match. Absent: no."));
  a.flag("batches", s.batches,
         rule::value("True if the bot takes several messages of the manager in one JSON-RPC "
                     "batch over HTTP. Absent: no."));
  a.optional("played_by", s.played_by,
             rule::text("Who plays: person, or host (a chat program). Such a player has more time "
                        "for its answers; its contact_endpoint is \"outward\". Absent: a program.",
                        6)
                 .matching("^(person|host)$")
                 .such_as("person"));
  a.flag("game_definitions", s.game_definitions, rule::kTakesDefinitions);
}

void describe(Fields& a, RefereeRegisterRequest& s) {
  a.required("referee_meta", s.referee_meta, rule::kAboutItself);
  a.optional("registration_nonce", s.registration_nonce, rule::kRegistrationNonce);
}

const MessageCodec& RefereeRegisterRequest::codec() {
  return codec_for<RefereeRegisterRequest>(
      {.description = "A referee asks to take part. Call register_referee of the league manager."});
}

void describe(Fields& a, LeagueRegisterRequest& s) {
  a.required("player_meta", s.player_meta, rule::kAboutItself);
  a.optional("registration_nonce", s.registration_nonce, rule::kRegistrationNonce);
}

const MessageCodec& LeagueRegisterRequest::codec() {
  return codec_for<LeagueRegisterRequest>(
      {.description = "A player asks to take part. Call register_player of the league manager."});
}

/// Both register responses: they differ in the id, whose name is `referee_id` or `player_id`.
template <typename Self, typename Id>
void describe_response(Fields& a, Self& s, const char* id_name, Id& id, const Rule& of_id) {
  a.required("status", s.status, rule::kRegistrationStatus);
  a.nullable("reason", s.reason, rule::kRefusalReason);
  if (!a.reads()) {
    a.optional("error_code", s.error_code, rule::kRefusalCode);
  } else {
    // Another manager may use codes that we do not know; its refusal must still be readable.
    std::optional<std::string> code;
    a.optional("error_code", code, rule::kRefusalCode);
    if (code) s.error_code = core::parse_error_code(*code);
    if (s.status == RegistrationStatus::kAccepted && !a.has(id_name)) {
      a.fail(core::ErrorCode::kMissingRequiredField, id_name,
             "is required when status is ACCEPTED");
    }
  }
  a.nullable(id_name, id, of_id);
  a.optional("broadcast_key", s.broadcast_key, rule::kBroadcastKey);
  a.optional("league_key", s.league_key, rule::kLeagueKey);
  a.flag("match_credentials", s.match_credentials, rule::kMatchCredentials);
  a.optional("game", s.game, rule::kGameDefinition);
}

void describe(Fields& a, RefereeRegisterResponse& s) {
  describe_response(a, s, "referee_id", s.referee_id,
                    rule::text("The new id; null when rejected.", 1, 64).such_as("REF01"));
}

const MessageCodec& RefereeRegisterResponse::codec() {
  return codec_for<RefereeRegisterResponse>(
      {.description =
           "The league manager's answer to REFEREE_REGISTER_REQUEST. When accepted, auth_token "
           "and league_id are set."});
}

void describe(Fields& a, LeagueRegisterResponse& s) {
  describe_response(a, s, "player_id", s.player_id,
                    rule::text("The new id; null when rejected.", 1, 64).such_as("P01"));
  a.optional(
      "receipt_key", s.receipt_key,
      rule::text("The key of this player's receipts, 64 hexadecimal digits, used as text. A "
                 "secret. Only in the answer that creates the identity, and in its repetition.",
                 64));
}

const MessageCodec& LeagueRegisterResponse::codec() {
  return codec_for<LeagueRegisterResponse>(
      {.description =
           "The league manager's answer to LEAGUE_REGISTER_REQUEST. When accepted, auth_token "
           "and league_id are set."});
}

}  // namespace league::envelope
