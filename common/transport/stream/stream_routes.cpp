#include "common/transport/stream/stream_routes.h"

#include "common/rpc/codec.h"

namespace league::transport::stream {

namespace {

constexpr std::string_view kLastEventId = "Last-Event-ID";
constexpr const char* kMessageMethods = "POST, GET, DELETE";
/// The answer to a refused stream, for any status: no message was involved that could be malformed.
RouteAnswer handlers_refusal(const link::StreamRefusal& refusal, std::string_view allow) {
  RouteAnswer answer =
      refusal_answer({refusal.http_status, ""}, refusal.http_status == 405 ? allow : "");
  answer.body = rpc::encode_error(rpc::Id(), static_cast<int>(rpc::StandardCode::kInvalidRequest),
                                  refusal.text);
  return answer;
}

}  // namespace

RouteAnswer refusal_answer(const http::HttpRefusal& refusal, std::string_view allow) {
  RouteAnswer answer;
  answer.status = refusal.status;
  answer.body = http::refusal_body(refusal);
  answer.content_type = "application/json";
  if (!allow.empty()) answer.headers.emplace_back("Allow", allow);
  return answer;
}

StreamRoutes::StreamRoutes(const http::HttpServerOptions& options, link::MessageHandler& handler,
                           StreamHost& host)
    : options_(options), path_(options.path), handler_(handler), host_(host) {}

RouteAnswer StreamRoutes::on_get(const RouteRequest& request) {
  if (is_upgrade(*request.headers)) {
    auto upgrade = read_upgrade(*request.headers, request.version);
    if (auto* refusal = std::get_if<http::HttpRefusal>(&upgrade)) {
      RouteAnswer answer = refusal_answer(*refusal);
      if (refusal->status == 426) {
        answer.headers = {{"Upgrade", "websocket"}, {"Sec-WebSocket-Version", "13"}};
      }
      return answer;
    }
    RouteAnswer answer;
    answer.take_over = host_.accept(std::get<WebSocketUpgrade>(std::move(upgrade)));
    return answer;
  }
  if (!accepted_types(*request.headers).event_stream) {
    return refusal_answer({405,
                           "send messages here with POST; a GET needs Accept: text/event-stream, "
                           "or upgrades to a WebSocket"},
                          kMessageMethods);
  }
  return open_stream(request);
}

RouteAnswer StreamRoutes::open_stream(const RouteRequest& request) {
  auto last_event_id = rpc::find_header(*request.headers, kLastEventId);
  if (last_event_id) {
    if (auto resumed = host_.resume(*last_event_id, request.headers)) {
      RouteAnswer answer;
      answer.take_over = std::move(*resumed);
      return answer;
    }
  }
  link::StreamRequest asked{context_of(request), std::nullopt};
  if (last_event_id) asked.last_event_id = std::string(*last_event_id);
  link::StreamAnswer decision = handler_.on_stream(std::move(asked));
  if (auto* refusal = std::get_if<link::StreamRefusal>(&decision)) {
    return handlers_refusal(*refusal, kMessageMethods);
  }
  RouteAnswer answer;
  answer.take_over =
      host_.listen(std::get<link::StreamAcceptance>(std::move(decision)), request.headers);
  return answer;
}

RouteAnswer StreamRoutes::on_delete(const RouteRequest& request) {
  if (auto refusal = handler_.on_session_end(context_of(request))) {
    return handlers_refusal(*refusal, kMessageMethods);
  }
  RouteAnswer answer;
  answer.status = 204;
  return answer;
}

RouteAnswer StreamRoutes::on_legacy_get(const RouteRequest& request) {
  AcceptedTypes accepted = accepted_types(*request.headers);
  if (!accepted.event_stream && !accepted.json) {
    return refusal_answer({406, "this is an event stream: accept text/event-stream"});
  }
  RouteAnswer answer;
  answer.take_over = host_.open_legacy(request.headers);
  return answer;
}

RouteAnswer StreamRoutes::on_legacy_post(const RouteRequest& request, const std::string& session) {
  auto stream = host_.find_legacy(session);
  if (!stream) {
    return refusal_answer({404, "there is no such stream: open one with GET " + options_.sse_path});
  }
  if (stream->in_work >= options_.streams.max_in_work) {
    return refusal_answer({503, "too many messages of this stream wait for their answers"});
  }
  rpc::SseMetadata metadata;
  metadata.stream_id = stream->id();
  link::Inbound inbound;
  inbound.bytes = std::string(request.body);
  inbound.meter = request.meter;
  inbound.context = rpc::MessageContext::now(
      clock_, rpc::MessageDirection::kClientToServer,
      rpc::TransportContext::sse(std::move(metadata)).with_connection(request.connection));
  inbound.channel = stream;
  try {
    handler_.on_message(std::move(inbound), host_.legacy_slot(stream));
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // The slot has answered with an internal error; the text of the exception stays here.
  }
  RouteAnswer answer;
  answer.status = 202;
  answer.body = "Accepted";
  answer.content_type = "text/plain; charset=utf-8";
  return answer;
}

RouteAnswer StreamRoutes::on_page(const RouteRequest& request, std::string_view name,
                                  const http::PageHandler& page) {
  http::HttpPage content = page({name, rpc::find_header(*request.headers, kLastEventId)});
  RouteAnswer answer;
  answer.headers = std::move(content.headers);
  answer.content_type = std::move(content.content_type);
  if (content.stream) {
    answer.content_type = "text/event-stream";
    if (request.method == "GET")
      answer.take_over = host_.listen(std::move(*content.stream), request.headers);
    return answer;
  }
  answer.status = content.status;
  answer.body = std::move(content.body);
  return answer;
}

std::shared_ptr<link::PeerChannel> StreamRoutes::answer_channel(
    const std::shared_ptr<http::HttpExchange>& exchange, const AcceptedTypes& accepted,
    std::shared_ptr<const rpc::HeaderMap> headers) {
  if (!accepted.event_stream) return nullptr;
  auto stream = host_.new_answer(std::move(headers));
  auto ask = [weak = std::weak_ptr(exchange), to = std::weak_ptr(stream)] {
    auto asked = weak.lock();
    auto answering = to.lock();
    if (!asked || !answering) return false;
    http::ExchangeStream part;
    part.take_over = [answering](link::DetachedSocket socket) {
      answering->adopt(std::move(socket));
    };
    part.answer = [answering](link::OutboundReply reply) {
      if (reply.bytes.empty()) {
        answering->close();
        if (reply.after_sent) reply.after_sent();
      } else {
        answering->finish(reply.bytes.share(), std::move(reply.after_sent));
      }
    };
    part.abandon = [answering] { answering->cut("the connection is gone"); };
    return asked->begin_stream(std::move(part));
  };
  stream->on_first_push(std::move(ask));
  return stream;
}

rpc::MessageContext StreamRoutes::context_of(const RouteRequest& request) const {
  return rpc::MessageContext::now(
      clock_, rpc::MessageDirection::kClientToServer,
      rpc::TransportContext::http(request.headers, request.method, path_)
          .with_connection(request.connection));
}

}  // namespace league::transport::stream
