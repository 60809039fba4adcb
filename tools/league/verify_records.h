#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "common/audit/chain_verifier.h"
#include "common/envelope/message_schemas.h"
#include "tools/league/verify_facts.h"
#include "tools/league/verify_known.h"

namespace league::tools {

/// Checks the records of one log one by one, and gathers what only all logs together can answer.
/// Not thread-safe; `schemas`, `known` (shared by all logs) and `facts` outlive it.
class RecordChecker {
 public:
  RecordChecker(const envelope::MessageSchemas& schemas, KnownBroadcasts& known, LogFacts& facts)
      : schemas_(schemas), known_(known), facts_(facts) {}

  void take(const audit::RecordLine& line);

 private:
  void fault(const char* rule, std::string text);
  [[nodiscard]] std::string body_of(const nlohmann::json& record);
  void take_body(const nlohmann::json& record, const std::string& raw);
  void take_broadcast(const nlohmann::json& record, const std::string& raw);
  void check_names(const nlohmann::json& record, const std::string& sender,
                   const std::string& conversation);
  void note_transfer(const nlohmann::json& record);
  void check_secrets(const nlohmann::json& value, bool secret);
  void check_message(const nlohmann::json& record, const nlohmann::json& message);
  void check_schema(const std::string& type, const nlohmann::json& message);
  void note_message(const nlohmann::json& record, const nlohmann::json& message);
  void note_matches(const nlohmann::json& matches);
  void note_for_player(const nlohmann::json& record, const nlohmann::json& message);
  void note_for_manager(const nlohmann::json& record, const nlohmann::json& body,
                        const nlohmann::json& message);
  void note_for_referee(const nlohmann::json& record, const nlohmann::json& body,
                        const nlohmann::json& message);

  const envelope::MessageSchemas& schemas_;
  KnownBroadcasts& known_;
  LogFacts& facts_;
  core::Sha256 sha256_;
  Place place_;
  std::string agent_;
  std::uint64_t seq_ = 0;
  std::deque<std::pair<std::uint64_t, std::string>> broadcasts_;
  std::map<std::string, std::pair<nlohmann::json, Place>> open_reports_;  ///< by conversation
  std::map<std::string, std::string> open_registrations_;  ///< conversation to public key
};

}  // namespace league::tools
