#include "common/rpc/message.h"

#include <gtest/gtest.h>

namespace league::rpc {
namespace {

using nlohmann::json;

TEST(Message, FactoriesFillEveryField) {
  Request request = make_request(Id(1), "sum", json::array({1, 2}));
  EXPECT_EQ(request.id, Id(1));
  EXPECT_EQ(request.method, "sum");
  EXPECT_EQ(request.params, json::array({1, 2}));
  EXPECT_TRUE(make_request(Id(1), "ping").params.is_null());
  EXPECT_TRUE(make_notification("update").params.is_null());
  EXPECT_EQ(make_notification("update", {{"a", 1}}).params["a"], 1);
  EXPECT_FALSE(make_result(Id(1), 19).error);
  EXPECT_EQ(make_result(Id(1), json::array({1})).result, json::array({1}));
}

TEST(Message, StandardErrorsHaveTheTextsOfTheSpecification) {
  struct Row {
    StandardCode code;
    int number;
    std::string text;
  };
  for (const Row& row : {Row{StandardCode::kParseError, -32700, "Parse error"},
                         Row{StandardCode::kInvalidRequest, -32600, "Invalid Request"},
                         Row{StandardCode::kMethodNotFound, -32601, "Method not found"},
                         Row{StandardCode::kInvalidParams, -32602, "Invalid params"},
                         Row{StandardCode::kInternalError, -32603, "Internal error"}}) {
    Response response = make_error(Id("x"), row.code, {{"field", "/a"}});
    ASSERT_TRUE(response.error);
    EXPECT_EQ(response.error->code, row.number);
    EXPECT_EQ(response.error->message, row.text);
    EXPECT_EQ(response.error->data["field"], "/a");
    EXPECT_EQ(response.id, Id("x"));
  }
}

TEST(Message, MethodOfEachKind) {
  EXPECT_EQ(method_of(Message(make_request(Id(3), "ping"))), "ping");
  EXPECT_EQ(method_of(Message(make_notification("update"))), "update");
  EXPECT_EQ(method_of(Message(make_result(Id(3), 1))), "");
}

}  // namespace
}  // namespace league::rpc
