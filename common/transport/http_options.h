#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace league::transport {

/// What one request may cost. Source: issue "Limits and hostile input".
struct HttpLimits {
  std::size_t max_head = 16 * 1024;  ///< bytes of request line and headers, else 431
  std::size_t max_body = 256 * 1024;  ///< bytes of the body, chunked or not, else 413
  std::chrono::milliseconds request_timeout{5000};  ///< from the first byte to the last, else 408
  std::chrono::milliseconds write_timeout{5000};  ///< for a peer that does not read its answer
  std::chrono::milliseconds idle_timeout{60'000};  ///< between two requests
  std::chrono::milliseconds linger_timeout{1000};  ///< how long a refused peer may read its refusal
};

/// One listening port.
struct HttpServerOptions {
  std::string bind_address = "127.0.0.1";  ///< numeric
  std::uint16_t port = 0;  ///< 0: any that is free
  std::string path = "/mcp";
  HttpLimits limits;
  /// Names besides localhost, 127.0.0.1 and [::1] that the Host header may say, without port; `*`
  /// allows every name.
  std::vector<std::string> allow_hosts;
  /// Origins such as `http://localhost:3000` that a browser may call from; none by default.
  std::vector<std::string> allow_origins;
  /// How long stop() waits for requests in work.
  std::chrono::milliseconds stop_grace{500};
};

/// What all servers of a process share.
struct HttpRuntimeOptions {
  std::size_t workers = 2;
  std::size_t max_connections = 20'000;
  std::size_t max_connections_per_address = 64;  ///< loopback is exempt
  /// How often time limits are looked at, and so how late they may be noticed.
  std::chrono::milliseconds sweep_interval{250};
};

}  // namespace league::transport
