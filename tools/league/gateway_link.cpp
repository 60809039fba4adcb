#include "tools/league/gateway_link.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"

namespace league::tools {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using SessionPtr = std::shared_ptr<mcp::ClientSession>;

/// What a client wants to be told of, if anything.
json progress_token_of(const rpc::Request& request) {
  if (!request.params.is_object()) return nullptr;
  auto meta = request.params.find("_meta");
  if (meta == request.params.end() || !meta->is_object()) return nullptr;
  return meta->value("progressToken", json(nullptr));
}

mcp::SessionRequest session_request(const GatewayCall& call) {
  mcp::SessionRequest request;
  request.method = call.request.method;
  if (!call.request.params.is_null()) request.params = rpc::to_json_text(call.request.params);
  request.deadline = call.deadline;
  json token = progress_token_of(call.request);
  if (token.is_null() || !call.channel) return request;
  request.on_progress = [token, channel = call.channel](const json& params) {
    json news = params;
    news["progressToken"] = token;
    channel->push(std::make_shared<const std::string>(
        rpc::encode_notification("notifications/progress", rpc::to_json_text(news))));
  };
  return request;
}

}  // namespace

/// Outlives the link where a completion still holds it.
struct GatewayLink::Shared : std::enable_shared_from_this<Shared> {
  using Ready = std::function<void(core::Result<SessionPtr>)>;

  Shared(const mcp::SessionTools& tools_in, audit::RecordSink& log_in,
         GatewayLinkOptions options_in)
      : tools(tools_in), log(log_in), options(std::move(options_in)), delay(options.first_delay) {}

  void with_session(Ready ready);
  void on_connected(const SessionPtr& candidate, core::Result<mcp::Negotiated> result);
  void on_lost(const Error& why);
  [[nodiscard]] SessionPtr make_session();
  [[nodiscard]] Error scrubbed(const Error& error) const {
    return {error.code, options.scrub ? options.scrub(error.message) : error.message, {}};
  }
  void say(const std::string& what) const {
    if (options.on_change) options.on_change(what);
  }
  void record(audit::Direction direction, audit::Kind kind, const GatewayCall& call,
              const rpc::MessageContext& context, std::shared_ptr<const std::string> body,
              const std::optional<Error>& fault) const;

  const mcp::SessionTools tools;
  audit::RecordSink& log;
  const GatewayLinkOptions options;
  mutable std::mutex mutex;  // never held during calls of others
  bool is_closed = false;
  SessionPtr session;  ///< ready, or being connected
  bool is_ready = false;
  std::vector<Ready> waiting;
  std::optional<Error> failure;  ///< of the last attempt
  core::Clock::Steady next_attempt{};
  core::Clock::Steady connected_at{};
  std::chrono::milliseconds delay;
};

SessionPtr GatewayLink::Shared::make_session() {
  mcp::SessionOptions session_options;
  session_options.client.name = "league-gateway";
  session_options.headers = options.headers;
  session_options.on_closed = [weak = weak_from_this()](const Error& why) {
    if (auto self = weak.lock()) self->on_lost(why);
  };
  if (options.on_notification) {
    session_options.on_notification = [weak = weak_from_this()](const rpc::Notification& news,
                                                                const rpc::MessageContext&) {
      if (auto self = weak.lock()) self->options.on_notification(news);
    };
  }
  return mcp::ClientSession::create(tools, options.endpoint, std::move(session_options));
}

void GatewayLink::Shared::with_session(Ready ready) {
  SessionPtr there;
  SessionPtr fresh;
  std::optional<Error> refusal;
  auto now = tools.clock.steady_now();
  {
    std::lock_guard lock(mutex);
    if (is_closed) {
      refusal = Error{ErrorCode::kShuttingDown, "the gateway is being stopped", {}};
    } else if (session && is_ready) {
      there = session;
    } else if (!session && failure && now < next_attempt) {
      refusal = failure;
    } else {
      if (!session) session = fresh = make_session();
      waiting.push_back(std::move(ready));
    }
  }
  if (refusal) return ready(*refusal);
  if (there) return ready(there);
  if (fresh) {
    fresh->connect(now + options.connect_timeout,
                   [self = shared_from_this(), fresh](core::Result<mcp::Negotiated> result) {
                     self->on_connected(fresh, std::move(result));
                   });
  }
}

void GatewayLink::Shared::on_connected(const SessionPtr& candidate,
                                       core::Result<mcp::Negotiated> result) {
  std::vector<Ready> told;
  std::optional<Error> why;
  if (!result) why = scrubbed(result.error());
  {
    std::lock_guard lock(mutex);
    told.swap(waiting);
    auto now = tools.clock.steady_now();
    if (why) {
      session = nullptr;
      failure = why;
      next_attempt = now + delay;
      delay = std::min(delay * 2, options.longest_delay);
    } else {
      is_ready = true;
      connected_at = now;
    }
  }
  say(why ? "no backend: " + why->message
          : "backend \"" + result->server_name + "\" speaks MCP " + result->revision);
  for (auto& ready : told) why ? ready(*why) : ready(candidate);
}

