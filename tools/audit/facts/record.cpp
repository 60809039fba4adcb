#include <algorithm>
#include <charconv>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/core/timestamp.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/facts/record.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

constexpr int kFirstThatSays = 3;  ///< the version of the format that says who said what

bool is_whole_number(const json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX;
}

bool is_pair(const json& value) {
  return value.is_array() && value.size() == 2 && std::ranges::all_of(value, is_whole_number);
}

bool is_list_of_texts(const json& value) {
  return value.is_array() &&
         std::ranges::all_of(value, [](const json& one) { return one.is_string(); });
}

/// Takes the keys out of a line, and remembers whether one had another type.
class LineReader {
 public:
  explicit LineReader(json& line) : line_(line) {}

  /// The value at `key`; null if there is none.
  template <typename Right>
  json* find(const char* key, Right is_right) {
    auto found = line_.find(key);
    if (found == line_.end()) return nullptr;
    if (std::invoke(is_right, *found)) return &*found;
    is_good_ = false;
    return nullptr;
  }
  std::string text(const char* key) {
    json* found = find(key, &json::is_string);
    return found == nullptr ? std::string() : std::move(found->get_ref<std::string&>());
  }
  std::optional<std::int64_t> number(const char* key) {
    const json* found = find(key, is_whole_number);
    return found == nullptr ? std::nullopt : std::optional(found->get<std::int64_t>());
  }
  [[nodiscard]] bool is_good() const { return is_good_; }

 private:
  json& line_;
  bool is_good_ = true;
};

/// Nothing for a text that is no digest.
std::optional<std::uint64_t> half_of(const std::string& digest) {
  if (digest.size() != 64) return std::nullopt;
  std::uint64_t half = 0;
  std::from_chars(digest.data(), digest.data() + 16, half, 16);
  return half;
}

bool is_registration(const std::string& type) { return type.ends_with("REGISTER_REQUEST"); }

}  // namespace

std::optional<Record> read_record(json line, int version) {
  LineReader in(line);
  const std::string dir = in.text("dir"), kind = in.text("kind");
  const auto time = core::UtcTimestamp::parse(in.text("time"));
  Record read{.kind = kind == "request" ? Record::Kind::kRequest
                      : kind == "reply" ? Record::Kind::kReply
                                        : Record::Kind::kFailure,
              .is_out = dir == "out",
              .version = version,
              .time_us = time ? time->instant().time_since_epoch().count() : 0,
              .mono_ns = in.number("mono_ns").value_or(0),
              .http_status = in.number("http_status").value_or(0),
              .elapsed_us = in.number("elapsed_us").value_or(0),
              .call = in.number("call"),
              .peer = in.text("peer"),
              .said_by = in.text("said_by"),
              .via = text_at(line, "via"),
              .conversation_id = in.text("conversation_id"),
              .message_type = in.text("message_type"),
              .match_id = in.text("match_id"),
              .fault = in.text("fault"),
              .raw = in.text("raw"),
              .raw_base64 = in.text("raw_base64"),
              .body = half_of(in.text("raw_sha256")),
              .reference = in.number("raw_ref"),
              .keep = {},
              .has_verdict = in.find("verdict", &json::is_string) != nullptr,
              .has_match = line.contains("match_id"),
              .is_broadcast = in.find("broadcast", &json::is_boolean) != nullptr,
              .is_cut = in.number("raw_bytes").has_value()};
  if (const json* keep = in.find("raw_keep", is_pair))
    read.keep = keep->get<std::pair<std::int64_t, std::int64_t>>();
  if (const json* names = in.find("leniencies", is_list_of_texts)) {
    read.has_leniencies = true;
    read.has_unchecked_token = std::ranges::any_of(*names, [](const json& name) {
      return name == "missing_call_token" || name == "foreign_call_token";
    });
  }
  in.text("transport");
  in.find("context", &json::is_object);
  const bool has_kind = kind == "request" || kind == "reply" || kind == "failure";
  const bool is_good = in.is_good() && time && has_kind && (dir == "in" || dir == "out");
  return is_good ? std::optional(std::move(read)) : std::nullopt;
}

bool Record::is_hearsay() const {
  return version >= kFirstThatSays && !is_out && is_request() && !is_registration(message_type) &&
         said_by.empty();
}

bool Record::is_checked_delivery() const {
  if (has_verdict || is_hearsay()) return false;
  return is_out || !said_by.empty() || !has_unchecked_token;
}

bool is_own_word(const Record& record, const json& message) {
  const std::string& sender = text_at(message, "sender");
  return record.is_out || record.said_by.empty() || sender.empty() || sender == record.said_by ||
         is_registration(record.message_type);  // its sender has no id yet
}

std::string match_in(const std::string& noted, const json& message) {
  const std::string& named = text_at(message, "match_id");
  return named.empty() ? noted : named;
}

std::string type_in(const Record& record, const json& message) {
  const std::string& named = text_at(message, "message_type");
  return named.empty() ? record.message_type : named;
}

std::optional<audit::record::LogHead> head_at(const json& message, const char* key) {
  const json& head = field_at(message, key);
  if (!head.is_object()) return std::nullopt;
  return audit::record::LogHead{static_cast<std::uint64_t>(number_at(head, "seq").value_or(0)),
                                text_at(head, "hash")};
}

std::optional<audit::record::LogHead> head_told_in(const json& message) {
  return text_at(message, "sender") == "league_manager" ? head_at(message, "log_head")
                                                        : std::nullopt;
}

namespace {

using audit::log::kFirstVersionWithSpeakers;
using audit::log::LogEntry;

bool is_agent(const std::string& name) {
  return name.starts_with("player:") || name.starts_with("referee:") ||
         name.starts_with("league_manager");
}

}  // namespace

bool is_said_by(const LogEntry& entry, const std::string& agent) {
  if (entry.outbound) return entry.agent == agent;
  return (entry.version < kFirstVersionWithSpeakers ? entry.peer : entry.said_by) == agent;
}

std::string according_to(const LogEntry& entry, const std::string& agent) {
  if (entry.version < kFirstVersionWithSpeakers) return {};
  const bool is_own_or_managers = entry.agent == "league_manager" || entry.agent == agent;
  if (is_own_or_managers && is_said_by(entry, agent)) return {};
  return id_of(entry.agent);
}

bool HearsayFilter::is_hearsay(const LogEntry& entry) {
  if (entry.version < kFirstVersionWithSpeakers) return false;
  const std::pair call(entry.file, entry.call);
  if (entry.kind != "request") return entry.outbound && calls_.erase(call) > 0;
  const bool is_claim = !entry.outbound && entry.said_by.empty() && is_agent(entry.peer);
  if (is_claim && entry.call != 0) calls_.insert(call);
  return is_claim;
}

}  // namespace league::tools::auditor
