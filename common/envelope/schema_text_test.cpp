#include "common/envelope/schema_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/envelope/message_schemas.h"
#include "common/schema/schema_validator.h"

namespace league::envelope {
namespace {

/// Compares a printed schema with its file in schemas/. With LEAGUE_WRITE_SCHEMAS in the
/// environment, writes the file instead.
void expect_file(const std::string& stem, const std::string& printed) {
  const auto path = std::filesystem::path(LEAGUE_SOURCE_DIR) / "schemas" / (stem + ".schema.json");
  if (std::getenv("LEAGUE_WRITE_SCHEMAS") != nullptr) std::ofstream(path) << printed;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, printed) << "LEAGUE_WRITE_SCHEMAS=1 envelope_test writes " << path;
}

TEST(SchemaText, IsWhatTheFilesContain) {
  for (const auto& row : all_messages()) expect_file(file_stem(row.type), schema_text(row.type));
  expect_file("envelope", envelope_schema_text());
}

TEST(SchemaText, OfTheEnvelopeIsASchema) {
  EXPECT_TRUE(
      schema::CompiledSchema::compile(nlohmann::json::parse(envelope_schema_text()), "envelope"));
}

TEST(SchemaText, ShowsARightValueOfEachField) {
  for (const auto& row : all_messages()) {
    const auto schema = nlohmann::json::parse(schema_text(row.type));
    for (const auto& [name, field] : schema["properties"].items()) {
      if (!field.contains("examples")) continue;
      nlohmann::json own = field;
      own["$schema"] = schema["$schema"];
      const auto compiled = schema::CompiledSchema::compile(own, name);
      ASSERT_TRUE(compiled) << row.wire_name << " " << name;
      EXPECT_TRUE(compiled->is_valid(field["examples"][0])) << row.wire_name << " " << name;
    }
  }
}

}  // namespace
}  // namespace league::envelope
