#include "common/schema/accepting_visitor.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace league::schema {
namespace {

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

/// Draws schemas and documents over few names and values, so that they often meet.
class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}

  json schema(int depth) {
    json out = json::object();
    if (one_in(12)) return json(one_in(2));
    if (one_in(3))
      out["type"] = pick({"object", "array", "string", "integer", "number", "null", "boolean"});
    if (one_in(6)) out["type"] = json::array({"string", "object"});
    if (one_in(4)) out["maxLength"] = below(4);
    if (one_in(4)) out["minLength"] = below(3);
    if (one_in(5)) out["enum"] = json::array({document(0), document(0), "a"});
    if (one_in(8)) out["pattern"] = pick({"^a", "b$", "^.{2}$"});
    if (one_in(6)) out["minimum"] = below(3);
    if (depth == 0) return out;
    if (one_in(2)) {
      for (int i = below(4); i >= 0; --i) out["properties"][name()] = schema(depth - 1);
    }
    if (one_in(4)) out["required"] = json::array({name()});
    if (one_in(4)) out["additionalProperties"] = schema(depth - 1);
    if (one_in(8)) out["patternProperties"][pick({"^a", "b"})] = schema(depth - 1);
    if (one_in(3)) out["items"] = schema(depth - 1);
    if (one_in(8)) out["anyOf"] = json::array({schema(depth - 1), schema(depth - 1)});
    if (one_in(8)) out["allOf"] = json::array({schema(depth - 1), schema(depth - 1)});
    if (one_in(10)) out["not"] = schema(depth - 1);
    return out;
  }

  json document(int depth) {
    switch (below(depth == 0 ? 5 : 8)) {
      case 0:
        return below(4);
      case 1:
        return nullptr;
      case 2:
        return one_in(2);
      case 3:
        return pick({"", "a", "ab", "abc", "\xc3\xa4", "\xc3\xa4\xe2\x82\xac"});
      case 4:
        return 0.5 + below(3);
      case 5: {
        json out = json::array();
        for (int i = below(3); i > 0; --i) out.push_back(document(depth - 1));
        return out;
      }
      default: {
        json out = json::object();
        for (int i = below(4); i > 0; --i) out[name()] = document(depth - 1);
        return out;
      }
    }
  }

 private:
  int below(int end) { return static_cast<int>(engine_() % static_cast<unsigned>(end)); }
  bool one_in(int n) { return below(n) == 0; }
  std::string name() { return pick({"a", "ab", "b", "c", "cb"}); }
  std::string pick(std::initializer_list<const char*> of) {
    return *(of.begin() + below(static_cast<int>(of.size())));
  }

  std::mt19937 engine_;
};

TEST(AcceptingVisitor, DecidesAsTheStockVisitor) {
  constexpr unsigned kSchemas = 3000;
  constexpr int kDocuments = 20;
  constexpr int kDepth = 3;
  int accepted = 0;
  int refused = 0;
  for (unsigned seed = 1; seed <= kSchemas; ++seed) {
    Chance chance(seed);
    json text = chance.schema(kDepth);
    valijson::Schema schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(NlohmannJsonAdapter(text), schema);
    PatternCache patterns;
    for (int i = 0; i < kDocuments; ++i) {
      json document = chance.document(kDepth);
      bool expected =
          valijson::Validator().validate(schema, NlohmannJsonAdapter(document), nullptr);
      const JsonTree tree(document);
      ASSERT_EQ(accepts(schema, tree.root(), patterns), expected) << "seed " << seed << "\n"
                                                                  << text.dump(2) << "\n"
                                                                  << document.dump();
      ++(expected ? accepted : refused);
    }
  }
  EXPECT_GT(accepted, 5000);
  EXPECT_GT(refused, 5000);
}

TEST(AcceptingVisitor, CountsCharactersBehindAZero) {
  valijson::Schema schema;
  json text = {{"maxLength", 3}};
  valijson::SchemaParser(valijson::SchemaParser::kDraft7)
      .populateSchema(NlohmannJsonAdapter(text), schema);
  PatternCache patterns;
  const auto accepts_text = [&](const std::string& written) {
    const json document = written;
    return accepts(schema, JsonTree(document).root(), patterns);
  };
  EXPECT_FALSE(accepts_text(std::string("a\0bcd", 5)));
  EXPECT_TRUE(accepts_text(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace league::schema
