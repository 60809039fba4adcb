#include "common/mcp/client/elicitation.h"

#include <gtest/gtest.h>

namespace league::mcp::client {
namespace {

using nlohmann::json;

json form(json properties, json required = json::array()) {
  return {{"message", "?"},
          {"requestedSchema",
           {{"type", "object"}, {"properties", std::move(properties)}, {"required", required}}}};
}

TEST(Elicitation, WhatTheUserSaysComesBeforeDefaults) {
  const json asked = form({{"name", {{"type", "string"}, {"default", "John"}}},
                           {"age", {{"type", "integer"}, {"default", 30}}},
                           {"note", {{"type", "string"}}}},
                          json::array({"name"}));
  EXPECT_EQ(answer_elicitation(asked, {{"name", "Ada"}, {"unasked", 1}}),
            (json{{"action", "accept"}, {"content", {{"name", "Ada"}, {"age", 30}}}}));
  EXPECT_EQ(answer_elicitation(form({{"sure", {{"type", "boolean"}}}}), json::object()),
            (json{{"action", "accept"}, {"content", json::object()}}));
}

TEST(Elicitation, DeclinesWhatItCannotAnswer) {
  const json declined = {{"action", "decline"}};
  EXPECT_EQ(answer_elicitation(form({{"key", {{"type", "string"}}}}, json::array({"key"})),
                               json::object()),
            declined);
  for (const json& odd :
       {json(nullptr), json::array(), json{{"mode", "url"}, {"url", "https://example.org"}},
        json{{"requestedSchema", 7}}, json{{"requestedSchema", {{"properties", json::array()}}}}})
    EXPECT_EQ(answer_elicitation(odd, json::object()), declined) << odd;
  json large = json::object();
  for (int i = 0; i < 300; ++i) large["f" + std::to_string(i)] = {{"default", 1}};
  EXPECT_EQ(answer_elicitation(form(std::move(large)), json::object()), declined);
  EXPECT_EQ(answer_elicitation(form({{"a", 7}}, json::array({7})), nullptr)["action"], "accept");
}

TEST(Elicitation, OtherQuestionsHaveNoAnswer) {
  EXPECT_FALSE(answer_question("sampling/createMessage", json::object(), json::object()));
  EXPECT_FALSE(answer_question("roots/list", nullptr, json::object()));
}

}  // namespace
}  // namespace league::mcp::client
