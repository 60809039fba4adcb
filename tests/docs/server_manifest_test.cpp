// server.json, by which registries and clients of MCP know the manager (schema of 2025-12-11).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "common/transport/http/http_options.h"

namespace league {
namespace {

using nlohmann::json;

json manifest() {
  std::ifstream in(std::string(LEAGUE_SOURCE_DIR) + "/server.json");
  return json::parse(in, nullptr, /*allow_exceptions=*/false);
}

/// The names in `{curly_braces}`.
std::set<std::string> variables_in(const std::string& url) {
  static const std::regex kName(R"(\{([A-Za-z_]\w*)\})");
  std::set<std::string> names;
  for (std::sregex_iterator it(url.begin(), url.end(), kName), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

TEST(ServerManifest, HasTheFormOfItsSchema) {
  const json server = manifest();
  ASSERT_TRUE(server.is_object()) << "server.json is no JSON";
  EXPECT_EQ(server.at("$schema"),
            "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json");
  const std::set<std::string> known{"$schema", "name",       "title",   "description",
                                    "version", "websiteUrl", "remotes", "repository",
                                    "icons",   "packages",   "_meta"};
  for (const auto& [key, value] : server.items()) EXPECT_TRUE(known.contains(key)) << key;
  const auto name = server.at("name").get<std::string>();
  EXPECT_TRUE(std::regex_match(name, std::regex("[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+"))) << name;
  EXPECT_LE(name.size(), 200U);
  for (const char* key : {"title", "description"}) {
    const auto text = server.at(key).get<std::string>();
    EXPECT_FALSE(text.empty()) << key;
    EXPECT_LE(text.size(), 100U) << key;
  }
}

TEST(ServerManifest, SaysTheVersionOfThePrograms) {
  EXPECT_EQ(manifest().at("version"), LEAGUE_VERSION);
}

TEST(ServerManifest, NamesThePathsThatAreServed) {
  const transport::http::HttpServerOptions served;
  const json server = manifest();
  const json& remotes = server.at("remotes");
  ASSERT_FALSE(remotes.empty());
  for (const json& remote : remotes) {
    const auto url = remote.at("url").get<std::string>();
    EXPECT_TRUE(std::regex_match(url, std::regex(R"(https?://\S+)"))) << url;
    const auto type = remote.at("type").get<std::string>();
    ASSERT_TRUE(type == "streamable-http" || type == "sse") << type;
    EXPECT_TRUE(url.ends_with(type == "sse" ? served.sse_path : served.path)) << url;
    std::set<std::string> described;
    for (const auto& [variable, input] : remote.at("variables").items()) {
      described.insert(variable);
      EXPECT_TRUE(input.at("description").is_string());
      EXPECT_EQ(input.at("isRequired"), true);
    }
    EXPECT_EQ(variables_in(url), described) << "each name is explained, and nothing else is";
  }
}

}  // namespace
}  // namespace league
