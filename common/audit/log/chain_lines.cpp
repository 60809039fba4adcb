#include "common/audit/log/chain_lines.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "common/audit/record/record_writer.h"
#include "common/core/signing_key.h"
#include "common/core/timestamp.h"
#include "common/schema/json_fields.h"

namespace league::audit::log {
namespace {

using nlohmann::json;

std::optional<std::int64_t> time_of(const json& object, const char* key) {
  return schema::field_at(object, key).is_number_integer() ? schema::number_at(object, key)
                                                           : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> number_of(const json& object, const char* key) {
  const json& found = schema::field_at(object, key);
  if (!found.is_number_unsigned()) return std::nullopt;
  return found.get<std::uint64_t>();
}

bool has_flag(const json& object, const char* key) {
  auto found = object.find(key);
  return found == object.end() || found->is_boolean();
}

bool has_right_types(const json& header) {
  for (const char* key :
       {"agent", "league_id", "league_key", "created", "public_key", "continues"}) {
    auto found = header.find(key);
    if (found != header.end() && !found->is_string()) return false;
  }
  for (const char* key : {"segment", "seal_interval_ms"}) {
    auto found = header.find(key);
    if (found != header.end() && !found->is_number_unsigned()) return false;
  }
  return has_flag(header, "starts");
}

std::optional<NoteLine> read_note(std::string_view line) {
  const json note = json::parse(line, nullptr, false);
  const json& content = schema::field_at(note, "content");
  NoteLine read{schema::text_at(note, "note"), {}, std::nullopt};
  if (read.name.empty() || !content.is_object() || !time_of(note, "mono_ns") ||
      !core::UtcTimestamp::parse(schema::text_at(note, "time")))
    return std::nullopt;
  if (read.name != record::kSealDelayed) {
    read.content = content.dump();
    return read;
  }
  const auto from = time_of(content, "from");
  const auto to = time_of(content, "to");
  if (!from || !to) return std::nullopt;
  read.delay = {*from, *to};
  return read;
}

bool is_signed(const record::Seal& seal, const std::string& key) {
  auto upper = [](char c) { return c >= 'A' && c <= 'F'; };
  return std::none_of(seal.signature.begin(), seal.signature.end(), upper) &&
         std::none_of(key.begin(), key.end(), upper) &&
         core::is_signature_of(key, signed_text(seal), seal.signature);
}

std::uint64_t half_of(std::string_view hash) {
  std::uint64_t half = 0;
  std::from_chars(hash.data(), hash.data() + std::min<std::size_t>(hash.size(), 16), half, 16);
  return half;
}

}  // namespace league::audit::log
