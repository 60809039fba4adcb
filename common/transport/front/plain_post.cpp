#include "common/transport/front/plain_post.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "common/core/text.h"
#include "common/transport/http/http_refusal.h"
#include "common/transport/link/sse_writer.h"

namespace league::transport::front {
namespace {

/// Of a plain request, without those that httplib would add in their place.
std::shared_ptr<rpc::HeaderMap> headers_of(const RawRequest& request) {
  auto headers = std::make_shared<rpc::HeaderMap>();
  for (const ScannedHead::Field& field : request.head->fields) {
    const auto name = request.bytes.substr(field.name, field.name_size);
    if (is_added_by_httplib(name)) continue;
    headers->emplace(name, request.bytes.substr(field.value, field.value_size));
  }
  return headers;
}

/// As httplib does: not one that contains a line end.
void add_field(rpc::HeaderMap& fields, std::string_view name, std::string_view value) {
  constexpr std::string_view kLineEnds = "\r\n";
  if (name.find_first_of(kLineEnds) != name.npos || value.find_first_of(kLineEnds) != value.npos)
    return;
  fields.emplace(name, value);
}

}  // namespace

time_t keep_alive_seconds(const http::HttpServerOptions& options) {
  const auto idle = std::chrono::duration_cast<std::chrono::seconds>(options.limits.idle_timeout);
  return std::max<time_t>(1, idle.count() - 1);
}

std::string_view local_address(const RawRequest& request) {
  const auto& connection = request.connection;
  return connection ? std::string_view(connection->local_address) : std::string_view{};
}

bool is_added_by_httplib(std::string_view name) {
  constexpr auto kAdded =
      std::to_array<std::string_view>({"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "LOCAL_PORT"});
  return std::ranges::find(kAdded, name) != kAdded.end();
}

MessagePosts::MessagePosts(const http::HttpServerOptions& options, const http::EdgeRules& edge,
                           link::MessageHandler& handler, stream::StreamRoutes& routes)
    : options_(options),
      edge_(edge),
      handler_(handler),
      routes_(routes),
      path_(options.path),
      keep_alive_("timeout=" + std::to_string(keep_alive_seconds(options)) +
                  ", max=" + std::to_string(kMostRequests)) {}

std::optional<rpc::SharedText> MessagePosts::plain_path(const RawRequest& request) const {
  if (request.head == nullptr || !request.head->is_plain_post || request.close_after)
    return std::nullopt;
  const auto target = request.bytes.substr(request.head->target, request.head->target_size);
  if (target == path_.view()) return path_;
  if (options_.folder.empty() || !target.starts_with(options_.folder)) return std::nullopt;
  const auto name = target.substr(options_.folder.size());
  const bool is_name = !name.empty() && std::ranges::all_of(name, core::is_alphanumeric);
  return is_name ? std::optional(rpc::SharedText(std::string(target))) : std::nullopt;
}

bool MessagePosts::serve_plain(MessagePost& work, std::string& out) const {
  const RawRequest& request = *work.request;
  const auto path = plain_path(request);
  if (!path) return false;
  const auto headers = headers_of(request);
  work.accepted = stream::accepted_types(*headers);
  if ((!work.accepted.json && !work.accepted.event_stream) ||
      edge_.check_peer(*headers, "HTTP/1.1", local_address(request)) ||
      http::EdgeRules::check_content_type(*headers))
    return false;
  rpc::HeaderMap fields;
  for (const auto& [name, value] : edge_.cors().answer_fields(*headers))
    add_field(fields, name, value);
  work.headers = headers;
  auto reply = exchange(work, std::string(request.bytes.substr(request.head->body)), *path);
  if (reply) write(*reply, is_event(*reply, work.accepted), std::move(fields), out);
  return true;
}

/// With the fields in httplib's order, which is that of their names.
void MessagePosts::write(const link::OutboundReply& reply, bool as_event, rpc::HeaderMap fields,
                         std::string& out) const {
  std::string made;
  if (reply.bytes.empty() && reply.http_status >= 400) {
    made = http::refusal_body({reply.http_status, http::refusal_text(reply.http_status)});
  } else if (as_event && !reply.bytes.empty()) {
    made = link::sse_event_text(reply.bytes);
  }
  const std::string_view body = made.empty() ? reply.bytes.view() : std::string_view(made);
  for (const auto& [name, value] : reply.headers) add_field(fields, name, value);
  if (!body.empty()) fields.emplace("Content-Type", as_event ? kEventStream : kJson);
  fields.emplace("Date", http::date_now());
  fields.emplace("Keep-Alive", keep_alive_);
  fields.emplace("Content-Length", std::to_string(body.size()));
  out += reply.http_status == 200 ? "HTTP/1.1 200 OK" : http::status_line(reply.http_status);
  out += "\r\n";
  for (const auto& [name, value] : fields)
    out.append(name).append(": ").append(value).append("\r\n");
  out.append("\r\n").append(body);
}

std::optional<link::OutboundReply> MessagePosts::exchange(MessagePost& work, std::string body,
                                                          const rpc::SharedText& path) const {
  auto& exchange = *work.exchange;
  if (!exchange) {
    exchange = std::make_shared<http::HttpExchange>();
    dispatch(work, std::move(body), path);
  }
  if (auto take_over = exchange->take_over()) {
    work.served.take_over = std::move(take_over);
    return std::nullopt;
  }
  auto reply = exchange->take_reply();
  if (!reply) {
    work.served.is_deferred = true;
    return std::nullopt;
  }
  exchange.reset();
  work.served.after_sent = std::move(reply->after_sent);
  return reply;
}

bool MessagePosts::is_event(const link::OutboundReply& reply,
                            const stream::AcceptedTypes& accepted) const {
  return reply.http_status == 200 && accepted.event_stream &&
         (options_.prefers_event_stream || !accepted.json);
}

void MessagePosts::dispatch(MessagePost& work, std::string body,
                            const rpc::SharedText& path) const {
  const auto& exchange = *work.exchange;
  link::Inbound inbound;
  inbound.channel = routes_.answer_channel(exchange, work.accepted, work.headers);
  inbound.watch = exchange;
  inbound.meter = work.request->meter;
  inbound.bytes = std::move(body);
  inbound.context =
      rpc::MessageContext::now(clock_, rpc::MessageDirection::kClientToServer,
                               rpc::TransportContext::http(std::move(work.headers), "POST", path)
                                   .with_connection(work.request->connection));
  try {
    handler_.on_message(std::move(inbound), exchange->make_slot());
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // When the slot is destroyed, it answers with an internal error; the exception's text stays
    // here.
  }
}

}  // namespace league::transport::front
