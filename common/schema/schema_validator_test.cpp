#include "common/schema/schema_validator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace league::schema {
namespace {

using nlohmann::json;

json draft_07(json schema) {
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  return schema;
}

CompiledSchema compiled(const json& schema) {
  auto result = CompiledSchema::compile(draft_07(schema), "test");
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

std::string refusal(const json& schema) {
  auto result = CompiledSchema::compile(schema, "test.json");
  return result ? "" : result.error().message;
}

struct Rule {
  const char* keyword;
  json schema;
  json wrong;
  json right;
  const char* pointer;
};

TEST(CompiledSchema, NamesTheRuleAndThePlaceOfEveryKeyword) {
  auto field = [](json rule) { return json{{"properties", {{"f", std::move(rule)}}}}; };
  const std::vector<Rule> rules = {
      {"required", {{"required", {"f"}}}, json::object(), {{"f", 1}}, "/f"},
      {"type", field({{"type", "string"}}), {{"f", 1}}, {{"f", "x"}}, "/f"},
      {"type", field({{"type", {"string", "null"}}}), {{"f", 1}}, {{"f", nullptr}}, "/f"},
      {"enum", field({{"enum", {"even", "odd"}}}), {{"f", "Even"}}, {{"f", "odd"}}, "/f"},
      {"const", field({{"const", 2}}), {{"f", 3}}, {{"f", 2}}, "/f"},
      {"pattern", field({{"pattern", "^a+$"}}), {{"f", "b"}}, {{"f", "aa"}}, "/f"},
      {"maxLength", field({{"maxLength", 2}}), {{"f", "abc"}}, {{"f", "ab"}}, "/f"},
      {"minLength", field({{"minLength", 2}}), {{"f", "a"}}, {{"f", "ab"}}, "/f"},
      {"maximum", field({{"maximum", 2}}), {{"f", 3}}, {{"f", 2}}, "/f"},
      {"minimum", field({{"minimum", 2}}), {{"f", 1}}, {{"f", 2}}, "/f"},
      {"exclusiveMaximum", field({{"exclusiveMaximum", 2}}), {{"f", 2}}, {{"f", 1}}, "/f"},
      {"exclusiveMinimum", field({{"exclusiveMinimum", 2}}), {{"f", 2}}, {{"f", 3}}, "/f"},
      {"multipleOf", field({{"multipleOf", 2}}), {{"f", 3}}, {{"f", 4}}, "/f"},
      {"maxItems", field({{"maxItems", 1}}), {{"f", {1, 2}}}, {{"f", {1}}}, "/f"},
      {"minItems", field({{"minItems", 1}}), {{"f", json::array()}}, {{"f", {1}}}, "/f"},
      {"uniqueItems", field({{"uniqueItems", true}}), {{"f", {1, 1}}}, {{"f", {1, 2}}}, "/f"},
      {"maxProperties", {{"maxProperties", 1}}, {{"a", 1}, {"b", 2}}, {{"a", 1}}, ""},
      {"minProperties", {{"minProperties", 1}}, json::object(), {{"a", 1}}, ""},
      {"additionalProperties", {{"additionalProperties", false}}, {{"a", 1}}, json::object(), ""},
      {"contains", field({{"contains", {{"const", 1}}}}), {{"f", {2}}}, {{"f", {1}}}, "/f"},
      {"not", field({{"not", {{"const", 1}}}}), {{"f", 1}}, {{"f", 2}}, "/f"},
      {"minimum", field({{"items", {{"minimum", 2}}}}), {{"f", {2, 1}}}, {{"f", {2, 2}}}, "/f/1"},
      {"minimum",
       {{"additionalProperties", {{"minimum", 2}}}},
       {{"a/b", 1}},
       {{"a/b", 2}},
       "/a~1b"},
  };
  for (const auto& rule : rules) {
    auto schema = compiled(rule.schema);
    EXPECT_FALSE(schema.validate(rule.right)) << rule.schema;
    auto violation = schema.validate(rule.wrong);
    ASSERT_TRUE(violation) << rule.schema;
    EXPECT_EQ(violation->keyword, rule.keyword) << rule.schema;
    EXPECT_EQ(violation->pointer, rule.pointer) << rule.schema;
    EXPECT_FALSE(violation->text.empty());
  }
}

TEST(CompiledSchema, SaysWhatWouldBeRight) {
  auto schema = compiled({{"required", {"choice"}},
                          {"properties",
                           {{"choice", {{"enum", {"even", "odd"}}}},
                            {"at", {{"examples", {"now"}}, {"type", "string"}}}}}});
  auto wrong = schema.validate({{"choice", "Even"}});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->text, "must be one of \"even\", \"odd\"");
  EXPECT_EQ(wrong->property, "choice");
  EXPECT_TRUE(wrong->is_required);
  auto type = schema.validate({{"choice", "odd"}, {"at", 7}});
  ASSERT_TRUE(type);
  EXPECT_EQ(type->example, "\"now\"");
  EXPECT_FALSE(type->is_required);
}

TEST(CompiledSchema, AnIntegerMayBeWrittenWithAFraction) {
  auto schema = CompiledSchema::compile(
      json::parse(R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
                      "properties":{"n":{"type":["integer","null"],"minimum":1},
                                    "s":{"type":"string"}}})"),
      "test");
  ASSERT_TRUE(schema);
  for (const char* good : {R"({"n":1.0})", R"({"n":2e0})", R"({"n":null})"})
    EXPECT_TRUE(schema->is_valid(json::parse(good))) << good;
  for (const char* bad : {R"({"n":1.5})", R"({"n":0.0})", R"({"n":1e300})", R"({"n":"1.0"})"})
    EXPECT_FALSE(schema->is_valid(json::parse(bad))) << bad;
  auto fault = schema->validate(json::parse(R"({"n":1.0,"s":7})"));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->pointer, "/s") << "and nothing is wrong with the number";
}

