#pragma once

#include <memory>
#include <string>

#include "common/rpc/http_headers.h"
#include "common/transport/deadline_stream.h"
#include "common/transport/endpoint.h"

namespace league::transport {

/// The answer to one request.
struct HttpAnswer {
  int status = 0;
  std::string body;
  std::shared_ptr<const rpc::HeaderMap> headers;
  bool keeps_connection = false;
};

/// cpp-httplib's request writer and response parser without its sockets: each exchange runs on a
/// stream of ours. No redirects, no decompression. Not thread-safe: one per connection.
class HttplibClient {
 public:
  explicit HttplibClient(const Endpoint& endpoint);
  ~HttplibClient();
  HttplibClient(const HttplibClient&) = delete;
  HttplibClient& operator=(const HttplibClient&) = delete;

  /// POSTs a JSON document. False when no complete answer came; the stream's fault says why, or,
  /// without one, the answer was malformed.
  [[nodiscard]] bool post(const std::string& path, const std::string& body, DeadlineStream& stream,
                          HttpAnswer& answer);

 private:
  class Adapter;
  std::unique_ptr<Adapter> adapter_;
};

}  // namespace league::transport
