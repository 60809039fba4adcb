#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/rpc/context.h"
#include "common/transport/front/request_scanner.h"
#include "common/transport/http/http_exchange.h"
#include "common/transport/http/http_options.h"
#include "common/transport/http/http_page.h"
#include "common/transport/link/detached_socket.h"
#include "common/transport/link/log_meter.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/socket.h"

namespace league::transport::stream {
class StreamHost;
}  // namespace league::transport::stream

namespace league::transport::front {

/// One complete request and where it came from.
struct RawRequest {
  std::string_view bytes;
  const link::SocketAddress* remote = nullptr;
  std::shared_ptr<const rpc::ConnectionInfo> connection;
  bool close_after = false;  ///< the answer is to be the connection's last
  std::shared_ptr<link::LogMeter> meter;  ///< of its sender; null: not counted
  const ScannedHead* head = nullptr;  ///< null: httplib reads it
};

/// cpp-httplib as a function from the bytes of a request to the bytes of its response: its parser,
/// router and writer without its sockets and threads. Of plain POSTs of messages, which are nearly
/// all requests of a league, it needs neither: the scanner has read their heads, and the answer is
/// byte for byte the one that it would write. `serve` is thread-safe; pages must be added
/// before the first call of `serve`.
class HttplibServer {
 public:
  /// All three outlive the server.
  HttplibServer(const http::HttpServerOptions& options, link::MessageHandler& handler,
                stream::StreamHost& streams);
  ~HttplibServer();
  HttplibServer(const HttplibServer&) = delete;
  HttplibServer& operator=(const HttplibServer&) = delete;

  void add_page(http::Page page);

  struct Served {
    bool is_deferred =
        false;  ///< nothing in `out`: serve the same request again when the exchange has its answer
    bool keeps_connection = true;
    /// Not empty: nothing in `out`; the connection becomes a stream.
    link::TakeOver take_over;
    std::function<void()> after_sent;
  };
  /// Passes a new message to the handler; or, if `exchange` is one that has its answer, writes that
  /// answer. Appends to `out`.
  Served serve(const RawRequest& request, std::shared_ptr<http::HttpExchange>& exchange,
               std::string& out);

 private:
  class Adapter;
  std::unique_ptr<Adapter> adapter_;
};

}  // namespace league::transport::front
