#include "tools/gateway/gateway_sse.h"

#include <nlohmann/json.hpp>

#include "common/task/signal.h"
#include "common/transport/client/legacy_sse_connection.h"
#include "common/transport/link/caller.h"
#include "tools/gateway/gateway_headers.h"
#include "tools/gateway/gateway_machine.h"

namespace league::tools::gateway {
namespace {

using core::Error;
using nlohmann::json;

/// `endpoint` for people and logs: without its query, which can contain a credential.
std::string place_of(const transport::link::Endpoint& endpoint) {
  return endpoint.scheme + "://" + endpoint.authority();
}

}  // namespace

/// One request of a client and the channel that was opened for it. Runs on the executor of the
/// backend's scope; the connection calls it on another thread.
class GatewaySseBackend::Exchange final : public transport::link::MessageReceiver,
                                          public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(const GatewaySseBackend& backend, GatewayCall call)
      : tools_(backend.tools_),
        options_(backend.options_),
        executor_(backend.scope_.executor()),
        call_(std::move(call)),
        machine_(call_.request) {}

  /// Opens the channel, and passes messages on until there is an answer. Then, and if it is
  /// cancelled, the channel is closed.
  static task::Task<void> run(std::shared_ptr<Exchange> self, Answered answered);

  void on_message(transport::link::ReceivedMessage message) override;
  void on_closed(const Error& why) override;

 private:
  task::Task<GatewayAnswer> converse();
  task::Task<transport::client::ConnectOutcome> open();
  void act(GatewayMachine::Actions actions);
  void send(const GatewayMachine::Send& action);
  void on_sent(bool awaits_receipt, const transport::link::SendOutcome& outcome);
  /// Closes the channel; nothing happens any more.
  void close();
  /// Runs `function` on the executor, unless the exchange is over.
  void later(std::function<void(Exchange&)> function);
  [[nodiscard]] Error scrubbed(const Error& error) const;
  void record(audit::record::Direction direction, audit::record::Kind kind, rpc::SharedText bytes,
              const rpc::MessageContext& context);
  void record_failure(const rpc::Response& answer);

  const Tools tools_;
  const std::shared_ptr<const GatewaySseOptions> options_;
  const task::Executor executor_;
  const GatewayCall call_;
  GatewayMachine machine_;
  std::shared_ptr<transport::link::MessageConnection> connection_;
  std::shared_ptr<const rpc::HeaderMap> refusal_;  ///< the headers of a refusal
  std::optional<GatewayMachine::Answer> answer_;
  task::Signal<bool> is_answered_;  ///< opened with answer_
  bool is_over_ = false;
};

task::Task<void> GatewaySseBackend::Exchange::run(std::shared_ptr<Exchange> self,
                                                  Answered answered) {
  Exchange& its = *self;
  try {
    auto given = co_await its.converse();
    its.close();
    answered(std::move(given));
  } catch (...) {
    its.act(its.machine_.on_cancel());
    its.close();
    throw;
  }
}

task::Task<GatewayAnswer> GatewaySseBackend::Exchange::converse() {
  const auto patience = std::max<std::chrono::nanoseconds>(
      call_.deadline - tools_.clock.steady_now(), std::chrono::nanoseconds::zero());
  const auto timer = tools_.timer.schedule(patience, [weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->later([](Exchange& its) { its.act(its.machine_.on_timeout()); });
  });
  auto outcome = co_await open();
  if (const auto* failure = std::get_if<transport::client::ConnectFailure>(&outcome)) {
    refusal_ = failure->headers;
    act(machine_.on_refused(scrubbed(failure->error), failure->http_status));
  } else {
    connection_ = std::move(std::get<std::shared_ptr<transport::link::MessageConnection>>(outcome));
    connection_->start(shared_from_this());
    act(machine_.on_endpoint());
  }
  if (!answer_) co_await is_answered_.wait();
  tools_.timer.cancel(timer);
  if (machine_.state() == GatewayState::kFailed) record_failure(answer_->response);
  GatewayAnswer given(std::move(answer_->response));
  pass_on_refusal(answer_->http_status, refusal_.get(), given);
  co_return given;
}

task::Task<transport::client::ConnectOutcome> GatewaySseBackend::Exchange::open() {
  transport::client::LegacySseOptions options;
  const auto* http = call_.context.transport.as_http();
  const bool has_headers = http != nullptr && http->headers;
  options.limits.max_message = options_->max_result;
  options.stream_headers = headers_for_backend(has_headers ? *http->headers : rpc::HeaderMap{});
  transport::link::Endpoint endpoint = options_->endpoint;
  options.post_headers = options.stream_headers;
  options_->credential.apply(endpoint, options.stream_headers);
  transport::link::Endpoint unused = options_->endpoint;
  options_->credential.apply(unused, options.post_headers);
  transport::client::LegacySseConnector connector(tools_.loop, std::move(options));
  const auto deadline =
      std::min(call_.deadline, tools_.clock.steady_now() + options_->connect_timeout);
  co_return co_await task::called_back<transport::client::ConnectOutcome>(
      [&](auto opened) { connector.open(endpoint, deadline, std::move(opened)); });
}

