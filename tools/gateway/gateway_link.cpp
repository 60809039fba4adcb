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
using core::ErrorCode;
using nlohmann::json;
using SessionPtr = std::shared_ptr<mcp::client::ClientSession>;
using Steady = core::Clock::Steady;

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

GatewayLink::GatewayLink(const mcp::client::SessionTools& tools, audit::record::RecordSink& log,
                         GatewayLinkOptions options)
    : shared_(std::make_shared<Shared>(tools, log, std::move(options))) {}

GatewayLink::~GatewayLink() {
  SessionPtr session;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->is_closed = true;
    session = std::move(shared_->session);
    shared_->session = nullptr;
  }
  if (session) session->close();
}

void GatewayLink::connect(std::function<void(core::Result<mcp::client::Negotiated>)> connected) {
  shared_->with_session(Steady::max(),
                        [connected = std::move(connected)](core::Result<SessionPtr> session) {
                          if (!session) return connected(session.error());
                          connected((*session)->negotiated());
                        });
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

void GatewayLink::Shared::run(const std::shared_ptr<const GatewayCall>& call,
                              const std::shared_ptr<Running>& running, const SessionPtr& there,
                              const Answered& answered) {
  {
    std::lock_guard lock(running->mutex);
    if (running->is_cancelled) return;
  }
  auto context = transport::link::context_of_call(options.endpoint, tools.clock);
  const auto negotiated = there->negotiated();
  context.transport.type = negotiated.transport;
  if (call->request.method == kListenMethod && !negotiated.is_modern) {
    GatewayAnswer none(rpc::make_error(call->request.id, rpc::StandardCode::kMethodNotFound));
    complete_modern(call->request.method, server_info(negotiated), none);
    return answered(std::move(none));
  }
  record(audit::record::Direction::kOut, audit::record::Kind::kRequest, *call, context,
         std::make_shared<const std::string>(rpc::encode(rpc::Message(call->request))),
         std::nullopt);
  auto request = session_request(*call, negotiated);
  if (!options.is_own) {
    // Notifications about one client's call must not reach another client.
    request.on_notification = [take = request.on_notification](const rpc::Notification& note) {
      if (take) (void)take(note);
      return true;
    };
  }
  auto id = there->request(std::move(request), [self = shared_from_this(), call, context, answered,
                                                negotiated](mcp::client::SessionAnswer answer) {
    std::optional<Error> fault;
    if (answer.error) fault = self->scrubbed(*answer.error);
    const auto received = fault ? context : answer.context;
    auto given = self->answer_of(*call, std::move(answer), fault);
    if (call->is_modern) complete_modern(call->request.method, server_info(negotiated), given);
    self->note_setting(*call, given);
    self->record(
        audit::record::Direction::kIn,
        fault ? audit::record::Kind::kFailure : audit::record::Kind::kReply, *call, received,
        fault ? nullptr
              : std::make_shared<const std::string>(rpc::encode(rpc::Message(given.response))),
        fault);
    answered(std::move(given));
  });
  std::lock_guard lock(running->mutex);
  running->session = there;
  running->id = id;
}

GatewayBackend::Cancel GatewayLink::forward(GatewayCall call, Answered answered) {
  auto running = std::make_shared<Running>();
  auto shared_call = std::make_shared<const GatewayCall>(std::move(call));
  shared_->with_session(
      shared_call->deadline, [shared = shared_, shared_call, running,
                              answered = std::move(answered)](core::Result<SessionPtr> session) {
        if (!session) return answered(shared->failed(shared_call->request.id, session.error()));
        shared->run(shared_call, running, *session, answered);
      });
  return [running] {
    SessionPtr session;
    mcp::client::ClientSession::RequestId id = 0;
    {
      std::lock_guard lock(running->mutex);
      running->is_cancelled = true;
      session = running->session;
      id = running->id;
    }
    if (session) session->cancel(id, "the client has cancelled the request");
  };
}

void GatewayLink::describe(const GatewayCall& call, Answered answered) {
  shared_->with_session(call.deadline,
                        [shared = shared_, id = call.request.id, is_modern = call.is_modern,
                         answered = std::move(answered)](core::Result<SessionPtr> session) {
                          if (!session) return answered(shared->failed(id, session.error()));
                          auto negotiated = (*session)->negotiated();
                          json result = {{"capabilities", announced(negotiated, is_modern)},
                                         {"serverInfo", server_info(negotiated)}};
                          if (!negotiated.instructions.empty())
                            result["instructions"] = negotiated.instructions;
                          answered(rpc::make_result(id, std::move(result)));
                        });
}

void GatewayLink::notify(const std::string& /*owner*/, const rpc::Notification& note) {
  SessionPtr session;
  {
    std::lock_guard lock(shared_->mutex);
    if (shared_->is_ready) session = shared_->session;
  }
  if (session)
    session->notify(note.method, note.params.is_null() ? "" : rpc::to_json_text(note.params));
}

}  // namespace league::tools::gateway
