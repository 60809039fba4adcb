#include "tools/gateway/gateway_sse.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "common/rpc/codec.h"
#include "common/transport/client/legacy_sse_connection.h"
#include "common/transport/link/caller.h"
#include "tools/gateway/gateway_headers.h"
#include "tools/gateway/gateway_machine.h"

namespace league::tools::gateway {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

/// `endpoint` for people and logs: without its query, which can contain a credential.
std::string place_of(const transport::link::Endpoint& endpoint) {
  return endpoint.scheme + "://" + endpoint.authority();
}

}  // namespace

struct GatewaySseBackend::Shared {
  Shared(const Tools& tools_in, GatewaySseOptions options_in)
      : tools(tools_in), options(std::move(options_in)) {}

  const Tools tools;
  const GatewaySseOptions options;
  std::mutex mutex;
  bool is_closed = false;
  std::set<std::shared_ptr<Exchange>> exchanges;
};

/// One request of a client and the channel that was opened for it.
class GatewaySseBackend::Exchange final : public transport::link::MessageReceiver,
                                          public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<Shared> shared, GatewayCall call, Answered answered)
      : shared_(std::move(shared)),
        call_(std::move(call)),
        answered_(std::move(answered)),
        machine_(call_.request) {}

  void start();
  /// Ends without an answer.
  void cancel() {
    happened([](GatewayMachine& machine) { return machine.on_cancel(); });
    end({});
  }

  void on_message(transport::link::ReceivedMessage message) override;
  void on_closed(const Error& why) override;

 private:
  using Event = std::function<GatewayMachine::Actions(GatewayMachine&)>;
  void happened(const Event& event);
  void act(GatewayMachine::Actions actions);
  void send(const GatewayMachine::Send& action);
  void end(std::optional<GatewayMachine::Answer> answer);
  void on_opened(transport::client::ConnectOutcome outcome);
  void note_refusal(std::shared_ptr<const rpc::HeaderMap> headers) {
    std::lock_guard lock(mutex_);
    refusal_ = std::move(headers);
  }
  [[nodiscard]] Error scrubbed(const Error& error) const;
  void record(audit::record::Direction direction, audit::record::Kind kind, rpc::SharedText bytes,
              const rpc::MessageContext& context);
  void record_failure(const rpc::Response& answer);

  const std::shared_ptr<Shared> shared_;
  const GatewayCall call_;
  std::mutex mutex_;  // guards the rest; not held during calls of others
  Answered answered_;
  GatewayMachine machine_;
  std::shared_ptr<transport::link::MessageConnection> connection_;
  core::Timer::Id timer_ = 0;
  std::shared_ptr<const rpc::HeaderMap> refusal_;  ///< the headers of a refusal
  bool has_ended_ = false;
};

void GatewaySseBackend::Exchange::start() {
  const Shared& shared = *shared_;
  auto now = shared.tools.clock.steady_now();
  auto timer = shared.tools.timer.schedule(
      std::max<std::chrono::nanoseconds>(call_.deadline - now, std::chrono::nanoseconds::zero()),
      [weak = weak_from_this()] {
        if (auto self = weak.lock())
          self->happened([](GatewayMachine& machine) { return machine.on_timeout(); });
      });
  {
    std::lock_guard lock(mutex_);
    timer_ = timer;
  }
  transport::client::LegacySseOptions options;
  const auto* http = call_.context.transport.as_http();
  const bool has_headers = http != nullptr && http->headers;
  options.limits.max_message = shared.options.max_result;
  options.stream_headers = headers_for_backend(has_headers ? *http->headers : rpc::HeaderMap{});
  transport::link::Endpoint endpoint = shared.options.endpoint;
  options.post_headers = options.stream_headers;
  shared.options.credential.apply(endpoint, options.stream_headers);
  transport::link::Endpoint unused = shared.options.endpoint;
  shared.options.credential.apply(unused, options.post_headers);
  transport::client::LegacySseConnector connector(shared.tools.loop, std::move(options));
  connector.open(endpoint, std::min(call_.deadline, now + shared.options.connect_timeout),
                 [self = shared_from_this()](transport::client::ConnectOutcome outcome) {
                   self->on_opened(std::move(outcome));
                 });
}

void GatewaySseBackend::Exchange::on_opened(transport::client::ConnectOutcome outcome) {
  if (auto* failure = std::get_if<transport::client::ConnectFailure>(&outcome)) {
    note_refusal(failure->headers);
    return happened([&](GatewayMachine& machine) {
      return machine.on_refused(scrubbed(failure->error), failure->http_status);
    });
  }
  auto connection =
      std::move(std::get<std::shared_ptr<transport::link::MessageConnection>>(outcome));
  bool is_late = false;
  {
    std::lock_guard lock(mutex_);
    is_late = has_ended_;
    if (!is_late) connection_ = connection;
  }
  connection->start(shared_from_this());
  if (is_late) return connection->close();
  happened([](GatewayMachine& machine) { return machine.on_endpoint(); });
}

void GatewaySseBackend::Exchange::happened(const Event& event) {
  GatewayMachine::Actions actions;
  {
    std::lock_guard lock(mutex_);
    if (has_ended_) return;
    actions = event(machine_);
  }
  act(std::move(actions));
}

void GatewaySseBackend::Exchange::act(GatewayMachine::Actions actions) {
  for (auto& action : actions) {
    if (auto* message = std::get_if<GatewayMachine::Send>(&action)) {
      send(*message);
    } else if (auto* news = std::get_if<GatewayMachine::Forward>(&action)) {
      if (call_.channel)
        call_.channel->push(std::make_shared<const std::string>(std::move(news->bytes)));
    } else {
      end(std::move(std::get<GatewayMachine::Answer>(action)));
    }
  }
}

