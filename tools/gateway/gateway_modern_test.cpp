#include "tools/gateway/gateway_modern.h"

#include <gtest/gtest.h>

namespace league::tools::gateway {
namespace {

using nlohmann::json;

const json kInfo{{"name", "web"}, {"version", "1"}};

TEST(GatewayModern, WhatABackendHasSaidStands) {
  GatewayAnswer answer(rpc::make_result(
      rpc::Id(1), {{"resultType", "input_required"},
                   {"ttlMs", 7},
                   {"_meta", {{"io.modelcontextprotocol/serverInfo", {{"name", "own"}}}}}}));
  complete_modern("tools/list", kInfo, answer);
  EXPECT_EQ(answer.response.result["resultType"], "input_required");
  EXPECT_EQ(answer.response.result["ttlMs"], 7);
  EXPECT_EQ(answer.response.result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "own");
  GatewayAnswer odd(rpc::make_result(rpc::Id(1), {{"_meta", 7}}));
  complete_modern("tools/call", kInfo, odd);
  EXPECT_EQ(odd.response.result["_meta"]["io.modelcontextprotocol/serverInfo"], kInfo);
}

TEST(GatewayModern, UnknownMethodsAreNotFound) {
  GatewayAnswer unknown(rpc::make_error(rpc::Id(1), rpc::StandardCode::kMethodNotFound));
  complete_modern("prompts/get", kInfo, unknown);
  EXPECT_EQ(unknown.http_status, 404);
  GatewayAnswer failed(rpc::make_error(rpc::Id(1), rpc::StandardCode::kInternalError));
  complete_modern("prompts/get", kInfo, failed);
  EXPECT_EQ(failed.http_status, 200);
}

TEST(GatewayModern, FaultsOfARequestHaveTheirStatusWithoutHttpBehind) {
  for (int code : {-32020, -32021, -32022}) {
    GatewayAnswer refused(rpc::make_error(rpc::Id(1), {code, "no", nullptr}));
    complete_modern("tools/call", kInfo, refused);
    EXPECT_EQ(refused.http_status, 400) << code;
  }
}

TEST(GatewayModern, OnlyWhatTheRevisionHasIsAnnounced) {
  auto found = discovered(
      {{"capabilities",
        {{"tools", {{"listChanged", true}}}, {"logging", json::object()}, {"prompts", 7}}},
       {"instructions", "be kind"}});
  EXPECT_EQ(found["capabilities"], (json{{"tools", {{"listChanged", true}}}}));
  EXPECT_EQ(found["instructions"], "be kind");
}

}  // namespace
}  // namespace league::tools::gateway
