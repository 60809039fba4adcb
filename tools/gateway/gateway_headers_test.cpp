#include "tools/gateway/gateway_headers.h"

#include <gtest/gtest.h>

#include <map>

namespace league::tools::gateway {
namespace {

TEST(GatewayHeaders, CopiesAllButWhatBelongsToThePost) {
  rpc::HeaderMap in{{"Authorization", "Bearer abc"},
                    {"Cookie", "a=b"},
                    {"X-Tenant", "one"},
                    {"X-Tenant", "two"},
                    {"User-Agent", "bot/1"},
                    {"traceparent", "00-1"},
                    {"Accept-Language", "de"},
                    // Of the body, of this hop, of negotiation, of the client's own session.
                    {"Content-Type", "application/json"},
                    {"content-length", "12"},
                    {"Content-Encoding", "gzip"},
                    {"Transfer-Encoding", "chunked"},
                    {"Accept", "application/json"},
                    {"Accept-Encoding", "gzip"},
                    {"Host", "gateway"},
                    {"Connection", "keep-alive, X-Hop"},
                    {"X-Hop", "1"},
                    {"Keep-Alive", "5"},
                    {"TE", "trailers"},
                    {"Trailer", "x"},
                    {"Upgrade", "h2c"},
                    {"Proxy-Authorization", "Basic x"},
                    {"Expect", "100-continue"},
                    {":path", "/mcp"},
                    {"Origin", "http://localhost"},
                    {"Mcp-Session-Id", "s"},
                    {"MCP-Protocol-Version", "2025-06-18"},
                    {"Last-Event-ID", "4"}};
  std::multimap<std::string, std::string> out;
  for (const auto& [name, value] : headers_for_backend(in)) out.emplace(name, value);
  EXPECT_EQ(out, (std::multimap<std::string, std::string>{{"Authorization", "Bearer abc"},
                                                          {"Cookie", "a=b"},
                                                          {"X-Tenant", "one"},
                                                          {"X-Tenant", "two"},
                                                          {"User-Agent", "bot/1"},
                                                          {"traceparent", "00-1"},
                                                          {"Via", "1.1 league-gateway"},
                                                          {"Accept-Language", "de"}}));
}

TEST(GatewayHeaders, NamesOfTheConnectionMayComeInSeveralFields) {
  rpc::HeaderMap in{{"connection", " a ,b"},
                    {"Connection", "C,"},
                    {"A", "1"},
                    {"B", "2"},
                    {"c", "3"},
                    {"d", "4"}};
  EXPECT_EQ(headers_for_backend(in), (transport::client::HttpHeaders{{"d", "4"}, kVia}));
}

}  // namespace
}  // namespace league::tools::gateway
