#pragma once

#include <deque>
#include <string>
#include <utility>

#include "common/audit/log/chain_verifier.h"
#include "common/envelope/message_schemas.h"
#include "tools/audit/evidence/verify_evidence.h"
#include "tools/audit/evidence/verify_known.h"

namespace league::tools::auditor {

/// Checks each record of one log, and collects facts for the checks that need all logs. Not
/// thread-safe; `schemas`, `known` (shared by all logs) and `contents` outlive it.
class RecordChecker {
 public:
  RecordChecker(const envelope::MessageSchemas& schemas, KnownBroadcasts& known,
                LogContents& contents)
      : schemas_(schemas), known_(known), contents_(contents), evidence_(contents) {}

  void take(const audit::log::RecordLine& line);

 private:
  void fault(const char* rule, std::string text);
  [[nodiscard]] bool check_form(const nlohmann::json& record);
  [[nodiscard]] std::string body_of(const nlohmann::json& record);
  void take_body(const nlohmann::json& record, const std::string& raw);
  void take_broadcast(const nlohmann::json& record, const std::string& raw);
  [[nodiscard]] bool is_from_manager(const nlohmann::json& record,
                                     const nlohmann::json& message) const;
  void check_names(const nlohmann::json& record, const std::string& sender);
  void check_conversation(const nlohmann::json& record, const std::string& conversation);
  void note_transfer(const nlohmann::json& record, const std::string& raw);
  void check_secrets(const nlohmann::json& value, bool secret);
  void check_message(const nlohmann::json& record, const nlohmann::json& message);
  void check_schema(const nlohmann::json& record, const std::string& type,
                    const nlohmann::json& message);

  const envelope::MessageSchemas& schemas_;
  KnownBroadcasts& known_;
  LogContents& contents_;
  EvidenceCollector evidence_;
  core::Sha256 sha256_;
  LogPosition place_;
  std::string agent_;
  int version_ = 2;
  std::uint64_t seq_ = 0;
  std::int64_t time_us_ = 0;
  using Bodies = std::deque<std::pair<std::uint64_t, std::string>>;  ///< with their `seq`
  Bodies broadcasts_;
  Bodies answers_;
};

}  // namespace league::tools::auditor
