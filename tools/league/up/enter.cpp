#include "tools/league/up/enter.h"

#include <nlohmann/json.hpp>

#include "common/agent/dialects/reply_dialect.h"
#include "common/agent/identity/registration.h"
#include "common/core/crypto.h"
#include "common/envelope/codec.h"
#include "common/envelope/leniency.h"
#include "common/schema/json_fields.h"

namespace league::tools {
namespace {

using envelope::MessageType;

nlohmann::json request_of(const Entrant& entrant, const core::Clock& clock,
                          core::RandomSource& random) {
  std::string id = agent::identity::temporary_id(entrant.display_name);
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
  message.registration_nonce =
      entrant.nonce.empty() ? core::to_hex(random.bytes<16>()) : entrant.nonce;
  return envelope::encode(envelope, message);
}

}  // namespace

core::Result<Entry> enter_player(ManagerClient& manager, const Entrant& entrant,
                                 const core::Clock& clock, core::RandomSource& random) {
  const auto& row = envelope::spec(MessageType::kLeagueRegisterRequest);
  const auto request = request_of(entrant, clock, random);
  auto answer = manager.call(std::string(row.method), request);
  // Some third-party managers accept only the message type as the method.
  if (!answer && answer.error().code == core::ErrorCode::kUnknownMessageType)
    answer = manager.call(std::string(row.wire_name), request);
  if (!answer) return answer.error();
  auto& message =
      answer->contains("status") || !answer->contains("response") ? *answer : (*answer)["response"];
  return read_entry(message, entrant.display_name);
}

core::Result<Entry> read_entry(nlohmann::json message, const std::string& display_name) {
  // Only the status decides about success; the envelope is not checked.
  envelope::Leniencies overlooked;
  auto rewritten = envelope::normalise(message, MessageType::kLeagueRegisterResponse,
                                       envelope::Mode::kOpen, {.is_guest = true}, overlooked);
  auto response = rewritten ? envelope::decode<envelope::LeagueRegisterResponse>(message)
                            : core::Result<envelope::LeagueRegisterResponse>(rewritten.error());
  if (!response) {
    core::Error why = response.error();
    why.message = "the answer of the league manager is not understood: " + why.message;
    return agent::dialects::with_received(std::move(why), message);
  }
  if (response->status != envelope::RegistrationStatus::kAccepted || !response->player_id) {
    return core::Error{response->error_code.value_or(core::ErrorCode::kInvalidReply),
                       "the league manager rejected \"" + display_name +
                           "\": " + response->reason.value_or("no reason given"),
                       {}};
  }
  Entry entry{.player_id = response->player_id->str(),
              .league_id = schema::text_at(message, "league_id"),
              .token = core::AuthToken(schema::text_at(message, "auth_token")),
              .answer = {}};
  entry.answer = std::move(message);
  return entry;
}

}  // namespace league::tools
