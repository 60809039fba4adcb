#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/core/timer.h"
#include "common/mcp/server.h"

namespace league::testing {

/// What the fixture's tools work with; both outlive the server.
struct FixtureParts {
  mcp::Server& server;
  core::Timer& timer;
};

/// Adds everything that the scenarios of the suite name.
void add_fixture(const FixtureParts& parts);
void add_tools(const FixtureParts& parts);
void add_streaming_tools(const FixtureParts& parts);
void add_input_required(const FixtureParts& parts);
void add_resources(const FixtureParts& parts);
void add_prompts(const FixtureParts& parts);

/// A schema of an object with these properties, all of them texts and required.
[[nodiscard]] std::string text_arguments(std::initializer_list<const char*> names);
[[nodiscard]] nlohmann::json text_content(const std::string& text);
[[nodiscard]] nlohmann::json image_content();
[[nodiscard]] nlohmann::json text_result(const std::string& text);
[[nodiscard]] nlohmann::json error_result(const std::string& text);
/// A picture of one pixel, and half a second of nothing.
inline constexpr const char* kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg"
    "gg==";
inline constexpr const char* kWav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

}  // namespace league::testing