void GatewaySseBackend::Exchange::send(const GatewayMachine::Send& action) {
  std::shared_ptr<transport::link::MessageConnection> connection;
  {
    std::lock_guard lock(mutex_);
    connection = connection_;
  }
  if (!connection) return;
  auto context = rpc::MessageContext::now(shared_->tools.clock, rpc::MessageDirection::kUnknown,
                                          connection->current_context());
  record(audit::record::Direction::kOut, audit::record::Kind::kRequest, action.bytes, context);
  transport::link::OutboundMessage message;
  message.bytes = action.bytes;
  message.deadline = call_.deadline;
  message.done = [self = shared_from_this(),
                  awaits = action.awaits_receipt](const transport::link::SendOutcome& outcome) {
    if (outcome.error) {
      const auto* head = outcome.context.transport.as_http();
      if (head != nullptr) self->note_refusal(head->headers);
      self->happened([&](GatewayMachine& machine) {
        return machine.on_refused(self->scrubbed(*outcome.error), outcome.http_status);
      });
    } else if (awaits) {
      self->happened([](GatewayMachine& machine) { return machine.on_received(); });
    }
  };
  connection->send(std::move(message));
}

void GatewaySseBackend::Exchange::on_message(transport::link::ReceivedMessage message) {
  record(audit::record::Direction::kIn, audit::record::Kind::kReply, message.bytes,
         message.context);
  happened([&](GatewayMachine& machine) { return machine.on_message(message.bytes); });
}

void GatewaySseBackend::Exchange::on_closed(const Error& why) {
  happened([&](GatewayMachine& machine) { return machine.on_closed(scrubbed(why)); });
}

void GatewaySseBackend::Exchange::end(std::optional<GatewayMachine::Answer> answer) {
  std::shared_ptr<transport::link::MessageConnection> connection;
  Answered answered;
  core::Timer::Id timer = 0;
  GatewayState state;
  std::shared_ptr<const rpc::HeaderMap> refusal;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(has_ended_, true)) return;
    connection = std::move(connection_);
    answered = std::move(answered_);
    timer = timer_;
    state = machine_.state();
    refusal = refusal_;
  }
  if (timer != 0) shared_->tools.timer.cancel(timer);
  if (connection) connection->close();
  if (answer && state == GatewayState::kFailed) record_failure(answer->response);
  {
    std::lock_guard lock(shared_->mutex);
    shared_->exchanges.erase(shared_from_this());
  }
  if (!answer || !answered) return;
  GatewayAnswer given(std::move(answer->response));
  pass_on_refusal(answer->http_status, refusal.get(), given);
  answered(std::move(given));
}

Error GatewaySseBackend::Exchange::scrubbed(const Error& error) const {
  return {error.code, shared_->options.credential.scrub(error.message), {}};
}

void GatewaySseBackend::Exchange::record(audit::record::Direction direction,
                                         audit::record::Kind kind, rpc::SharedText bytes,
                                         const rpc::MessageContext& context) {
  audit::record::Record record =
      audit::record::record_of({std::move(bytes), context, nullptr}, direction, kind);
  record.time = shared_->tools.clock.utc_now();
  record.mono = shared_->tools.clock.steady_now();
  record.context.type = rpc::TransportType::kSse;
  record.notes.peer = place_of(shared_->options.endpoint);
  record.notes.conversation_id = call_.correlation_id;
  shared_->tools.log.append(std::move(record));
}

void GatewaySseBackend::Exchange::record_failure(const rpc::Response& answer) {
  audit::record::Record record;
  record.direction = audit::record::Direction::kIn;
  record.kind = audit::record::Kind::kFailure;
  record.time = shared_->tools.clock.utc_now();
  record.mono = shared_->tools.clock.steady_now();
  record.context =
      transport::link::context_of_call(shared_->options.endpoint, shared_->tools.clock).transport;
  record.notes.peer = place_of(shared_->options.endpoint);
  record.notes.conversation_id = call_.correlation_id;
  record.notes.verdict = ErrorCode::kConnectionError;
  if (answer.error) record.notes.fault = answer.error->message;
  shared_->tools.log.append(std::move(record));
}

GatewaySseBackend::GatewaySseBackend(const Tools& tools, GatewaySseOptions options)
    : shared_(std::make_shared<Shared>(tools, std::move(options))) {}

GatewaySseBackend::~GatewaySseBackend() {
  std::set<std::shared_ptr<Exchange>> exchanges;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->is_closed = true;
    exchanges = shared_->exchanges;
  }
  for (const auto& exchange : exchanges) exchange->cancel();
}

GatewayBackend::Cancel GatewaySseBackend::forward(GatewayCall call, Answered answered) {
  auto exchange = std::make_shared<Exchange>(shared_, std::move(call), std::move(answered));
  {
    std::lock_guard lock(shared_->mutex);
    if (shared_->is_closed) return nullptr;
    shared_->exchanges.insert(exchange);
  }
  exchange->start();
  return [weak = std::weak_ptr(exchange)] {
    if (auto running = weak.lock()) running->cancel();
  };
}

void GatewaySseBackend::describe(const GatewayCall& call, Answered answered) {
  json result = {{"capabilities", {{"tools", json::object()}}},
                 {"serverInfo", {{"name", "league-gateway"}, {"version", LEAGUE_VERSION}}}};
  answered(rpc::make_result(call.request.id, std::move(result)));
}

bool GatewaySseBackend::takes(std::string_view /*method*/) const { return false; }

}  // namespace league::tools::gateway
