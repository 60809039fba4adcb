#include "common/agent/peers/plain_mcp_sessions.h"

#include "common/transport/caller/any_connector.h"

namespace league::agent::peers {
namespace {

std::shared_ptr<transport::link::Connector> plain_mcp_connector(
    transport::link::EventLoop& loop, const transport::line::SubprocessOptions& lines) {
  transport::caller::AnyConnectorOptions options;
  options.lines = lines;
  return transport::caller::make_connector(loop, options);
}

}  // namespace

PlainMcpSessions::PlainMcpSessions(transport::link::EventLoop& loop, core::Timer& timer,
                                   const core::Clock& clock,
                                   const transport::line::SubprocessOptions& lines,
                                   std::chrono::milliseconds longest_probe)
    : connector_(plain_mcp_connector(loop, lines)), gate_([&] {
        auto sessions = std::make_unique<mcp::client::SessionCaller>(
            mcp::client::SessionTools{*connector_, timer, clock},
            mcp::client::SessionCallerOptions{.longest_probe = longest_probe});
        refusals_ = sessions->refusals();
        return sessions;
      }()) {}

}  // namespace league::agent::peers
