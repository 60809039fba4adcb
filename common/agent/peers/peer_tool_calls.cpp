#include "common/agent/peers/peer_client.h"
#include "common/agent/peers/peer_errors.h"
#include "common/rpc/codec.h"
#include "common/rpc/dialect_search.h"
#include "common/rpc/seat_address.h"

// Calls of PeerClient that carry no league message.
namespace league::agent::peers {

using core::ErrorCode;
using core::Result;
using nlohmann::json;

void PeerClient::ping(transport::link::Endpoint endpoint, const std::string& peer,
                      std::chrono::milliseconds time_limit,
                      std::function<void(bool alive)> completion) {
  transport::link::OutboundCall out;
  out.endpoint = std::move(endpoint);
  out.id = rpc::Id(next_id_.fetch_add(1));
  out.bytes = rpc::encode_request(out.id, "ping", "{}");
  out.is_repeatable = true;
  out.deadline = clock_.steady_now() + time_limit;
  out.notes->message_type = "ping";
  out.notes->peer = peer;
  // A seat answers for its player, also that nobody sits there.
  const bool is_seat = out.endpoint.path.starts_with(rpc::kSeatsPath);
  auto& caller = caller_for(style_of(out.endpoint));
  caller.call(std::move(out), [peer, is_seat, completion = std::move(completion)](
                                  transport::link::CallOutcome outcome) {
    outcome.notes->message_type = "ping";
    outcome.notes->peer = peer;
    if (outcome.error) {
      outcome.notes->verdict = outcome.error->code;
      outcome.notes->fault = outcome.error->message;
    }
    outcome.write_record();
    constexpr int kUnavailable = 503;
    completion(!outcome.error && !(is_seat && outcome.http_status == kUnavailable));
  });
}

void PeerClient::call_tool(PeerToolCall call, std::function<void(Result<json>)> completion) {
  transport::link::OutboundCall out;
  out.endpoint = std::move(call.endpoint);
  out.id = rpc::Id(next_id_.fetch_add(1));
  out.bytes = dialects::frame_call({call.style, call.tool}, out.id, call.arguments);
  out.deadline = clock_.steady_now() + call.time_limit;
  out.budget = call.budget;
  out.notes->message_type = call.tool;
  out.notes->peer = call.peer;
  out.notes->conversation_id = call.conversation_id;
  out.notes->match_id = call.match_id;
  trace(out, call.arguments, call.conversation_id);
  const rpc::Id id = out.id;
  caller_.call(std::move(out), [call = std::move(call), id, completion = std::move(completion)](
                                   const transport::link::CallOutcome& outcome) {
    outcome.notes->message_type = call.tool;
    outcome.notes->peer = call.peer;
    outcome.notes->conversation_id = call.conversation_id;
    outcome.notes->match_id = call.match_id;
    auto result = tool_result(outcome, id, call.peer, call.tool);
    if (result) {
      if (auto said = envelope::conversation_id_in(*result); !said.empty())
        outcome.notes->conversation_id = std::move(said);
    }
    if (!result) {
      const bool is_search =
          call.is_search && result.error().code == ErrorCode::kUnknownMessageType;
      outcome.notes->verdict = is_search ? ErrorCode::kUnexpectedMessage : result.error().code;
      outcome.notes->fault =
          is_search ? std::string(rpc::kTriesAnotherName) : result.error().message;
    }
    outcome.write_record();
    completion(std::move(result));
  });
}

}  // namespace league::agent::peers
