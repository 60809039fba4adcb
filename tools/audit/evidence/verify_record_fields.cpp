#include "tools/audit/evidence/verify_record_fields.h"

#include <algorithm>
#include <charconv>

#include "common/core/timestamp.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/verify_evidence.h"

namespace league::tools::auditor {

using nlohmann::json;

bool is_out(const json& record) { return text_at(record, "dir") == "out"; }

bool is_own_word(const json& record, const json& message) {
  const std::string& said_by = text_at(record, "said_by");
  const std::string& sender = text_at(message, "sender");
  return is_out(record) || said_by.empty() || sender.empty() || sender == said_by ||
         text_at(record, "message_type").ends_with("REGISTER_REQUEST");  // its sender has no id yet
}

std::string match_in(const std::string& noted, const json& message) {
  const std::string& named = text_at(message, "match_id");
  return named.empty() ? noted : named;
}

std::string type_in(const json& record, const json& message) {
  const std::string& named = text_at(message, "message_type");
  return named.empty() ? text_at(record, "message_type") : named;
}

std::optional<std::uint64_t> body_digest(const json& record) {
  const std::string& hash = text_at(record, "raw_sha256");
  if (hash.size() != 64) return std::nullopt;
  std::uint64_t half = 0;
  std::from_chars(hash.data(), hash.data() + 16, half, 16);
  return half;
}

std::string id_of(const std::string& agent) { return agent.substr(agent.find(':') + 1); }

bool is_hearsay(const json& record, int version) {
  constexpr int kFirstThatSays = 3;
  return version >= kFirstThatSays && !is_out(record) && text_at(record, "kind") == "request" &&
         !text_at(record, "message_type").ends_with("REGISTER_REQUEST") &&
         text_at(record, "said_by").empty();
}

bool is_checked_delivery(const json& record, int version) {
  if (record.contains("verdict") || is_hearsay(record, version)) return false;
  if (is_out(record) || !text_at(record, "said_by").empty()) return true;
  const json& leniencies = field_at(record, "leniencies");
  return !leniencies.is_array() ||
         std::none_of(leniencies.begin(), leniencies.end(), [](const json& name) {
           return name == "missing_call_token" || name == "foreign_call_token";
         });
}

std::optional<audit::record::LogHead> head_told_in(const json& message) {
  const json& head = field_at(message, "log_head");
  if (!head.is_object() || text_at(message, "sender") != "league_manager") return std::nullopt;
  return audit::record::LogHead{static_cast<std::uint64_t>(number_at(head, "seq").value_or(0)),
                                text_at(head, "hash")};
}

std::optional<std::int64_t> instant_at(const json& value, const char* key) {
  auto time = core::UtcTimestamp::parse(text_at(value, key));
  if (!time) return std::nullopt;
  return time->instant().time_since_epoch().count();
}

}  // namespace league::tools::auditor
