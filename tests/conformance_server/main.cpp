// mcp_conformance_server [PORT]: the fixture of the official conformance suite at
// http://127.0.0.1:PORT/mcp, until it is interrupted.
#include <cstdio>
#include <cstdlib>

#include "common/rpc/codec.h"
#include "common/transport/front/http_server.h"
#include "common/transport/link/signals.h"
#include "tests/conformance_server/fixture.h"

namespace league::testing {
namespace {

/// There is nothing behind the fixture.
class NoApplication final : public mcp::Application {
 public:
  void on_document(nlohmann::json document, mcp::Arrival /*arrival*/,
                   transport::link::ReplySlot reply) override {
    auto id = document.find("id");
    transport::link::OutboundReply out;
    if (id == document.end()) {
      out.http_status = 202;
    } else {
      out.bytes = rpc::encode_error(rpc::Id::from_json(*id).value_or(rpc::Id()),
                                    rpc::StandardCode::kMethodNotFound);
    }
    reply.send(std::move(out));
  }
};

int run(std::uint16_t port) {
  transport::link::StopSignal stop;
  core::SystemClock clock;
  core::ThreadTimer timer;
  NoApplication nothing;
  mcp::Server server({.name = "mcp-conformance-server",
                      .title = "Fixture of the conformance suite",
                      .tools_change = true,
                      .prompts_change = true,
                      .has_logging = true,
                      .timer = &timer},
                     nothing, clock);
  add_fixture({server, timer});
  auto runtime = transport::front::HttpRuntime::start({.workers = 2});
  if (!runtime) return EXIT_FAILURE;
  transport::http::HttpServerOptions options;
  options.port = port;
  auto http = transport::front::HttpServer::start(**runtime, options, server);
  if (!http) {
    std::fprintf(stderr, "%s\n", http.error().message.c_str());
    return EXIT_FAILURE;
  }
  std::printf("ready http://localhost:%d/mcp\n", (*http)->port());
  std::fflush(stdout);
  stop.wait();
  (*http)->stop();
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace league::testing

int main(int argc, char** argv) {
  int port = argc > 1 ? std::atoi(argv[1]) : 0;
  return league::testing::run(static_cast<std::uint16_t>(port));
}
