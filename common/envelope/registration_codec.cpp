#include <array>

#include "common/envelope/codec_definitions.h"
#include "common/envelope/registration_messages.h"

namespace league::envelope {

static std::array<EnumName<RegistrationStatus>, 2> enum_names(Of<RegistrationStatus> /*unused*/) {
  return {
      {{RegistrationStatus::kAccepted, "ACCEPTED"}, {RegistrationStatus::kRejected, "REJECTED"}}};
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<RefereeMeta> /*unused*/) {
  a.required("display_name", s.display_name);
  a.required("version", s.version);
  a.required("game_types", s.game_types);
  a.required("contact_endpoint", s.contact_endpoint);
  a.required("max_concurrent_matches", s.max_concurrent_matches);
  a.optional("protocol_version", s.protocol_version);
  a.unless("assignments_in_ack", s.assignments_in_ack, false);
  a.optional("log_public_key", s.log_public_key);
  a.unless("hears_events", s.hears_events, false);
  a.unless("match_credentials", s.match_credentials, false);
  a.optional("admission_key", s.admission_key);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<PlayerMeta> /*unused*/) {
  a.required("display_name", s.display_name);
  a.required("version", s.version);
  a.required("game_types", s.game_types);
  a.required("contact_endpoint", s.contact_endpoint);
  a.optional("protocol_version", s.protocol_version);
  a.optional("contact_email", s.contact_email);
  a.optional("log_public_key", s.log_public_key);
  a.unless("hears_events", s.hears_events, false);
  a.optional("registration_code", s.registration_code);
  a.unless("receipts", s.receipts, false);
  a.unless("batches", s.batches, false);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<RefereeRegisterRequest> /*unused*/) {
  a.required("referee_meta", s.referee_meta);
  a.optional("registration_nonce", s.registration_nonce);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<LeagueRegisterRequest> /*unused*/) {
  a.required("player_meta", s.player_meta);
  a.optional("registration_nonce", s.registration_nonce);
}

/// Both register responses: they differ in the id, whose name is `referee_id` or `player_id`.
template <typename Archive, typename Self, typename Id>
void describe_response(Archive& a, Self& s, const char* id_name, Id& id) {
  a.required("status", s.status);
  a.nullable("reason", s.reason);
  if constexpr (Archive::kWrites) {
    a.optional("error_code", s.error_code);
  } else {
    // Another manager may use codes that we do not know; its refusal must still be readable.
    std::optional<std::string> code;
    a.optional("error_code", code);
    if (code) s.error_code = core::parse_error_code(*code);
    if (s.status == RegistrationStatus::kAccepted && !a.has(id_name)) {
      a.fail(core::ErrorCode::kMissingRequiredField, id_name,
             "is required when status is ACCEPTED");
    }
  }
  a.nullable(id_name, id);
  a.optional("broadcast_key", s.broadcast_key);
  a.optional("league_key", s.league_key);
  a.unless("match_credentials", s.match_credentials, false);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<RefereeRegisterResponse> /*unused*/) {
  describe_response(a, s, "referee_id", s.referee_id);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<LeagueRegisterResponse> /*unused*/) {
  describe_response(a, s, "player_id", s.player_id);
  a.optional("receipt_key", s.receipt_key);
}

template nlohmann::json encode(const Envelope&, const RefereeRegisterRequest&);
template nlohmann::json encode(const Envelope&, const RefereeRegisterResponse&);
template nlohmann::json encode(const Envelope&, const LeagueRegisterRequest&);
template nlohmann::json encode(const Envelope&, const LeagueRegisterResponse&);
template std::string encode_text(const Envelope&, const RefereeRegisterRequest&);
template std::string encode_text(const Envelope&, const LeagueRegisterRequest&);
template core::Result<RefereeRegisterRequest> decode(schema::JsonNode);
template core::Result<RefereeRegisterResponse> decode(schema::JsonNode);
template core::Result<LeagueRegisterRequest> decode(schema::JsonNode);
template core::Result<LeagueRegisterResponse> decode(schema::JsonNode);

}  // namespace league::envelope
