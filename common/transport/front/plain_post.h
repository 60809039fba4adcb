#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/rpc/http_headers.h"
#include "common/transport/front/httplib_server.h"
#include "common/transport/http/edge_rules.h"
#include "common/transport/stream/stream_routes.h"

namespace league::transport::front {

constexpr const char* kJson = "application/json";
constexpr const char* kEventStream = "text/event-stream";
constexpr std::size_t kMostRequests = 1'000'000;  ///< on one connection

/// How long an idle connection may be used again, as clients are told.
[[nodiscard]] time_t keep_alive_seconds(const http::HttpServerOptions& options);
/// The address at which the request arrived; empty if its connection is unknown.
[[nodiscard]] std::string_view local_address(const RawRequest& request);
/// Whether httplib adds a field of this name to each request, so that one of the peer's does not
/// count.
[[nodiscard]] bool is_added_by_httplib(std::string_view name);

/// A request that is being served, as far as it matters to a message.
struct MessagePost {
  const RawRequest* request = nullptr;
  std::shared_ptr<http::HttpExchange>* exchange = nullptr;  ///< null in it: the message is new
  std::shared_ptr<rpc::HeaderMap> headers;
  stream::AcceptedTypes accepted;
  HttplibServer::Served served;
};

/// Passes the messages of POSTs to the handler, and answers the plain ones (see ScannedHead), with
/// the answer that httplib would write. Thread-safe; all references outlive it.
class MessagePosts {
 public:
  MessagePosts(const http::HttpServerOptions& options, const http::EdgeRules& edge,
               link::MessageHandler& handler, stream::StreamRoutes& routes);

  /// As httplib would serve it, by the same rules, but without reading the head once more, and
  /// without its regular expressions. False, without having done anything: httplib has to serve it,
  /// because it is another request or is refused.
  bool serve_plain(MessagePost& work, std::string& out) const;
  /// Passes a new message to the handler. The answer, if it is ready and is not a stream.
  std::optional<link::OutboundReply> exchange(MessagePost& work, std::string body,
                                              const rpc::SharedText& path) const;
  /// Whether an answer to a message is sent as an event.
  [[nodiscard]] bool is_event(const link::OutboundReply& reply,
                              const stream::AcceptedTypes& accepted) const;

 private:
  /// The path of a plain one: that of messages, or a name in their folder.
  [[nodiscard]] std::optional<rpc::SharedText> plain_path(const RawRequest& request) const;
  void dispatch(MessagePost& work, std::string body, const rpc::SharedText& path) const;
  void write(const link::OutboundReply& reply, bool as_event, rpc::HeaderMap fields,
             std::string& out) const;

  const http::HttpServerOptions& options_;
  const http::EdgeRules& edge_;
  link::MessageHandler& handler_;
  stream::StreamRoutes& routes_;
  const rpc::SharedText path_;
  const std::string keep_alive_;  ///< the value of that field
  const core::SystemClock clock_;
};

}  // namespace league::transport::front
