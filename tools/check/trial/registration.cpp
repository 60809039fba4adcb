#include "tools/check/trial/registration.h"

#include <nlohmann/json.hpp>

#include "common/agent/host/agent_server.h"
#include "common/core/clock.h"
#include "common/envelope/registration_messages.h"
#include "common/schema/json_fields.h"
#include "common/transport/link/endpoint.h"
#include "league_manager/core/registration.h"
#include "tools/check/checker_seats.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using agent::dialects::CallStyle;
using envelope::LeagueRegisterRequest;
using nlohmann::json;

namespace {

/// The error in a refusal of the manager's server.
core::Error refusal_in(const transport::link::OutboundReply& reply,
                       const rpc::MessageNotes& notes) {
  const json frame = json::parse(reply.bytes.view(), nullptr, false);
  const json& error = schema::field_at(frame, "error");
  core::Error refusal{notes.verdict.value_or(core::ErrorCode::kInvalidReply), notes.fault, {}};
  if (refusal.message.empty()) refusal.message = schema::text_at(error, "message");
  refusal.field = schema::text_at(schema::field_at(error, "data"), "field");
  return refusal;
}

core::Result<void> decide(const LeagueRegisterRequest& request, envelope::Mode mode) {
  const envelope::PlayerMeta& meta = request.player_meta;
  auto endpoint = place_of(meta.contact_endpoint, "P01");
  if (!endpoint) return endpoint.error();
  league_manager::RegistrationRequest asked;
  asked.profile.display_name = meta.display_name;
  asked.profile.version = meta.version;
  asked.profile.game_types = meta.game_types;
  if (meta.game_definitions) asked.profile.game_types.push_back(tested_game()->game_type());
  asked.profile.endpoint = endpoint->url();
  asked.profile.protocol_version = meta.protocol_version;
  asked.profile.receipts = meta.receipts;
  asked.registration_nonce = request.registration_nonce;
  league_manager::events::LeagueSettings settings;
  settings.open_mode = mode == envelope::Mode::kOpen;
  settings.rules = tested_game();
  const league_manager::RegistrationFacts facts{
      core::SystemClock().utc_now(), "0123456789abcdef0123456789abcdef",
      [](const std::string& id, const std::string& /*nonce*/) { return id; }};
  auto decision =
      league_manager::decide_registration(league_manager::Roster(), settings, {}, asked, facts);
  if (!decision) return decision.error();
  return {};
}

}  // namespace

JudgedRegistration judge_registration(const std::string& bytes,
                                      const envelope::MessageSchemas& schemas,
                                      envelope::Mode mode) {
  JudgedRegistration judged;
  const core::SystemClock clock;
  agent::host::AgentServerOptions options;
  options.role = envelope::Role::kLeagueManager;
  options.mode = mode;
  agent::host::AgentServer server(std::move(options), schemas, clock);
  std::optional<LeagueRegisterRequest> request;
  server.bind<LeagueRegisterRequest>([&](agent::host::Call<LeagueRegisterRequest> call) {
    if (call.style != CallStyle::kToolName)
      judged.dialect = std::string(agent::dialects::call_style_name(call.style));
    request = std::move(call.message);
    call.reply.acknowledge();
  });
  transport::link::Inbound inbound;
  inbound.bytes = bytes;
  const auto notes = inbound.notes;
  server.on_message(std::move(inbound),
                    transport::link::ReplySlot([&](const transport::link::OutboundReply& reply) {
                      if (!request) judged.refusal = refusal_in(reply, *notes);
                    }));
  for (std::string_view name : notes->leniencies) judged.leniencies.emplace(name);
  if (!request) return judged;
  if (auto decided = decide(*request, mode); !decided) judged.refusal = decided.error();
  return judged;
}

}  // namespace league::tools::check
