#include "common/schema/json_tree.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::schema {
namespace {

using nlohmann::json;

constexpr const char* kText =
    R"({"b":[1,-2,3.5,4.0,18446744073709551615],"a":{"x":null,"y":true,"":"\u00e4\u0000z"},"c":[]})";

TEST(JsonTree, IsTheDocumentThatNlohmannReads) {
  const json document = json::parse(kText);
  const auto parsed = JsonTree::parse(kText);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->root().to_json(), document);
  EXPECT_EQ(JsonTree(document).root().to_json(), document);
}

TEST(JsonTree, ShowsItsValues) {
  const auto tree = JsonTree::parse(kText);
  ASSERT_TRUE(tree);
  const JsonNode root = tree->root();
  EXPECT_EQ(root.size(), 3U);
  EXPECT_EQ(root.find("a").find("").text(), std::string_view("\xc3\xa4\0z", 4));
  EXPECT_TRUE(root.find("a").find("y").truth());
  EXPECT_TRUE(root.find("a").find("x").is(JsonType::kNull));
  std::vector<double> numbers;
  std::vector<bool> whole;
  for (JsonNode number : root.find("b")) {
    numbers.push_back(number.number());
    whole.push_back(number.is_whole());
  }
  EXPECT_EQ(numbers, (std::vector<double>{1, -2, 3.5, 4, 18446744073709551615.0}));
  EXPECT_EQ(whole, (std::vector<bool>{true, true, false, true, true}));
  EXPECT_EQ((*root.find("b").begin()).integer(), 1);
  std::vector<std::string> names;
  for (JsonNode member : root) names.emplace_back(member.name());
  EXPECT_EQ(names, (std::vector<std::string>{"b", "a", "c"}));
}

TEST(JsonTree, WhatIsNotThereHasNothingInIt) {
  const auto tree = JsonTree::parse(R"({"a":"text"})");
  ASSERT_TRUE(tree);
  for (JsonNode node : {JsonNode(), tree->root().find("b"), tree->root().find("a").find("c")}) {
    EXPECT_FALSE(node);
    EXPECT_EQ(node.size(), 0U);
    EXPECT_EQ(node.text(), "");
    EXPECT_EQ(node.number(), 0);
    EXPECT_FALSE(node.integer());
    EXPECT_TRUE(node.to_json().is_null());
    for (JsonNode child : node) ADD_FAILURE() << child.name();
  }
}

TEST(JsonTree, ASecondTreeLeavesTheFirstAlone) {
  auto first = JsonTree::parse(R"({"name":"first"})");
  {
    const auto second = JsonTree::parse(R"({"name":"other"})");
    EXPECT_EQ(second->root().find("name").text(), "other");
  }
  const auto third = JsonTree::parse(R"({"name":"third"})");
  const JsonTree moved = std::move(*first);
  EXPECT_EQ(moved.root().find("name").text(), "first");
  EXPECT_EQ(third->root().find("name").text(), "third");
}

TEST(JsonTree, LeavesTheRulesOfParseJsonToIt) {
  EXPECT_FALSE(JsonTree::parse(""));
  EXPECT_FALSE(JsonTree::parse(R"({"a":1,"a":2})"));
  EXPECT_FALSE(JsonTree::parse(R"({"a":[[1]]})", {.max_depth = 2}));
  EXPECT_FALSE(JsonTree::parse(R"({"abc":1})", {.max_key_length = 2}));
  EXPECT_FALSE(JsonTree::parse("[1,2"));
  std::string many = "{";
  for (int i = 0; i < 40; ++i) many += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_TRUE(JsonTree::parse(many + "\"last\":0}"));
  EXPECT_FALSE(JsonTree::parse(many + "\"k7\":0}"));
}

}  // namespace
}  // namespace league::schema
