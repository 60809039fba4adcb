#include "tools/audit/facts/reading.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/core/timestamp.h"
#include "common/schema/parse_json.h"

namespace league::tools::auditor {

using nlohmann::json;

const json& list_at(const json& value, std::string_view key) {
  static const json kEmpty = json::array();
  const json& found = field_at(value, key);
  return found.is_array() ? found : kEmpty;
}

std::optional<std::int64_t> instant_in(std::string_view text) {
  const auto time = core::UtcTimestamp::parse(text);
  return time ? std::optional(time->instant().time_since_epoch().count()) : std::nullopt;
}

void instant(schema::Fields& a, std::string_view name, std::optional<std::int64_t>& value_us) {
  std::string text;
  a.defaulted(name, text);
  if (!text.empty()) value_us = instant_in(text);
}

std::string id_of(const std::string& agent) { return agent.substr(agent.find(':') + 1); }

std::string printable(std::string_view text, std::size_t limit) {
  std::string_view part = core::utf8_prefix(text, limit);
  if (!schema::is_utf8(part)) return "(not UTF-8)";
  std::string out(part);
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto c = static_cast<unsigned char>(out[i]);
    // C1 controls (the two bytes C2 80 to C2 9F) are interpreted by terminals, too.
    bool c1 = c == 0xC2 && i + 1 < out.size() && static_cast<unsigned char>(out[i + 1]) < 0xA0;
    // Directional formatting characters would reorder the text around them.
    auto at = [&](std::size_t k) {
      return static_cast<unsigned char>(i + k < out.size() ? out[i + k] : 0);
    };
    bool turns = c == 0xE2 && ((at(1) == 0x80 && (at(2) >= 0xAA && at(2) <= 0xAE)) ||
                               (at(1) == 0x80 && (at(2) == 0x8E || at(2) == 0x8F)) ||
                               (at(1) == 0x81 && at(2) >= 0xA6 && at(2) <= 0xA9));
    if (turns) out.replace(i, 3, 1, '?');
    if (c < 0x20 || c == 0x7f) out[i] = c == '\n' || c == '\t' ? ' ' : '?';
    if (c1) out.replace(i, 2, 1, '?');
  }
  if (part.size() < text.size()) out += "...";
  return out;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::filesystem::path logs_of(const std::filesystem::path& directory) {
  std::error_code error;
  return std::filesystem::is_directory(directory / "logs", error) ? directory / "logs" : directory;
}

}  // namespace league::tools::auditor
