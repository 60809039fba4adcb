#include "common/audit/calls/plain_read.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "common/schema/json_fields.h"

namespace league::audit {
namespace {

using nlohmann::json;

constexpr std::size_t kLongest = 2048;
constexpr std::array<std::string_view, 3> kReads{"get_league_status", "get_standings",
                                                 "get_agents"};

}  // namespace

bool is_plain_read(std::string_view request) {
  if (request.size() > kLongest) return false;
  const json frame = json::parse(request, nullptr, false);
  std::string name = schema::text_at(frame, "method");
  if (name == "tools/call" && frame.contains("params"))
    name = schema::text_at(frame.at("params"), "name");
  return std::ranges::find(kReads, name) != kReads.end();
}

}  // namespace league::audit
