#include "common/transport/http_call.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "common/transport/client/event_answer.h"
#include "common/transport/client/media_type.h"

namespace league::transport {

namespace {

using core::ErrorCode;

/// How long the end of a stream is waited for once its answer is here.
constexpr std::chrono::milliseconds kStreamEndPatience{50};

/// True for a connection that its peer had closed before it saw the request: nothing of the request
/// was handled.
bool is_worth_repeating(const PeerConnection& connection, const DeadlineStream& stream) {
  const auto* fault = stream.fault();
  return connection.is_reused && !stream.has_response_begun() && fault != nullptr &&
         fault->code == ErrorCode::kConnectionError;
}

CallOutcome answered(int status, std::string bytes, rpc::TransportContext transport) {
  CallOutcome out;
  out.http_status = status;
  out.bytes = std::move(bytes);
  out.context = rpc::MessageContext::minimal(core::SystemClock())
                    .with_direction(rpc::MessageDirection::kServerToClient)
                    .with_transport(std::move(transport));
  return out;
}

/// One call from its first connection to its completion.
class HttpCallRun {
 public:
  HttpCallRun(const OutboundCall& call, const std::string& peer, const HttpCallTools& tools,
              const Caller::Completion& complete)
      : call_(call),
        peer_(peer),
        tools_(tools),
        patience_{call.deadline, tools.cancel_fd},
        complete_(complete),
        events_(call.id, tools.max_response) {}

  void run() {
    while (exchange() && wait_to_continue()) events_.begin_again();
  }

 private:
  /// The request, or what continues its answer. True when the answer broke off and may be
  /// continued; otherwise the call is complete.
  bool exchange() {
    auto connection = tools_.cache->take(peer_);
    for (;;) {
      if (!connection) {
        auto fresh = tools_.connector->connect(call_.endpoint, patience_);
        if (!fresh) {
          fail(fresh.error().code, "connect", fresh.error().message);
          return false;
        }
        connection = *std::move(fresh);
      }
      DeadlineStream stream(*connection->channel, {patience_, tools_.max_response});
      HttpAnswer answer;
      bool is_whole = connection->http->ask(ask_on(stream, *connection), stream, answer);
      if (!sent_at_) sent_at_ = stream.sent_at();
      if (is_whole || !is_worth_repeating(*connection, stream)) {
        return conclude(is_whole, std::move(answer), stream, std::move(connection));
      }
      connection = nullptr;
    }
  }

  HttpAsk ask_on(DeadlineStream& stream, const PeerConnection& connection) {
    bool is_first = events_.last_event_id().empty();
    HttpAsk ask{call_.endpoint.path, is_first ? call_.bytes.get() : nullptr,
                events_.last_event_id()};
    ask.events = [this, &stream, &connection](std::string_view piece) {
      bool was_found = events_.is_found();
      if (!events_.feed(piece)) return false;
      // With the answer mostly comes the stream's end, after which the connection is as good as
      // new. The caller does not wait for that.
      if (!was_found && events_.is_found()) {
        stream.hurry([this, &stream, &connection] {
          sent_at_ = sent_at_.value_or(*stream.sent_at());
          complete(found(connection));
          return std::min(call_.deadline, std::chrono::steady_clock::now() + kStreamEndPatience);
        });
      }
      return true;
    };
    return ask;
  }

  bool conclude(bool is_whole, HttpAnswer answer, const DeadlineStream& stream,
                std::unique_ptr<PeerConnection> connection) {
    std::optional<CallOutcome> outcome;
    if (events_.is_found() && !is_complete_) outcome = found(*connection);
    if (!outcome && is_whole && !answer.is_events) outcome = whole(answer, *connection);
    bool is_reusable =
        is_whole && answer.keeps_connection && !stream.has_unread() && !stream.has_ended();
    if (is_reusable) tools_.cache->put(peer_, std::move(connection));
    if (outcome) complete(*std::move(outcome));
    if (is_complete_) return false;
    const auto* fault = stream.fault();
    bool is_final = fault != nullptr && fault->code != ErrorCode::kConnectionError;
    if (answer.is_events && !is_final && events_.can_continue()) return true;
    fail_stream(answer, stream);
    return false;
  }

