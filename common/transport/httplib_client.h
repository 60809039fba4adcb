#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/rpc/http_headers.h"
#include "common/transport/deadline_stream.h"
#include "common/transport/endpoint.h"

namespace league::transport {

/// One request.
struct HttpAsk {
  const std::string& path;
  const std::string* json = nullptr;  ///< POST this document; else GET a stream of events
  std::string last_event_id = {};  ///< of the GET
  /// Takes the body of an answer in the form of events, in pieces; false: that is enough.
  std::function<bool(std::string_view)> events = nullptr;
};

/// The answer to one request.
struct HttpAnswer {
  int status = 0;
  std::string body;  ///< of answers that are no events
  bool is_events = false;
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

  /// False when no complete answer came; the stream's fault says why, or, without one, the answer
  /// was malformed or `ask.events` has had enough. Head and is_events are set as soon as they are
  /// known.
  [[nodiscard]] bool ask(const HttpAsk& ask, DeadlineStream& stream, HttpAnswer& answer);

 private:
  class Adapter;
  std::unique_ptr<Adapter> adapter_;
};

}  // namespace league::transport
