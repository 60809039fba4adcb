#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "common/transport/front/http_server.h"
#include "tests/support/memory/peers_testing.h"
#include "tests/support/sanitizers.h"

namespace league::transport::memory {

using league::testing::echo;
using league::testing::eventually;
using league::testing::FunctionHandler;
using league::testing::post;
using league::testing::RawClient;
using league::testing::status_of;
using std::chrono::milliseconds;

/// What an honest call may take at the 99th percentile. ThreadSanitizer's own cost goes over it on
/// a machine that is busy with other tests.
inline constexpr milliseconds kHonestLimit{league::testing::kHasThreadSanitizer ? 500 : 50};

/// A server with short limits on a handler that the test gives.
struct Served {
  explicit Served(FunctionHandler::Function function = echo,
                  http::HttpServerOptions options = quick(),
                  http::HttpRuntimeOptions runtime_options = {.sweep_interval = milliseconds(10)})
      : handler(std::move(function)),
        runtime(*front::HttpRuntime::start(runtime_options)),
        server(*front::HttpServer::start(
            *runtime, options, handler,
            {{"/health",
              [](const http::PageRequest&) {
                return http::HttpPage{200, "text/plain", "ok"};
              }},
             {"/below/", [](const http::PageRequest& asked) {
                return http::HttpPage{200, "text/plain", std::string(asked.name)};
              }}})) {}

  static http::HttpServerOptions quick() {
    http::HttpServerOptions options;
    options.limits.request_timeout = milliseconds(200);
    options.limits.write_timeout = milliseconds(200);
    options.limits.idle_timeout = milliseconds(3000);
    options.limits.linger_timeout = milliseconds(200);
    return options;
  }
  [[nodiscard]] std::uint16_t port() const { return server->port(); }

  FunctionHandler handler;
  std::unique_ptr<front::HttpRuntime> runtime;
  std::unique_ptr<front::HttpServer> server;
};

inline int status_for(const Served& served, const std::string& bytes) {
  return status_of(RawClient(served.port()).ask(bytes));
}

inline std::string request(const std::string& line, const std::string& headers) {
  return line + " HTTP/1.1\r\n" + headers + "\r\n";
}

}  // namespace league::transport::memory
