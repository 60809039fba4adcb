#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/clock.h"
#include "common/core/result.h"
#include "common/rpc/http_headers.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::client {

/// Names and values of header fields as they are sent; a field that contains a line end is left
/// out.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] bool is_sendable(const HttpHeaders::value_type& field);

/// Limits of a connection to an HTTP server.
struct HttpClientLimits {
  std::size_t max_head = 32 * 1024;  ///< of an answer's head, in bytes
  std::size_t max_message = 1024 * 1024;  ///< of a JSON answer and of one event, in bytes
  std::size_t max_connections = 6;  ///< requests at once; streams that listen are not counted
  std::size_t max_waiting = 4 * 1024 * 1024;  ///< bytes waiting to be sent; beyond it: dropped
  std::chrono::milliseconds connection_idle{15'000};  ///< then idle connections are closed
  /// For messages without a deadline: the time limit for the head of the answer.
  std::chrono::milliseconds default_patience{30'000};
};

/// Why connecting failed. The status distinguishes a server that speaks another transport (404,
/// 405) from one that refuses (401, 403, 5xx).
struct ConnectFailure {
  core::Error error;  ///< names the URL, the phase and the cause
  int http_status = 0;  ///< 0: no HTTP answer came
  std::shared_ptr<const rpc::HeaderMap> headers = nullptr;  ///< of that answer, if it is kept
};

/// How an attempt to connect ended. The connection is not started yet.
using ConnectOutcome = std::variant<std::shared_ptr<link::MessageConnection>, ConnectFailure>;

/// A connector that can report more than an error. `opened` runs once, on any thread.
class HttpConnector : public link::Connector {
 public:
  using OpenedOrFailed = std::function<void(ConnectOutcome)>;

  void connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
               Opened opened) override;
  virtual void open(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                    OpenedOrFailed opened) = 0;
};

}  // namespace league::transport::client
