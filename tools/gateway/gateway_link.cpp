#include "tools/gateway/gateway_link.h"

#include <nlohmann/json.hpp>

#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/transport/link/caller.h"
#include "tools/gateway/gateway_link_shared.h"
#include "tools/gateway/gateway_modern.h"
#include "tools/gateway/gateway_translation.h"

namespace league::tools::gateway {
namespace {

using core::Error;
using nlohmann::json;

/// The result of `initialize`, as far as the backend decides it.
rpc::Response description_of(const mcp::client::Negotiated& negotiated, const rpc::Id& id,
                             bool is_modern) {
  json result = {{"capabilities", announced(negotiated, is_modern)},
                 {"serverInfo", server_info(negotiated)}};
  if (!negotiated.instructions.empty()) result["instructions"] = negotiated.instructions;
  return rpc::make_result(id, std::move(result));
}

}  // namespace

void GatewayLink::Shared::record(audit::record::Direction direction, audit::record::Kind kind,
                                 const GatewayCall& call, const rpc::MessageContext& context,
                                 std::shared_ptr<const std::string> body,
                                 const std::optional<Error>& fault) const {
  audit::record::Record record =
      audit::record::record_of({std::move(body), context, nullptr}, direction, kind);
  record.time = tools.clock.utc_now();
  record.mono = tools.clock.steady_now();
  record.notes.peer = options.endpoint.scheme + "://" + options.endpoint.authority();
  record.notes.message_type = call.request.method.substr(0, 64);
  record.notes.conversation_id = call.correlation_id;
  if (fault) {
    record.notes.verdict = fault->code;
    record.notes.fault = fault->message;
  }
  log.append(std::move(record));
}

GatewayAnswer GatewayLink::Shared::answer_of(const GatewayCall& call,
                                             mcp::client::SessionAnswer answer,
                                             const std::optional<Error>& fault) const {
  rpc::Response response = std::move(answer.response);
  response.id = call.request.id;
  if (call.request.method == kListenMethod) name_subscription(response.id, response.result);
  if (fault && answer.is_unfinished && call.request.method == "tools/call") {
    // Passed on as the tool's own error, not as one of the backend's transport.
    json content = json::array({{{"type", "text"}, {"text", fault->message}}});
    response = rpc::make_result(response.id, {{"content", std::move(content)}, {"isError", true}});
  } else if (fault) {
    response = gateway_failure(response.id, fault->message);
  }
  GatewayAnswer given(std::move(response));
  bool has_refused = given.response.error && !fault && answer.http_status >= 400;
  if (call.is_modern && has_refused) given.http_status = answer.http_status;
  pass_on_refusal(answer.http_status, answer.refusal_headers.get(), given);
  return given;
}

GatewayAnswer GatewayLink::Shared::failed(const rpc::Id& id, const Error& why) const {
  GatewayAnswer answer(gateway_failure(id, why.message));
  pass_on_refusal(denial.http_status, denial.headers.get(), answer);
  return answer;
}

task::Task<void> GatewayLink::Shared::serve(std::shared_ptr<Shared> self, GatewayCall call,
                                            Wish wish, Answered answered) {
  const auto session = co_await self->session_until(call.deadline);
  if (!session) co_return answered(self->failed(call.request.id, session.error()));
  if (wish == Wish::kDescription)
    co_return answered(description_of((*session)->negotiated(), call.request.id, call.is_modern));
  answered(co_await self->converse(std::move(call), *session));
}

task::Task<GatewayAnswer> GatewayLink::Shared::converse(GatewayCall call, SessionPtr there) {
  using audit::record::Direction;
  using audit::record::Kind;
  const auto negotiated = there->negotiated();
  if (call.request.method == kListenMethod && !negotiated.is_modern) {
    GatewayAnswer none(rpc::make_error(call.request.id, rpc::StandardCode::kMethodNotFound));
    complete_modern(call.request.method, server_info(negotiated), none);
    co_return none;
  }
  auto context = transport::link::context_of_call(options.endpoint, tools.clock);
  context.transport.type = negotiated.transport;
  record(Direction::kOut, Kind::kRequest, call, context,
         std::make_shared<const std::string>(rpc::encode(rpc::Message(call.request))),
         std::nullopt);
  auto request = session_request(call, negotiated);
  if (!options.is_own) {
    // Notifications about one client's call must not reach another client.
    request.on_notification = [take = request.on_notification](const rpc::Notification& note) {
      if (take) (void)take(note);
      return true;
    };
  }
  auto answer = co_await there->ask(std::move(request));
  std::optional<Error> fault;
  if (answer.error) fault = scrubbed(*answer.error);
  if (!fault) context = answer.context;
  auto given = answer_of(call, std::move(answer), fault);
  if (call.is_modern) complete_modern(call.request.method, server_info(negotiated), given);
  if (options.is_own && !given.response.error) state.note(call.request);
  auto body = fault
                  ? nullptr
                  : std::make_shared<const std::string>(rpc::encode(rpc::Message(given.response)));
  record(Direction::kIn, fault ? Kind::kFailure : Kind::kReply, call, context, std::move(body),
         fault);
  co_return given;
}

GatewayLink::GatewayLink(const mcp::client::SessionTools& tools, task::Scope& scope,
                         audit::record::RecordSink& log, GatewayLinkOptions options)
    : shared_(std::make_shared<Shared>(tools, scope, log, std::move(options))) {}

GatewayLink::~GatewayLink() {
  shared_->scope.executor().post([shared = shared_] { shared->stop(); });
}

void GatewayLink::connect() {
  shared_->scope.executor().post([shared = shared_] { shared->want(); });
}

GatewayBackend::Cancel GatewayLink::forward(GatewayCall call, Answered answered) {
  const auto task = shared_->scope.spawn(
      Shared::serve(shared_, std::move(call), Shared::Wish::kAnswer, std::move(answered)));
  return [task] { task.cancel(); };
}

void GatewayLink::describe(const GatewayCall& call, Answered answered) {
  shared_->scope.spawn(
      Shared::serve(shared_, call, Shared::Wish::kDescription, std::move(answered)));
}

void GatewayLink::notify(const std::string& /*owner*/, const rpc::Notification& note) {
  shared_->scope.executor().post([shared = shared_, note] {
    if (shared->is_ready)
      shared->session->notify(note.method,
                              note.params.is_null() ? "" : rpc::to_json_text(note.params));
  });
}

}  // namespace league::tools::gateway
