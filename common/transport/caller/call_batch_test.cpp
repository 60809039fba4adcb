#include "common/transport/caller/call_batch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace league::transport::caller {
namespace {

/// Keeps the calls, and answers when the test says so.
struct KeepingCaller final : link::Caller {
  void call(link::OutboundCall call, Completion completion) override {
    calls.push_back(std::move(call));
    completions.push_back(std::move(completion));
  }
  void answer(std::size_t which, int status, std::string bytes) {
    link::CallOutcome outcome;
    outcome.http_status = status;
    outcome.bytes = std::move(bytes);
    completions[which](std::move(outcome));
  }
  std::vector<link::OutboundCall> calls;
  std::vector<Completion> completions;
};

struct CallBatchTest : ::testing::Test {
  KeepingCaller inner;
  BatchCaller caller{inner};
  std::shared_ptr<CallBatch> batch = std::make_shared<CallBatch>();
  std::vector<link::CallOutcome> outcomes = std::vector<link::CallOutcome>(3);

  void call(std::size_t number, const std::string& scheme = "http") {
    link::OutboundCall out;
    out.endpoint = {
        .scheme = scheme, .host = "localhost", .port = 8101, .path = "/mcp", .pinned_address = ""};
    out.bytes = R"({"id":)" + std::to_string(number) + "}";
    out.id = rpc::Id(static_cast<std::int64_t>(number));
    out.deadline = core::Clock::Steady(std::chrono::seconds(number));
    out.batch = batch;
    caller.call(std::move(out), [this, number](link::CallOutcome outcome) {
      outcomes[number] = std::move(outcome);
    });
  }
};

TEST_F(CallBatchTest, GoesOutAsOneRequestWhenItIsClosed) {
  call(1);
  call(2);
  EXPECT_TRUE(inner.calls.empty());
  batch->close();
  ASSERT_EQ(inner.calls.size(), 1U);
  EXPECT_EQ(inner.calls[0].bytes.view(), R"([{"id":1},{"id":2}])");
  EXPECT_EQ(inner.calls[0].deadline, core::Clock::Steady(std::chrono::seconds(2)));
  inner.answer(0, 200, R"([{"id":2,"result":"b"},{"id":1,"result":"a"}])");
  EXPECT_EQ(outcomes[1].bytes.view(), R"({"id":1,"result":"a"})");
  EXPECT_EQ(outcomes[2].bytes.view(), R"({"id":2,"result":"b"})");
  EXPECT_NE(outcomes[1].notes, outcomes[2].notes);
}

TEST_F(CallBatchTest, WhatIsNoBatchAnswersEveryCall) {
  call(1);
  call(2);
  batch->close();
  inner.answer(0, 429, R"({"id":null,"error":{}})");
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(outcomes[i].http_status, 429);
    EXPECT_EQ(outcomes[i].bytes.view(), R"({"id":null,"error":{}})");
  }
}

TEST_F(CallBatchTest, ACallWithoutAnAnswerInTheBatchHasNone) {
  call(1);
  call(2);
  batch->close();
  inner.answer(0, 200, R"([{"id":2,"result":"b"}])");
  EXPECT_TRUE(outcomes[1].bytes.empty());
  EXPECT_FALSE(outcomes[2].bytes.empty());
}

TEST_F(CallBatchTest, OneCallGoesAlone) {
  call(1);
  batch->close();
  ASSERT_EQ(inner.calls.size(), 1U);
  EXPECT_EQ(inner.calls[0].bytes.view(), R"({"id":1})");
  call(2);
  ASSERT_EQ(inner.calls.size(), 2U) << "the batch is closed";
}

TEST_F(CallBatchTest, OtherTransportsSendMessagesOneByOne) {
  call(1, "ws");
  call(2, "ws");
  EXPECT_EQ(inner.calls.size(), 2U);
}

}  // namespace
}  // namespace league::transport::caller
