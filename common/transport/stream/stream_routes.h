#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/rpc/context.h"
#include "common/transport/http/http_exchange.h"
#include "common/transport/http/http_page.h"
#include "common/transport/http/http_refusal.h"
#include "common/transport/stream/request_headers.h"
#include "common/transport/stream/stream_host.h"

namespace league::transport::stream {

/// One request that has passed the edge.
struct RouteRequest {
  std::shared_ptr<const rpc::HeaderMap> headers;
  std::shared_ptr<const rpc::ConnectionInfo> connection;
  std::string_view method;
  std::string_view version;  ///< `HTTP/1.1`
  std::string_view body;
  std::shared_ptr<link::LogMeter> meter = nullptr;  ///< see Inbound
};

/// The answer, unless the connection is taken over by a stream.
struct RouteAnswer {
  link::TakeOver take_over;
  int status = 200;
  std::string body;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Routes the requests that are not a plain POST of a message to a stream, a WebSocket or the end
/// of a session. Thread-safe; all references outlive it.
class StreamRoutes {
 public:
  StreamRoutes(const http::HttpServerOptions& options, link::MessageHandler& handler,
               StreamHost& host);

  /// GET on the path: an upgrade, a stream that continues, or a new one.
  [[nodiscard]] RouteAnswer on_get(const RouteRequest& request);
  /// DELETE on the path.
  [[nodiscard]] RouteAnswer on_delete(const RouteRequest& request);
  /// GET on the path of the transport of 2024-11-05.
  [[nodiscard]] RouteAnswer on_legacy_get(const RouteRequest& request);
  /// A message to the legacy stream `session`.
  [[nodiscard]] RouteAnswer on_legacy_post(const RouteRequest& request, const std::string& session);

  /// GET or HEAD of a page; `name` is what follows its path.
  [[nodiscard]] RouteAnswer on_page(const RouteRequest& request, std::string_view name,
                                    const http::PageHandler& page);

  /// The channel to the client of a POST before its answer: null if it accepts no event stream.
  [[nodiscard]] std::shared_ptr<link::PeerChannel> answer_channel(
      const std::shared_ptr<http::HttpExchange>& exchange, const AcceptedTypes& accepted,
      std::shared_ptr<const rpc::HeaderMap> headers);

 private:
  [[nodiscard]] RouteAnswer open_stream(const RouteRequest& request);
  [[nodiscard]] rpc::MessageContext context_of(const RouteRequest& request) const;

  const http::HttpServerOptions& options_;
  const rpc::SharedText path_;
  link::MessageHandler& handler_;
  StreamHost& host_;
  core::SystemClock clock_;
};

/// The answer to a refused request.
[[nodiscard]] RouteAnswer refusal_answer(const http::HttpRefusal& refusal,
                                         std::string_view allow = {});

}  // namespace league::transport::stream
