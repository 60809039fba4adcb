#include "common/agent/peers/plain_mcp_sessions.h"

#include "common/transport/caller/any_connector.h"

namespace league::agent {
namespace {

std::shared_ptr<transport::Connector> plain_mcp_connector(
    transport::EventLoop& loop, const transport::LineConnectorOptions& lines) {
  transport::AnyConnectorOptions options;
  options.lines = lines;
  return transport::make_connector(loop, options);
}

}  // namespace

PlainMcpSessions::PlainMcpSessions(transport::EventLoop& loop, core::Timer& timer,
                                   const core::Clock& clock,
                                   const transport::LineConnectorOptions& lines,
                                   std::chrono::milliseconds longest_probe)
    : PlainMcpSessions(plain_mcp_connector(loop, lines), timer, clock, longest_probe) {}

PlainMcpSessions::PlainMcpSessions(std::shared_ptr<transport::Connector> connector,
                                   core::Timer& timer, const core::Clock& clock,
                                   std::chrono::milliseconds longest_probe)
    : PlainMcpSessions(connector, std::make_unique<mcp::SessionCaller>(
                                      mcp::SessionTools{*connector, timer, clock},
                                      mcp::SessionCallerOptions{.longest_probe = longest_probe})) {}

PlainMcpSessions::PlainMcpSessions(std::shared_ptr<transport::Connector> connector,
                                   std::unique_ptr<mcp::SessionCaller> sessions)
    : connector_(std::move(connector)),
      refusals_(sessions->refusals()),
      gate_(std::move(sessions)) {}

}  // namespace league::agent