void GatewayLink::Shared::on_lost(const Error& why) {
  Error clean = scrubbed(why);
  SessionPtr lost;
  {
    std::lock_guard lock(mutex);
    if (is_closed || !is_ready) return;
    auto now = tools.clock.steady_now();
    if (now - connected_at >= options.longest_delay) delay = options.first_delay;
    lost = std::move(session);
    session = nullptr;
    is_ready = false;
    failure = Error{clean.code, "the backend was lost: " + clean.message, {}};
    next_attempt = now + delay;
    delay = std::min(delay * 2, options.longest_delay);
  }
  say("the backend was lost: " + clean.message);
}

void GatewayLink::Shared::record(audit::Direction direction, audit::Kind kind,
                                 const GatewayCall& call, const rpc::MessageContext& context,
                                 std::shared_ptr<const std::string> body,
                                 const std::optional<Error>& fault) const {
  audit::Record record;
  record.direction = direction;
  record.kind = kind;
  record.time = tools.clock.utc_now();
  record.mono = tools.clock.steady_now();
  audit::take_context(context, record);
  record.transport = rpc::to_string(context.transport.type);
  record.notes.peer = options.endpoint.scheme + "://" + options.endpoint.authority();
  record.notes.message_type = call.request.method.substr(0, 64);
  record.notes.conversation_id = call.correlation_id;
  if (fault) {
    record.notes.verdict = fault->code;
    record.notes.fault = fault->message;
  }
  record.body = std::move(body);
  log.append(std::move(record));
}

GatewayLink::GatewayLink(const mcp::SessionTools& tools, audit::RecordSink& log,
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

void GatewayLink::connect(std::function<void(core::Result<mcp::Negotiated>)> connected) {
  shared_->with_session([connected = std::move(connected)](core::Result<SessionPtr> session) {
    if (!session) return connected(session.error());
    connected((*session)->negotiated());
  });
}

GatewayBackend::Cancel GatewayLink::forward(GatewayCall call, Answered answered) {
  struct Running {
    std::mutex mutex;
    SessionPtr session;
    mcp::ClientSession::RequestId id = 0;
  };
  auto running = std::make_shared<Running>();
  auto shared_call = std::make_shared<const GatewayCall>(std::move(call));
  shared_->with_session([shared = shared_, shared_call, running,
                         answered = std::move(answered)](core::Result<SessionPtr> session) {
    const GatewayCall& one = *shared_call;
    if (!session) return answered(gateway_failure(one.request.id, session.error().message));
    auto context = rpc::MessageContext::minimal(shared->tools.clock);
    context.transport.type = (*session)->negotiated().transport;
    shared->record(audit::Direction::kOut, audit::Kind::kRequest, one, context,
                   std::make_shared<const std::string>(rpc::encode(rpc::Message(one.request))),
                   std::nullopt);
    auto id = (*session)->request(
        session_request(one), [shared, shared_call, context, answered](mcp::SessionAnswer answer) {
          rpc::Response response = std::move(answer.response);
          response.id = shared_call->request.id;
          std::optional<Error> fault;
          if (answer.error) {
            fault = shared->scrubbed(*answer.error);
            response = gateway_failure(response.id, fault->message);
          }
          shared->record(
              audit::Direction::kIn, fault ? audit::Kind::kFailure : audit::Kind::kReply,
              *shared_call, fault ? context : answer.context,
              fault ? nullptr
                    : std::make_shared<const std::string>(rpc::encode(rpc::Message(response))),
              fault);
          answered(std::move(response));
        });
    std::lock_guard lock(running->mutex);
    running->session = *session;
    running->id = id;
  });
  return [running] {
    SessionPtr session;
    mcp::ClientSession::RequestId id = 0;
    {
      std::lock_guard lock(running->mutex);
      session = running->session;
      id = running->id;
    }
    if (session) session->cancel(id, "the client has cancelled the request");
  };
}

void GatewayLink::describe(const rpc::Request& request, core::Clock::Steady /*deadline*/,
                           Answered answered) {
  shared_->with_session([id = request.id,
                         answered = std::move(answered)](core::Result<SessionPtr> session) {
    if (!session) return answered(gateway_failure(id, session.error().message));
    auto negotiated = (*session)->negotiated();
    json result = {
        {"capabilities", negotiated.capabilities},
        {"serverInfo", {{"name", negotiated.server_name}, {"version", negotiated.server_version}}}};
    if (!negotiated.instructions.empty()) result["instructions"] = negotiated.instructions;
    answered(rpc::make_result(id, std::move(result)));
  });
}

}  // namespace league::tools