  [[nodiscard]] CallOutcome found(const PeerConnection& connection) {
    auto metadata = events_.metadata();
    metadata.stream_id = connection.info->connection_id;
    return answered(
        200, events_.take_bytes(),
        rpc::TransportContext::sse(std::move(metadata)).with_connection(connection.info));
  }

  /// An answer that is no stream. Bots in the wild send JSON under any type; what is neither by
  /// type nor by its looks is a page for people.
  [[nodiscard]] CallOutcome whole(HttpAnswer& answer, const PeerConnection& connection) const {
    auto type = media_type_of(*answer.headers);
    bool is_page = answer.status / 100 == 2 && !type.empty() && !is_json_type(type) &&
                   !answer.body.empty() && !looks_like_json(answer.body);
    bool is_refused = !events_.last_event_id().empty();
    std::string url = call_.endpoint.url();
    auto transport =
        rpc::TransportContext::http(std::move(answer.headers), is_refused ? "GET" : "POST",
                                    rpc::SharedText(call_.endpoint.path))
            .with_connection(connection.info);
    if (auto* http = transport.as_http()) http->status = answer.status;
    CallOutcome out = answered(answer.status, std::move(answer.body), std::move(transport));
    if (is_refused) {
      out.error = {ErrorCode::kConnectionError,
                   "call of " + url +
                       " failed at receive: its stream of events broke off and was " +
                       "not continued (status " + std::to_string(out.http_status) + ")",
                   {}};
    } else if (is_page) {
      out.error = {
          ErrorCode::kInvalidReply,
          "call of " + url + " was answered with the content type " + excerpt_of(type) +
              " instead of application/json or text/event-stream: " + excerpt_of(out.bytes),
          {}};
    }
    return out;
  }

  void fail_stream(const HttpAnswer& answer, const DeadlineStream& stream) {
    if (const auto* fault = stream.fault()) {
      return fail(fault->code, fault->was_sending ? "send" : "receive", fault->cause);
    }
    if (!events_.fault().empty()) {
      return fail(ErrorCode::kReplyTooLarge, "receive", events_.fault());
    }
    fail(ErrorCode::kConnectionError, "receive",
         answer.is_events     ? "the stream of events ended without the answer"
         : stream.has_ended() ? "the peer closed the connection within its answer"
                              : "the answer is no valid HTTP response");
  }

  /// As long as the server wants. False, and the call is complete, where that is too long.
  bool wait_to_continue() {
    auto until = std::chrono::steady_clock::now() + events_.retry();
    if (until >= call_.deadline) {
      fail(ErrorCode::kTimeout, "receive",
           "its stream of events broke off, and the deadline comes before the peer wants to be "
           "asked again");
      return false;
    }
    if (!wait_ready(tools_.cancel_fd, POLLIN, {until})) return true;
    fail(ErrorCode::kShuttingDown, "receive", "this program is stopping");
    return false;
  }

  void fail(ErrorCode code, std::string_view phase, std::string_view cause) {
    complete(failed_call(call_, code, phase, cause));
  }

  void complete(CallOutcome outcome) {
    if (std::exchange(is_complete_, true)) return;
    outcome.sent_at = sent_at_;
    complete_(std::move(outcome));
  }

  const OutboundCall& call_;
  const std::string& peer_;
  const HttpCallTools& tools_;
  const Patience patience_;
  const Caller::Completion& complete_;
  EventAnswer events_;
  std::optional<core::Clock::Steady> sent_at_;
  bool is_complete_ = false;
};

}  // namespace

std::string peer_key(const Endpoint& endpoint) {
  std::string key = endpoint.scheme + "://" + endpoint.authority();
  if (!endpoint.pinned_address.empty()) key += "@" + endpoint.pinned_address;
  return key;
}

CallOutcome failed_call(const OutboundCall& call, core::ErrorCode code, std::string_view phase,
                        std::string_view cause) {
  CallOutcome out;
  std::string text = "call of " + call.endpoint.url() + " failed at " + std::string(phase) + ": ";
  out.error = core::Error{code, text + std::string(cause), {}};
  out.context = rpc::MessageContext::minimal(core::SystemClock())
                    .with_direction(rpc::MessageDirection::kServerToClient);
  return out;
}

void perform_http_call(const OutboundCall& call, const std::string& peer,
                       const HttpCallTools& tools, const Caller::Completion& complete) {
  HttpCallRun(call, peer, tools, complete).run();
}

}  // namespace league::transport
