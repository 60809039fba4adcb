#include "tools/league/connect/bot_door.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/dialects/reply_dialect.h"
#include "common/agent/seats/seat_caller.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::tools::connection {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kPatience{15};

/// The player_meta of a registration in any dialect; null: it has none.
json* find_meta(json& value, int depth = 0) {
  if (!value.is_object() || depth > 3) return nullptr;
  if (value.contains("player_meta") && value["player_meta"].is_object())
    return &value["player_meta"];
  for (const char* inner : {"params", "message", "arguments"}) {
    if (!value.contains(inner)) continue;
    if (json* found = find_meta(value[inner], depth + 1)) return found;
  }
  return nullptr;
}

}  // namespace

core::Result<std::unique_ptr<BotDoor>> BotDoor::open(Options options,
                                                     transport::link::Caller& caller,
                                                     const core::Clock& clock,
                                                     Registered registered) {
  std::unique_ptr<BotDoor> door(
      new BotDoor(std::move(options), caller, clock, std::move(registered)));
  auto runtime = transport::front::HttpRuntime::start();
  if (!runtime) return runtime.error();
  door->runtime_ = std::move(*runtime);
  transport::http::HttpServerOptions http;
  http.port = door->options_.port;
  auto server = transport::front::HttpServer::start(*door->runtime_, http, *door);
  if (!server) return server.error();
  door->server_ = std::move(*server);
  return door;
}

BotDoor::BotDoor(Options options, transport::link::Caller& caller, const core::Clock& clock,
                 Registered registered)
    : options_(std::move(options)),
      caller_(caller),
      clock_(clock),
      registered_(std::move(registered)) {}

BotDoor::~BotDoor() {
  if (server_) server_->stop();
}

std::optional<std::string> BotDoor::make_outward(json& frame) const {
  json* meta = find_meta(frame);
  if (meta == nullptr) return std::nullopt;
  std::string endpoint = schema::text_at(*meta, "contact_endpoint");
  (*meta)["contact_endpoint"] = agent::seats::kOutward;
  if (!options_.name.empty()) (*meta)["display_name"] = options_.name;
  if (!options_.code.empty() && !meta->contains("registration_code"))
    (*meta)["registration_code"] = options_.code.reveal();
  return endpoint;
}

void BotDoor::on_message(transport::link::Inbound message, transport::link::ReplySlot reply) {
  auto frame = schema::parse_json(message.bytes);
  const auto endpoint = frame ? make_outward(*frame) : std::nullopt;
  const rpc::Id id = rpc::peek_frame(message.bytes).id;
  transport::link::OutboundCall call;
  call.bytes = endpoint ? rpc::SharedText(rpc::to_json_text(*frame)) : message.bytes;
  call.endpoint = options_.manager;
  call.deadline = clock_.steady_now() + kPatience;
  call.id = id;
  caller_.call(
      std::move(call),
      [this, id, endpoint, slot = std::make_shared<transport::link::ReplySlot>(std::move(reply))](
          const transport::link::CallOutcome& outcome) {
        transport::link::OutboundReply out;
        out.bytes = outcome.bytes;
        constexpr int kBadGateway = 502;
        out.http_status = outcome.error ? kBadGateway : outcome.http_status;
        auto document = schema::parse_json(outcome.bytes);
        if (endpoint && !outcome.error && document) {
          const auto answer = agent::dialects::read_reply(std::move(*document), id);
          if (answer && schema::text_at(answer->message, "status") == "ACCEPTED")
            registered_(answer->message, *endpoint);
        }
        slot->send(std::move(out));
      });
}

}  // namespace league::tools::connection