TEST(CompiledSchema, AMissingFieldComesFirst) {
  auto schema = compiled({{"required", {"a"}}, {"properties", {{"b", {{"type", "string"}}}}}});
  auto all = schema.violations({{"b", 1}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].pointer, "/a");
  EXPECT_EQ(all[1].pointer, "/b");
}

TEST(CompiledSchema, LongStringsNeverReachAPattern) {
  const std::string longest(30000, 'a');
  const json pattern = {{"type", "string"}, {"pattern", "^(a|b)*$"}};
  struct Case {
    json schema;
    json document;
    const char* pointer;
  };
  for (const auto& c : std::vector<Case>{
           {{{"properties", {{"s", pattern}}}}, {{"s", longest}}, "/s"},
           {{{"properties", {{"s", {{"items", pattern}}}}}}, {{"s", {"a", longest}}}, "/s/1"},
           {{{"properties", {{"o", {{"properties", {{"s", pattern}}}}}}}},
            {{"o", {{"s", longest}}}},
            "/o/s"},
           {{{"additionalProperties", pattern}}, {{"any", longest}}, "/any"},
           {pattern, longest, ""},
           {{{"properties", {{"s", {{"anyOf", {pattern, {{"type", "null"}}}}}}}}},
            {{"s", longest}},
            "/s"},
           {{{"definitions", {{"d", pattern}}},
             {"properties", {{"s", {{"$ref", "#/definitions/d"}}}}}},
            {{"s", longest}},
            "/s"},
       }) {
    auto violation = compiled(c.schema).validate(c.document);
    ASSERT_TRUE(violation) << c.schema;
    EXPECT_EQ(violation->keyword, "maxLength");
    EXPECT_EQ(violation->pointer, c.pointer);
  }
  auto keys = compiled({{"patternProperties", {{"^(a|b)*$", {{"type", "integer"}}}}}});
  EXPECT_TRUE(keys.validate({{longest, 1}}));
}

TEST(CompiledSchema, StringsWithoutPatternMayBeLong) {
  auto schema = compiled({{"properties", {{"s", {{"pattern", "^a"}}}}}});
  EXPECT_FALSE(schema.validate({{"text", std::string(30000, 'a')}}));
  EXPECT_FALSE(schema.validate({{"s", std::string(256, 'a')}}));
}

TEST(CompiledSchema, RefusesDocumentsThatAreTooDeepToWalk) {
  json deep = 1;
  for (int i = 0; i < 100; ++i) deep = json::array({std::move(deep)});
  auto violation = compiled({{"type", "array"}}).validate(deep);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->keyword, "maxDepth");
}

TEST(CompiledSchema, RefusesWrongSchemasAtLoad) {
  EXPECT_NE(refusal({{"type", "object"}}).find("draft-07"), std::string::npos);
  EXPECT_NE(refusal({{"$schema", "https://json-schema.org/draft/2020-12/schema"}}).find("draft-07"),
            std::string::npos);
  EXPECT_NE(refusal(draft_07({{"properties", {{"a", {{"format", "date-time"}}}}}})).find("format"),
            std::string::npos);
  EXPECT_NE(refusal(draft_07({{"properties", {{"a", {{"pattern", "(["}}}}}})).find("(["),
            std::string::npos);
  EXPECT_NE(refusal(draft_07({{"properties", {{"a", {{"$ref", "other.json"}}}}}})).find("$ref"),
            std::string::npos);
  EXPECT_FALSE(refusal(draft_07({{"type", 7}})).empty());
  EXPECT_FALSE(refusal(json::array()).empty());
  EXPECT_TRUE(
      refusal(draft_07({{"properties",
                         {{"format", {{"type", "string"}}}, {"pattern", {{"type", "integer"}}}}}}))
          .empty());
}

TEST(CompiledSchema, ServesManyThreads) {
  auto schema = compiled({{"properties", {{"s", {{"pattern", "^a+$"}}}}}});
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&schema, &wrong] {
      for (int n = 0; n < 500; ++n) {
        if (schema.validate({{"s", "aaa"}})) ++wrong;
        if (!schema.validate({{"s", "bbb"}})) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace league::schema
