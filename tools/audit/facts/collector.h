#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "tools/audit/facts/facts.h"
#include "tools/audit/facts/open_calls.h"
#include "tools/audit/facts/record.h"

namespace league::tools::auditor {

/// Extracts the facts from the records of one log. A statement counts only in the message type that
/// is meant for it, from the agent that is entitled to it, in a delivery whose token was checked;
/// everything else is ignored. Source: protocol §8, docs/audit.md, "Evidence". Not thread-safe;
/// `contents` must outlive it.
class EvidenceCollector {
 public:
  explicit EvidenceCollector(LogContents& contents) : contents_(contents) {}

  /// Begins the next record: determines its league and its process.
  void begin_record(const audit::log::RecordLine& line, const LogPosition& place,
                    std::int64_t time_us);
  /// Takes the facts of the record. `body` and `message` are null if they could not be read.
  void take(const Record& record, const nlohmann::json& body, const nlohmann::json& message);
  /// Takes the facts of a copy of the manager's broadcast after another copy was taken in full.
  void take_received_head(const audit::record::LogHead& head) {
    facts_->received_heads.push_back({head, place_});
  }

  /// Notes an answer whose request is not in the log, or a second answer to one call. For every
  /// record, also for those whose content is not taken.
  void note_stray(const Record& record);
  /// Whether the reply `record` answers a request that asks for a message of `type`.
  [[nodiscard]] bool asks_for(const Record& record, const std::string& type) const;

  /// The facts of the current record's league.
  [[nodiscard]] LogFacts& facts() { return *facts_; }

 private:
  void enter(const audit::log::LeagueIdentity& league);
  void take_request(const Record& record, const nlohmann::json& message);
  void take_at_manager(const nlohmann::json& message, const std::string& type);
  void take_from_manager(const nlohmann::json& message, const std::string& type);
  void take_answer(const Record& record, const nlohmann::json& body, const nlohmann::json& message,
                   const OpenCall& call);
  void take_answer_of_manager(const nlohmann::json& body, const nlohmann::json& message,
                              const std::string& type, const OpenCall& call);
  void take_registration(const nlohmann::json& message, const std::string& type,
                         const OpenCall& call);
  [[nodiscard]] AcceptedReport report_in(const OpenCall& call) const;
  void take_question(const Record& record, const nlohmann::json& body,
                     const nlohmann::json& message);
  void take_heads(const nlohmann::json& message, const std::string& type);
  void describe(const nlohmann::json& matches, const nlohmann::json& round);
  void assign(const nlohmann::json& matches);
  [[nodiscard]] std::size_t open_game_call(const Record& record, const nlohmann::json& message);
  void answer(GameCall& call, const Record& record, const nlohmann::json& message);
  void take_posted_answer(const Record& record, const nlohmann::json& message,
                          const std::string& type);
  void take_event(const Record& record, const nlohmann::json& body, const nlohmann::json& message,
                  const OpenCall* call);

  [[nodiscard]] MatchConversation& conversation_of(const std::string& conversation,
                                                   const std::string& match_id, bool with_manager);

  LogContents& contents_;
  LogFacts* facts_ = nullptr;
  OpenCalls open_;
  /// The calls of this process by number, and the first half of the digest of each answer; 0: none.
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
  LogPosition place_;
  std::string agent_;
  int version_ = 2;
  std::size_t run_ = 0;
  std::optional<std::size_t> final_run_;  ///< the process whose final table was taken last
  std::int64_t time_us_ = 0;
};

}  // namespace league::tools::auditor
