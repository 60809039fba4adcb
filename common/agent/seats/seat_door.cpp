#include "common/agent/seats/seat_door.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/peers/reply.h"
#include "common/envelope/envelope.h"
#include "common/envelope/sender.h"
#include "common/rpc/codec.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/http_headers.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"
#include "common/transport/link/rate_limiter.h"

namespace league::agent::seats {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using transport::link::OutboundReply;
using transport::link::ReplySlot;

constexpr std::string_view kVia = "seat";

/// The part of the path that names the player; nothing for another path.
std::optional<std::string> player_in(const rpc::MessageContext& context) {
  const auto* http = context.transport.as_http();
  if (http == nullptr) return std::nullopt;
  std::string_view path = http->uri.view();
  if (!path.starts_with(rpc::kSeatsPath)) return std::nullopt;
  path.remove_prefix(rpc::kSeatsPath.size());
  if (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

/// How long the caller waits, as it says; nothing if it does not, or longer than anybody may.
std::optional<std::chrono::milliseconds> limit_in(const rpc::MessageContext& context) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::minutes(10);
  const auto* http = context.transport.as_http();
  if (http == nullptr || !http->headers) return std::nullopt;
  const auto said = rpc::find_header(*http->headers, rpc::kSeatLimitHeader);
  const auto limit = said ? rpc::seat_number(*said) : std::nullopt;
  if (!limit || std::chrono::milliseconds(*limit) > kLongest) return std::nullopt;
  return std::chrono::milliseconds(*limit);
}

bool is_admitted_type(envelope::MessageType type) {
  using enum envelope::MessageType;
  return type == kGameInvitation || type == kChooseParityCall || type == kGameOver ||
         type == kGameError;
}

/// What a frame asks for, in any dialect.
std::variant<dialects::IncomingRequest, dialects::RpcRefusal> read_frame(
    const dialects::RequestReader& reader, rpc::Request frame) {
  if (frame.method != "tools/call") return reader.read(std::move(frame));
  dialects::IncomingRequest request;
  request.id = std::move(frame.id);
  request.shape = dialects::ReplyShape::kToolResult;
  request.method = schema::text_at(frame.params, "name");
  request.message = schema::field_at(frame.params, "arguments");
  return reader.read_tool_call(std::move(request));
}

/// The answer to a call that the player has not answered: as a gateway says it, so that it counts
/// as silence, not as an invalid answer; or that the caller asks too much.
OutboundReply failure(const Error& error, const rpc::Id& id, rpc::MessageNotes& request) {
  constexpr int kTooManyRequests = 429;
  constexpr int kUnavailable = 503;
  constexpr int kGatewayTimeout = 504;
  constexpr std::chrono::milliseconds kWait{1000};
  request.verdict = error.code;
  request.fault = error.message;
  OutboundReply out;
  if (error.code == ErrorCode::kOverloaded) {
    std::string id_text;
    id.append_to(id_text);
    out.http_status = kTooManyRequests;
    out.bytes = transport::link::over_budget_body(kWait, id_text);
    out.headers.emplace_back("Retry-After", "1");
  } else {
    out.http_status = error.code == ErrorCode::kShuttingDown ? kUnavailable : kGatewayTimeout;
  }
  out.notes->via = kVia;
  out.notes->conversation_id = request.conversation_id;
  out.notes->match_id = request.match_id;
  return out;
}

/// What the log says of a player's answer.
std::shared_ptr<rpc::MessageNotes> notes_of(const rpc::SharedText& answer,
                                            const rpc::MessageNotes& request) {
  auto notes = std::make_shared<rpc::MessageNotes>();
  notes->conversation_id = request.conversation_id;
  notes->match_id = request.match_id;
  notes->peer = request.peer;
  notes->via = kVia;
  const auto document = schema::parse_json(answer);
  if (!document) return notes;
  const json& result = schema::field_at(*document, "result");
  notes->message_type = schema::text_at(result, "message_type");
  return notes;
}

OutboundReply reply_of(const SeatAnswer& answer, const rpc::Id& id, rpc::MessageNotes& request) {
  OutboundReply out;
  if (answer.error) {
    out = failure(*answer.error, id, request);
  } else {
    out.bytes = answer.bytes;
    out.notes = notes_of(answer.bytes, request);
  }
  if (!answer.error || answer.error->code == ErrorCode::kTimeout) {
    const auto delay = std::chrono::duration_cast<std::chrono::microseconds>(answer.own_delay);
    out.headers.emplace_back(rpc::kSeatDelayHeader, std::to_string(delay.count()));
  }
  return out;
}

}  // namespace

Error no_entry() {
  return {ErrorCode::kAuthTokenInvalid,
          "only the referee of an open match of this player may call it here, with the match's "
          "credential",
          "/auth_token"};
}

SeatDoor::SeatDoor(transport::link::MessageHandler& handler, Seats& seats, SeatRules rules,
                   const core::Clock& clock)
    : HandlerDecorator(handler),
      seats_(seats),
      rules_(std::move(rules)),
      clock_(clock),
      reader_{.receiver = envelope::Role::kPlayer,
              .is_tool = [](std::string_view name) { return name == "ping"; }} {}

void SeatDoor::on_message(transport::link::Inbound message, ReplySlot reply) {
  auto player = player_in(message.context);
  if (!player) return handler().on_message(std::move(message), std::move(reply));
  on_call(std::move(*player), message, std::move(reply));
}

void SeatDoor::on_call(std::string player, const transport::link::Inbound& message,
                       ReplySlot slot) {
  const auto notes = message.notes;
  notes->via = kVia;
  const std::string seat = player;
  const auto refuse = [&](const rpc::Id& id, const Error& why) {
    if (rules_.on_refused) rules_.on_refused(seat, why);
    peers::Reply(std::move(slot), {.id = id, .request = notes}, nullptr).refuse(why);
  };
  auto document = schema::parse_json(message.bytes);
  if (!document || !document->is_object()) return refuse({}, no_entry());
  auto decoded = rpc::decode(std::move(*document), {.refuse_null_id = true});
  // Answers are found by their ids, so a message without a frame cannot be passed on.
  auto* frame = std::get_if<rpc::Message>(&decoded.frames.front());
  if (frame == nullptr || !std::holds_alternative<rpc::Request>(*frame))
    return refuse({}, no_entry());
  auto read = read_frame(reader_, std::get<rpc::Request>(std::move(*frame)));
  auto* request = std::get_if<dialects::IncomingRequest>(&read);
  if (request == nullptr) return refuse(std::get<dialects::RpcRefusal>(read).id, no_entry());
  if (!request->type) return on_ping(player, request->id, notes, std::move(slot));

  const auto& context = schema::field_at(request->message, "context");
  SeatClaim claim{.player = std::move(player),
                  .type = *request->type,
                  .match_id = schema::text_at(request->message, "match_id"),
                  .play = static_cast<int>(schema::number_at(context, "play").value_or(0)),
                  .shown = core::AuthToken(schema::text_at(request->message, "auth_token"))};
  notes->message_type = std::string(envelope::wire_name(claim.type));
  notes->conversation_id = envelope::conversation_id_in(request->message);
  if (auto sender = envelope::Sender::parse(schema::text_at(request->message, "sender")))
    notes->peer = sender->str();
  // Under a name that means something else to the player, an invitation would be another call.
  const bool has_other_name =
      request->leniencies.contains(envelope::Leniency::kMethodUnknownRouted);
  if (has_other_name || !is_admitted_type(claim.type)) return refuse(request->id, no_entry());
  const auto caller = rules_.admit(claim);
  if (!caller) return refuse(request->id, caller.error());
  notes->match_id = claim.match_id;
  notes->peer = caller->referee;
  if (caller->is_proven) notes->said_by = caller->referee;

  const auto patience = rules_.patience(claim.player, claim.type);
  seats_.call(claim.player,
              {.bytes = message.bytes,
               .id = request->id,
               .caller = caller->referee,
               .deadline = clock_.steady_now() + limit_in(message.context).value_or(patience.limit),
               .waits = patience.waits_for_absent},
              [notes, id = request->id, slot = std::make_shared<ReplySlot>(std::move(slot))](
                  const SeatAnswer& answer) { slot->send(reply_of(answer, id, *notes)); });
}

void SeatDoor::on_ping(const std::string& player, const rpc::Id& id,
                       const std::shared_ptr<rpc::MessageNotes>& notes, ReplySlot slot) {
  notes->message_type = "ping";
  auto reply = std::make_shared<peers::Reply>(
      std::move(slot), peers::Reply::Target{.id = id, .request = notes}, nullptr);
  seats_.look_for(player, [reply](bool is_there) {
    if (is_there) return reply->acknowledge();
    reply->refuse_rpc(rpc::StandardCode::kInternalError,
                      {ErrorCode::kPlayerUnavailable, "nobody sits at this seat", ""}, 503);
  });
}

void SeatAnswers::on_message(transport::link::Inbound message, ReplySlot reply) {
  // A connection has a channel and no watch.
  const bool is_answer = message.channel && !message.watch &&
                         rpc::peek_frame(message.bytes).kind == rpc::FrameKind::kResponse;
  if (!is_answer || !seats_.take_answer(*message.channel, message.bytes))
    return handler().on_message(std::move(message), std::move(reply));
  OutboundReply nothing;
  nothing.http_status = 202;
  reply.send(std::move(nothing));
}

void SeatAnswers::on_channel_closed(const transport::link::PeerChannel& channel) {
  seats_.on_channel_closed(channel);
  HandlerDecorator::on_channel_closed(channel);
}

}  // namespace league::agent::seats
