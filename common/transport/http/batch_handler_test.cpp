#include "common/transport/http/batch_handler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/fake_clock.h"

namespace league::transport::http {
namespace {

/// Keeps what arrives, and answers when the test says so.
struct KeepingHandler final : link::MessageHandler {
  void on_message(link::Inbound message, link::ReplySlot reply) override {
    messages.push_back(std::move(message));
    slots.push_back(std::move(reply));
  }
  std::vector<link::Inbound> messages;
  std::vector<link::ReplySlot> slots;
};

struct BatchHandlerTest : ::testing::Test {
  testing::FakeTime time;
  std::vector<link::OutboundReply> sent;  // outlives `inner`, whose slots answer when they go
  KeepingHandler inner;
  BatchHandler handler{inner,
                       [](std::string_view method) { return method.starts_with("notify_"); }};

  void receive(std::string bytes, rpc::HeaderMap headers = {}) {
    link::Inbound message;
    message.bytes = std::move(bytes);
    message.context = rpc::MessageContext::now(
        time, rpc::MessageDirection::kClientToServer,
        rpc::TransportContext::http(std::make_shared<rpc::HeaderMap>(std::move(headers)), "POST",
                                    rpc::SharedText::literal("/mcp")));
    message.meter = std::make_shared<link::LogMeter>();
    handler.on_message(std::move(message), link::ReplySlot([this](link::OutboundReply reply) {
                         sent.push_back(std::move(reply));
                       }));
  }
  void answer(std::size_t which, std::string bytes) {
    link::OutboundReply reply;
    reply.bytes = std::move(bytes);
    inner.slots[which].send(std::move(reply));
  }
};

constexpr const char* kTwo =
    R"([{"id":1,"method":"notify_round","params":{"x":"],["}}, {"id":2,"method":"notify_end"}])";

TEST_F(BatchHandlerTest, PassesTheRequestsOnOneByOneAndAnswersThemTogether) {
  receive(kTwo);
  ASSERT_EQ(inner.messages.size(), 2U);
  EXPECT_EQ(inner.messages[0].bytes.view(),
            R"({"id":1,"method":"notify_round","params":{"x":"],["}})");
  EXPECT_EQ(inner.messages[1].bytes.view(), R"({"id":2,"method":"notify_end"})");
  EXPECT_NE(inner.messages[0].notes, inner.messages[1].notes);
  answer(1, "second");
  EXPECT_TRUE(sent.empty());
  answer(0, "first");
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].bytes.view(), "[second,first]");
  EXPECT_EQ(sent[0].http_status, 200);
}

TEST_F(BatchHandlerTest, WhatIsLoggedOfAllMessagesCountsForTheirSender) {
  receive(kTwo);
  ASSERT_EQ(inner.messages.size(), 2U);
  EXPECT_NE(inner.messages[0].meter, nullptr);
  EXPECT_EQ(inner.messages[0].meter, inner.messages[1].meter);
}

TEST_F(BatchHandlerTest, LeavesEverythingElseAsItIs) {
  const std::vector<std::string> others = {
      R"({"id":1,"method":"notify_round"})",
      R"([{"id":1,"method":"notify_round"},{"id":2,"method":"tools/list"}])",
      R"([{"id":1,"method":"notify_round"},{"method":"notify_end"}])",
      R"([{"id":1,"method":"notify_round"},])",
      R"([{"id":1,"method":"notify_round"}])"
      "x",
      "[]",
      "[1]",
      "not JSON"};
  for (const auto& text : others) receive(text);
  ASSERT_EQ(inner.messages.size(), others.size());
  for (std::size_t i = 0; i < others.size(); ++i)
    EXPECT_EQ(inner.messages[i].bytes.view(), others[i]);
}

TEST_F(BatchHandlerTest, AnMcpSessionDecidesForItself) {
  receive(kTwo, {{"Mcp-Session-Id", "s"}});
  receive(kTwo, {{"mcp-protocol-version", "2025-06-18"}});
  ASSERT_EQ(inner.messages.size(), 2U);
  EXPECT_EQ(inner.messages[0].bytes.view(), kTwo);
}

TEST_F(BatchHandlerTest, AtMostSixtyFour) {
  std::string batch = "[";
  for (int i = 0; i < 65; ++i)
    batch += (i > 0 ? "," : "") + std::string(R"({"id":1,"method":"notify_round"})");
  receive(batch + "]");
  EXPECT_EQ(inner.messages.size(), 1U);
}

}  // namespace
}  // namespace league::transport::http
