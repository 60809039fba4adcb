#include "common/mcp/client/request_frame.h"

#include <gtest/gtest.h>

namespace league::mcp::client {
namespace {

using nlohmann::json;

std::string header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "none";
}

TEST(RequestFrame, LegacyRequestsStayAsTheyAre) {
  Negotiated negotiated;
  negotiated.revision = "2025-03-26";
  negotiated.session_id = "abc";
  auto frame = frame_request(negotiated, {}, rpc::Id(7), "tools/call", R"({"name":"x"})");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->bytes,
            R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}})");
  EXPECT_EQ(header(frame->headers, "Mcp-Session-Id"), "abc");
  EXPECT_EQ(header(frame->headers, "MCP-Protocol-Version"), "none") << "came with 2025-06-18";
  negotiated.revision = "2025-06-18";
  negotiated.session_id.clear();
  auto newer = frame_request(negotiated, {}, rpc::Id(8), "ping", "");
  EXPECT_EQ(header(newer->headers, "MCP-Protocol-Version"), "2025-06-18");
  EXPECT_EQ(header(newer->headers, "Mcp-Session-Id"), "none");
}

TEST(RequestFrame, ModernRequestsSayEverything) {
  Negotiated negotiated;
  negotiated.revision = std::string(kModernRevision);
  negotiated.is_modern = true;
  auto frame = frame_request(negotiated, {.name = "me", .version = "9"}, rpc::Id(1), "tools/call",
                             R"({"name":"würfel","arguments":{},"_meta":{"own":1}})");
  ASSERT_TRUE(frame);
  auto params = json::parse(frame->bytes)["params"];
  EXPECT_EQ(params["_meta"][std::string(kVersionKey)], "2026-07-28");
  EXPECT_EQ(params["_meta"][std::string(kClientInfoKey)]["name"], "me");
  EXPECT_EQ(params["_meta"]["own"], 1);
  EXPECT_EQ(header(frame->headers, "Mcp-Method"), "tools/call");
  EXPECT_EQ(header(frame->headers, "Mcp-Name"), "=?base64?d8O8cmZlbA==?=");
  EXPECT_EQ(header(frame->headers, "MCP-Protocol-Version"), "2026-07-28");
  auto read = frame_request(negotiated, {}, rpc::Id(2), "resources/read",
                            R"({"uri":"league://standings"})");
  EXPECT_EQ(header(read->headers, "Mcp-Name"), "league://standings");
}

TEST(RequestFrame, TheIdIsTheProgressToken) {
  Negotiated negotiated;
  negotiated.revision = "2025-11-25";
  auto frame = frame_request(negotiated, {}, rpc::Id(5), "tools/call", R"({"name":"x"})", true);
  EXPECT_EQ(json::parse(frame->bytes)["params"]["_meta"]["progressToken"], 5);
}

TEST(RequestFrame, RefusesParametersThatAreNoObjectWhereItMustReadThem) {
  Negotiated negotiated;
  negotiated.is_modern = true;
  for (const char* params : {"[1]", "nonsense", R"({"_meta":3})"})
    EXPECT_FALSE(frame_request(negotiated, {}, rpc::Id(1), "x", params)) << params;
}

TEST(RequestFrame, HeaderValuesAreVisibleAscii) {
  EXPECT_EQ(header_value("choose_parity"), "choose_parity");
  EXPECT_EQ(header_value(" x"), "=?base64?IHg=?=");
  EXPECT_EQ(header_value("a\r\nb"), "=?base64?YQ0KYg==?=");
  EXPECT_EQ(header_value("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
  EXPECT_EQ(header_value("abc\x7f"), "=?base64?YWJjfw==?=");
}

}  // namespace
}  // namespace league::mcp::client
