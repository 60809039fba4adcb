#include "common/mcp/client/client_session.h"
#include "common/mcp/client/client_session_parts.h"
#include "common/mcp/protocol.h"
#include "common/rpc/codec.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::mcp::client {
namespace {

using nlohmann::json;

/// True for notifications about the server itself, on whichever stream they arrive.
bool is_for_all(std::string_view method) {
  return method.ends_with("/list_changed") || method == "notifications/resources/updated";
}

}  // namespace

void ClientSession::on_other(const transport::link::ReceivedMessage& message) {
  auto document = schema::parse_json(message.bytes, schema::kMcpLimits);
  if (!document) return;  // some servers also print text that is not JSON
  for (auto& frame : rpc::decode(std::move(*document)).frames) {
    auto* decoded = std::get_if<rpc::Message>(&frame);
    if (decoded == nullptr) continue;
    if (auto* request = std::get_if<rpc::Request>(decoded)) {
      take_request(std::move(*request), call_of(message.by_answer_to));
    } else if (auto* note = std::get_if<rpc::Notification>(decoded)) {
      if (note->method == "notifications/progress") {
        on_progress(note->params);
      } else {
        take_notification(*note, message);
      }
    }
  }
}

void ClientSession::take_request(rpc::Request request, Call* call) {
  const auto& take =
      call != nullptr && call->request.on_request ? call->request.on_request : options_.on_request;
  if (!take) return answer_server(rpc::make_error(request.id, rpc::StandardCode::kMethodNotFound));
  auto answer = [weak = weak_from_this(), executor = scope_.executor(),
                 id = request.id](rpc::Response response) {
    response.id = id;
    executor.post([weak, response = std::move(response)] {
      if (auto self = weak.lock()) self->answer_server(response);
    });
  };
  take(std::move(request), std::move(answer));
}

void ClientSession::answer_server(rpc::Response response) {
  if (!client_) return;
  transport::link::OutboundMessage message;
  message.headers = with_own(session_headers(negotiated_));
  message.bytes = rpc::encode(rpc::Message(std::move(response)));
  message.is_repeatable = true;
  client_->send(std::move(message));
}

void ClientSession::take_notification(const rpc::Notification& note,
                                      const transport::link::ReceivedMessage& message) {
  // Null if it belongs to none.
  const json& subscription =
      schema::field_at(schema::field_at(note.params, "_meta"), kSubscriptionKey);
  const Call* call = nullptr;
  if (!subscription.is_null()) {
    call = call_of(subscription);
    // Notifications of a subscription go to its request only, and are dropped after it has ended.
    if (call != nullptr && call->request.on_notification) (void)call->request.on_notification(note);
    return;
  } else if (!is_for_all(note.method)) {
    call = call_of(message.by_answer_to);
  }
  if (call != nullptr && call->request.on_notification && call->request.on_notification(note))
    return;
  if (options_.on_notification) options_.on_notification(note, message.context);
}

ClientSession::Call* ClientSession::call_of(const json& id) const {
  if (!id.is_number_integer()) return nullptr;
  auto found = calls_.find(id.get<RequestId>());
  return found == calls_.end() ? nullptr : found->second;
}

void ClientSession::on_progress(const json& params) {
  const Call* call = call_of(schema::field_at(params, "progressToken"));
  if (call != nullptr && call->request.on_progress) call->request.on_progress(params);
}

}  // namespace league::mcp::client
