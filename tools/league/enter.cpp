#include "tools/league/enter.h"

#include <nlohmann/json.hpp>

#include "common/agent/registration.h"
#include "common/core/crypto.h"
#include "common/envelope/codec.h"

namespace league::tools {
namespace {

using envelope::MessageType;

nlohmann::json request_of(const Entrant& entrant, const core::Clock& clock,
                          core::RandomSource& random) {
  std::string id = agent::temporary_id(entrant.display_name);
  envelope::EnvelopeBuilder envelopes({envelope::Role::kPlayer, id}, std::nullopt, clock);
  auto envelope = envelopes.make(
      MessageType::kLeagueRegisterRequest,
      {.conversation_id = envelope::registration_conversation(envelope::Role::kPlayer, id, 1)});
  envelope::LeagueRegisterRequest message;
  message.player_meta = {.display_name = entrant.display_name,
                         .version = "1.0.0",
                         .game_types = entrant.game_types,
                         .contact_endpoint = entrant.endpoint,
                         .protocol_version = std::string(envelope::kProtocolVersion)};
  if (!entrant.registration_code.empty())
    message.player_meta.registration_code = entrant.registration_code.reveal();
  message.registration_nonce = core::to_hex(random.bytes<16>());
  return envelope::encode(envelope, message);
}

}  // namespace

core::Result<Entry> enter_player(ManagerClient& manager, const Entrant& entrant,
                                 const core::Clock& clock, core::RandomSource& random) {
  const auto& row = envelope::spec(MessageType::kLeagueRegisterRequest);
  auto answer = manager.call(std::string(row.method), request_of(entrant, clock, random));
  if (!answer) return answer.error();
  auto envelope = envelope::decode_envelope(*answer);
  if (!envelope) return envelope.error();
  auto response = envelope::decode<envelope::LeagueRegisterResponse>(*answer);
  if (!response) return response.error();
  bool is_in = response->status == envelope::RegistrationStatus::kAccepted && response->player_id &&
               envelope->auth_token;
  if (!is_in) {
    return core::Error{response->error_code.value_or(core::ErrorCode::kInvalidReply),
                       "the league manager rejected \"" + entrant.display_name +
                           "\": " + response->reason.value_or("no reason given"),
                       {}};
  }
  return Entry{response->player_id->str(), envelope->league_id.value_or(core::LeagueId{}).str(),
               *envelope->auth_token};
}

}  // namespace league::tools