void GatewaySseBackend::Exchange::act(GatewayMachine::Actions actions) {
  for (auto& action : actions) {
    if (auto* message = std::get_if<GatewayMachine::Send>(&action)) {
      send(*message);
    } else if (auto* news = std::get_if<GatewayMachine::Forward>(&action)) {
      if (call_.channel)
        call_.channel->push(std::make_shared<const std::string>(std::move(news->bytes)));
    } else {
      answer_ = std::move(std::get<GatewayMachine::Answer>(action));
      is_answered_.open(true);
    }
  }
}

void GatewaySseBackend::Exchange::send(const GatewayMachine::Send& action) {
  auto context = rpc::MessageContext::now(tools_.clock, rpc::MessageDirection::kUnknown,
                                          connection_->current_context());
  record(audit::record::Direction::kOut, audit::record::Kind::kRequest, action.bytes, context);
  transport::link::OutboundMessage message;
  message.bytes = action.bytes;
  message.deadline = call_.deadline;
  message.done = [self = shared_from_this(),
                  awaits = action.awaits_receipt](const transport::link::SendOutcome& outcome) {
    self->later([awaits, outcome](Exchange& its) { its.on_sent(awaits, outcome); });
  };
  connection_->send(std::move(message));
}

void GatewaySseBackend::Exchange::on_sent(bool awaits_receipt,
                                          const transport::link::SendOutcome& outcome) {
  if (!outcome.error) {
    if (awaits_receipt) act(machine_.on_received());
    return;
  }
  if (const auto* head = outcome.context.transport.as_http()) refusal_ = head->headers;
  act(machine_.on_refused(scrubbed(*outcome.error), outcome.http_status));
}

void GatewaySseBackend::Exchange::on_message(transport::link::ReceivedMessage message) {
  later([message = std::move(message)](Exchange& its) {
    its.record(audit::record::Direction::kIn, audit::record::Kind::kReply, message.bytes,
               message.context);
    its.act(its.machine_.on_message(message.bytes));
  });
}

void GatewaySseBackend::Exchange::on_closed(const Error& why) {
  later([why](Exchange& its) { its.act(its.machine_.on_closed(its.scrubbed(why))); });
}

void GatewaySseBackend::Exchange::later(std::function<void(Exchange&)> function) {
  executor_.post([self = shared_from_this(), function = std::move(function)] {
    if (!self->is_over_) function(*self);
  });
}

void GatewaySseBackend::Exchange::close() {
  is_over_ = true;
  if (const auto connection = std::exchange(connection_, nullptr)) connection->close();
}

Error GatewaySseBackend::Exchange::scrubbed(const Error& error) const {
  return {error.code, options_->credential.scrub(error.message), {}};
}

void GatewaySseBackend::Exchange::record(audit::record::Direction direction,
                                         audit::record::Kind kind, rpc::SharedText bytes,
                                         const rpc::MessageContext& context) {
  audit::record::Record record =
      audit::record::record_of({std::move(bytes), context, nullptr}, direction, kind);
  record.time = tools_.clock.utc_now();
  record.mono = tools_.clock.steady_now();
  record.context.type = rpc::TransportType::kSse;
  record.notes.peer = place_of(options_->endpoint);
  record.notes.conversation_id = call_.correlation_id;
  tools_.log.append(std::move(record));
}

void GatewaySseBackend::Exchange::record_failure(const rpc::Response& answer) {
  audit::record::Record record;
  record.direction = audit::record::Direction::kIn;
  record.kind = audit::record::Kind::kFailure;
  record.time = tools_.clock.utc_now();
  record.mono = tools_.clock.steady_now();
  record.context = transport::link::context_of_call(options_->endpoint, tools_.clock).transport;
  record.notes.peer = place_of(options_->endpoint);
  record.notes.conversation_id = call_.correlation_id;
  record.notes.verdict = core::ErrorCode::kConnectionError;
  if (answer.error) record.notes.fault = answer.error->message;
  tools_.log.append(std::move(record));
}

GatewaySseBackend::GatewaySseBackend(const Tools& tools, GatewaySseOptions options)
    : tools_(tools), options_(std::make_shared<const GatewaySseOptions>(std::move(options))) {}

GatewayBackend::Cancel GatewaySseBackend::forward(GatewayCall call, Answered answered) {
  const auto task = scope_.spawn(
      Exchange::run(std::make_shared<Exchange>(*this, std::move(call)), std::move(answered)));
  return [task] { task.cancel(); };
}

void GatewaySseBackend::describe(const GatewayCall& call, Answered answered) {
  json result = {{"capabilities", {{"tools", json::object()}}},
                 {"serverInfo", {{"name", "league-gateway"}, {"version", LEAGUE_VERSION}}}};
  answered(rpc::make_result(call.request.id, std::move(result)));
}

bool GatewaySseBackend::takes(std::string_view /*method*/) const { return false; }

}  // namespace league::tools::gateway
