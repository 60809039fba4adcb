#include "common/agent/host/rest_registration.h"

#include "common/agent/peers/reply.h"
#include "common/schema/json_fields.h"

namespace league::agent::host {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

Error rest_refusal(envelope::Role role) {
  const bool is_manager = role == envelope::Role::kLeagueManager;
  return {ErrorCode::kUnexpectedMessage,
          is_manager
              ? R"(register with JSON-RPC at /mcp: POST {"jsonrpc":"2.0","id":1,"method":)"
                R"("register_player","params":{"player_meta":{"display_name":"NAME",)"
                R"("version":"1.0.0","game_types":["even_odd"],)"
                R"("contact_endpoint":"http://HOST:PORT/mcp"}}})"
              : "this agent accepts no registrations: send JSON-RPC to /mcp of the league manager",
          "/"};
}

void refuse_rest(const json& body, const Error& why, std::shared_ptr<rpc::MessageNotes> notes,
                 transport::link::ReplySlot slot) {
  rpc::Id id;
  if (auto number = schema::number_at(body, "id")) id = rpc::Id(*number);
  peers::Reply reply(std::move(slot), {.id = std::move(id), .request = std::move(notes)}, nullptr);
  reply.refuse_rpc(rpc::StandardCode::kInvalidRequest, why, 404);
}

json as_registration(const json& body) {
  const std::string& endpoint = schema::text_at(body, "contact_endpoint");
  return {
      {"player_meta",
       {{"display_name", schema::text_at(body, "display_name")},
        {"contact_endpoint", endpoint.empty() ? schema::text_at(body, "endpoint") : endpoint}}}};
}

}  // namespace league::agent::host
