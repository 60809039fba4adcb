#include "common/mcp/client/param_headers.h"

#include <gtest/gtest.h>

namespace league::mcp::client {
namespace {

using nlohmann::json;

json marked(const char* type, const json& mark) { return {{"type", type}, {"x-mcp-header", mark}}; }
json schema_of(const json& properties) { return {{"type", "object"}, {"properties", properties}}; }
json tool(const char* name, const json& schema) {
  return {{"name", name}, {"inputSchema", schema}};
}
Headers fields_of(const ParamHeaders& known, const json& arguments, const char* name = "t") {
  return known.of_call(json{{"name", name}, {"arguments", arguments}}.dump());
}

TEST(ParamHeaders, MarkedArgumentsBecomeFields) {
  json list = {{"tools",
                {tool("t", schema_of({{"region", marked("string", "Region")},
                                      {"count", marked("integer", "Count")},
                                      {"loud", marked("boolean", "X-Loud")},
                                      {"plain", {{"type", "string"}}},
                                      {"deep", schema_of({{"er", marked("string", "Deep")}})}}))}}};
  ParamHeaders known;
  known.learn(list);
  EXPECT_EQ(list["tools"].size(), 1U);
  EXPECT_EQ(fields_of(known, {{"region", "eu west"},
                              {"count", -42},
                              {"loud", false},
                              {"plain", "x"},
                              {"deep", {{"er", "Grüße"}}}}),
            (Headers{{"Mcp-Param-Count", "-42"},
                     {"Mcp-Param-Deep", "=?base64?R3LDvMOfZQ==?="},
                     {"Mcp-Param-X-Loud", "false"},
                     {"Mcp-Param-Region", "eu west"}}));
  EXPECT_EQ(fields_of(known, {{"region", nullptr}, {"loud", true}}),
            (Headers{{"Mcp-Param-X-Loud", "true"}}))
      << "what is null or absent has no field";
  EXPECT_TRUE(fields_of(known, {{"region", {1}}, {"count", 1.5}, {"deep", 7}}).empty());
  EXPECT_TRUE(fields_of(known, {{"count", 9'007'199'254'740'992}}).empty());
  EXPECT_TRUE(fields_of(known, {{"region", "x"}}, "other").empty());
  EXPECT_TRUE(fields_of(known, json::array({1})).empty());
  EXPECT_TRUE(known.of_call("no JSON").empty());
}

TEST(ParamHeaders, ValuesCannotBreakOutOfTheirField) {
  json list = {{"tools", {tool("t", schema_of({{"a", marked("string", "A")}}))}}};
  ParamHeaders known;
  known.learn(list);
  for (const char* value : {"a\r\nX-Evil: 1", " padded", "\ttab", "", "=?base64?eA==?="}) {
    auto fields = fields_of(known, {{"a", value}});
    ASSERT_EQ(fields.size(), 1U);
    EXPECT_TRUE(fields[0].second.starts_with("=?base64?")) << value;
    EXPECT_EQ(fields[0].second.find('\n'), std::string::npos);
  }
}

TEST(ParamHeaders, ToolsWithWrongMarksAreLeftOut) {
  const json fine = marked("string", "Region");
  const std::vector<json> wrong{
      schema_of({{"a", marked("string", "")}}),
      schema_of({{"a", marked("string", "My Region")}}),
      schema_of({{"a", marked("string", "A:B")}}),
      schema_of({{"a", marked("string", "A\r\nB")}}),
      schema_of({{"a", marked("string", "Région")}}),
      schema_of({{"a", marked("string", 7)}}),
      schema_of({{"a", marked("object", "A")}}),
      schema_of({{"a", marked("number", "A")}}),
      schema_of({{"a", {{"x-mcp-header", "A"}}}}),
      schema_of({{"a", fine}, {"b", marked("string", "rEGION")}}),
      schema_of({{"a", {{"type", "array"}, {"items", fine}}}}),
      schema_of({{"a", {{"oneOf", {fine}}}}}),
      {{"type", "object"}, {"$defs", {{"d", fine}}}},
      {{"type", "object"}, {"x-mcp-header", "Root"}},
  };
  ParamHeaders known;
  for (const auto& schema : wrong) {
    json list = {{"tools", {tool("bad", schema), tool("good", schema_of({{"a", fine}}))}}};
    known.learn(list);
    ASSERT_EQ(list["tools"].size(), 1U) << schema;
    EXPECT_EQ(list["tools"][0]["name"], "good");
  }
  EXPECT_TRUE(fields_of(known, {{"a", "x"}}, "bad").empty());
}

TEST(ParamHeaders, OtherSchemasAreLeftAlone) {
  // A property may be called like the mark, and values may look like schemas.
  json list = {{"tools",
                {tool("t", schema_of({{"x-mcp-header", {{"type", "string"}}},
                                      {"b", {{"default", {{"x-mcp-header", "A B"}}}}}})),
                 {{"name", "no schema"}},
                 7}},
               {"nextCursor", "2"}};
  json before = list;
  ParamHeaders known;
  known.learn(list);
  EXPECT_EQ(list, before);
  json odd = "text";
  known.learn(odd);
  EXPECT_EQ(odd, "text");
}

TEST(ParamHeaders, ANewListReplacesWhatWasKnown) {
  ParamHeaders known;
  json list = {{"tools", {tool("t", schema_of({{"a", marked("string", "A")}}))}}};
  known.learn(list);
  EXPECT_EQ(fields_of(known, {{"a", "x"}}).size(), 1U);
  list = {{"tools", {tool("t", schema_of({{"a", {{"type", "string"}}}}))}}};
  known.learn(list);
  EXPECT_TRUE(fields_of(known, {{"a", "x"}}).empty());
}

}  // namespace
}  // namespace league::mcp::client
