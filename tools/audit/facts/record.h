#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/audit/log/log_reader.h"
#include "common/audit/record/log_chain.h"

namespace league::tools::auditor {
/// One record as its line has it, decoded once. What it lacks is empty, or 0. Source:
/// docs/audit.md, "Records".
struct Record {
  enum class Kind { kRequest, kReply, kFailure };

  Kind kind = Kind::kRequest;
  bool is_out = false;  ///< the agent that wrote the record sent the message
  int version = 0;  ///< of the format, according to the last header
  std::int64_t time_us = 0;
  std::int64_t mono_ns = 0;
  std::int64_t http_status = 0;
  std::int64_t elapsed_us = 0;
  std::optional<std::int64_t> call;
  std::string peer;
  std::string said_by;
  std::string via;
  std::string conversation_id;
  std::string message_type;
  std::string match_id;
  std::string fault;
  std::string raw;  ///< perhaps only what differs from the body of `reference`
  std::string raw_base64;
  std::optional<std::uint64_t> body;  ///< the first half of the digest of the bytes on the wire
  std::optional<std::int64_t> reference;  ///< the record to which `raw` refers
  std::optional<std::pair<std::int64_t, std::int64_t>> keep;  ///< how much of that one's body
  bool has_verdict = false;
  bool has_leniencies = false;
  bool has_unchecked_token = false;  ///< by its leniencies
  bool has_match = false;
  bool is_broadcast = false;
  bool is_cut = false;  ///< `raw` is not the whole body

  [[nodiscard]] bool is_request() const { return kind == Kind::kRequest; }
  [[nodiscard]] bool is_reply() const { return kind == Kind::kReply; }
  /// Whether it is an inbound request that does not say by itself who sent it, although its sender
  /// has a credential.
  [[nodiscard]] bool is_hearsay() const;
  /// Whether it is of a delivery that was taken, and whose token, credential or signature was
  /// checked: from version 3 of the format on, one field says so.
  [[nodiscard]] bool is_checked_delivery() const;
};

/// Reads a record. Nothing if a key is missing, or is not of the type that docs/audit.md names.
[[nodiscard]] std::optional<Record> read_record(nlohmann::json line, int version);

/// Whether the sender that a message names is the agent whose credential was checked, if the record
/// says who that is.
[[nodiscard]] bool is_own_word(const Record& record, const nlohmann::json& message);
/// The match that a message names; otherwise `noted`, the match of its record.
[[nodiscard]] std::string match_in(const std::string& noted, const nlohmann::json& message);
/// The type that a message names; otherwise the type that its record names.
[[nodiscard]] std::string type_in(const Record& record, const nlohmann::json& message);
/// The end of a log or of a journal that a message tells at `key`; nothing if it tells none.
[[nodiscard]] std::optional<audit::record::LogHead> head_at(const nlohmann::json& message,
                                                            const char* key);
/// The head of the manager's log that a broadcast of the manager contains.
[[nodiscard]] std::optional<audit::record::LogHead> head_told_in(const nlohmann::json& message);

// Who said what stands in a log. A name in a message or a conversation id never makes anybody
// responsible: only a checked token, credential or signature does. Source: docs/audit.md, "Who
// said it".

/// Whether `entry` is a message of `agent`, by what its log has checked; in an own log, everything
/// that was sent. In logs before version 3, which do not say it: whether it names the agent.
[[nodiscard]] bool is_said_by(const audit::log::LogEntry& entry, const std::string& agent);

/// Empty if `entry`, a message from `agent` or a missing answer of it, counts: it is proven, and in
/// the manager's log or the agent's own. Otherwise whose word it is (`REF01`, `league_manager`): it
/// is shown, and nobody is graded by it. Always empty in logs before version 3.
[[nodiscard]] std::string according_to(const audit::log::LogEntry& entry, const std::string& agent);

/// Finds the requests that somebody sent in the name of an agent without proof, and the answers to
/// them. Takes the records of each file in their order.
class HearsayFilter {
 public:
  [[nodiscard]] bool is_hearsay(const audit::log::LogEntry& entry);

 private:
  std::set<std::pair<std::string, std::uint64_t>> calls_;  ///< open ones, by file and number
};

}  // namespace league::tools::auditor
