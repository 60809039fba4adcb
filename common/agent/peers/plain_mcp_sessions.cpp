#include "common/agent/peers/plain_mcp_sessions.h"

#include "common/transport/caller/any_connector.h"

namespace league::agent {
namespace {

std::shared_ptr<transport::Connector> plain_mcp_connector(
    transport::EventLoop& loop, const transport::SubprocessOptions& lines) {
  transport::AnyConnectorOptions options;
  options.lines = lines;
  return transport::make_connector(loop, options);
}

}  // namespace

PlainMcpSessions::PlainMcpSessions(transport::EventLoop& loop, core::Timer& timer,
                                   const core::Clock& clock,
                                   const transport::SubprocessOptions& lines,
                                   std::chrono::milliseconds longest_probe)
    : connector_(plain_mcp_connector(loop, lines)), gate_([&] {
        auto sessions = std::make_unique<mcp::SessionCaller>(
            mcp::SessionTools{*connector_, timer, clock},
            mcp::SessionCallerOptions{.longest_probe = longest_probe});
        refusals_ = sessions->refusals();
        return sessions;
      }()) {}

}  // namespace league::agent
