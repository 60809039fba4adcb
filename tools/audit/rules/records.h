#pragma once

#include <deque>
#include <string>
#include <utility>

#include "common/audit/log/chain_verifier.h"
#include "common/envelope/message_schemas.h"
#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/known_broadcasts.h"

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
  void complete(Record& record);
  void take_body(const Record& record);
  void take_broadcast(const Record& record);
  [[nodiscard]] bool is_from_manager(const Record& record, const nlohmann::json& message) const;
  void check_names(const Record& record, const std::string& sender);
  void check_conversation(const Record& record, const std::string& conversation);
  void note_transfer(const Record& record);
  void check_secrets(const nlohmann::json& value, bool secret);
  void check_message(const Record& record, const nlohmann::json& message);
  void check_schema(const Record& record, const std::string& type, const nlohmann::json& message);

  const envelope::MessageSchemas& schemas_;
  KnownBroadcasts& known_;
  LogContents& contents_;
  EvidenceCollector evidence_;
  core::Sha256 sha256_;
  LogPosition place_;
  std::string agent_;
  std::uint64_t seq_ = 0;
  using Bodies = std::deque<std::pair<std::uint64_t, std::string>>;  ///< with their `seq`
  Bodies broadcasts_;
  Bodies answers_;
};

}  // namespace league::tools::auditor
