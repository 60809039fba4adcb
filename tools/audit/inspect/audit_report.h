#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/audit/log/conversation.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {

/// A fault in a message from the player, or a missing message.
struct PlayerFault {
  core::UtcTimestamp time;
  std::string match_id;
  std::string conversation_id;
  std::string message_type;  ///< the type of the message; of a failure the unanswered call
  std::string code;  ///< `E004`
  std::string text;
  std::string according_to = {};  ///< `REF01`: only its word, so nobody is graded by it; or empty
};

/// A fault that occurred once or several times; numbers in its text may differ.
struct DistinctFault {
  PlayerFault first;
  std::uint64_t count = 0;
};

/// A match that the player lost because it broke a rule or did not answer.
struct TechnicalLoss {
  core::UtcTimestamp time;
  std::string match_id;
  std::string conversation_id;
  std::string reason;
};

/// One answer of the player and how long it took.
struct TimedAnswer {
  std::int64_t elapsed_us = 0;
  std::string message_type;
  std::string match_id;
};

/// A state that the league manager gave the player, from its journal.
struct StateEntry {
  core::UtcTimestamp time;
  std::string state;
  std::string reason;
  std::string detail;  ///< for people; may be empty
};

/// Everything that `league audit log` says about a player or a referee.
struct AgentReport {
  std::string sender;  ///< `player:P01` or `referee:REF01`
  std::uint64_t calls = 0;  ///< calls to the agent
  std::uint64_t answers = 0;  ///< its answers
  std::uint64_t requests = 0;  ///< its own requests
  std::vector<PlayerFault> faults;
  std::vector<TechnicalLoss> losses;
  std::vector<StateEntry> states;
  std::map<std::string, std::uint64_t> leniencies;  ///< that are proven
  /// Others, by the agent whose word it is and their name.
  std::map<std::pair<std::string, std::string>, std::uint64_t> told_leniencies;
  std::uint64_t hearsay = 0;  ///< messages in its name, left out: nobody proved their sender
  std::uint64_t searches = 0;  ///< refusals that only showed its dialect
  std::vector<TimedAnswer> slowest;  ///< at most five, the slowest first

  [[nodiscard]] bool is_player() const { return sender.starts_with("player:"); }
  [[nodiscard]] std::string id() const { return sender.substr(sender.find(':') + 1); }
};

/// Summarises `exchanges`, the messages between `sender` and the others.
[[nodiscard]] AgentReport report_on(const std::string& sender,
                                    const std::vector<audit::log::LoggedMessage>& exchanges);

/// Each different fault once, in the order of first occurrence: the first one is often the cause of
/// the others.
[[nodiscard]] std::vector<DistinctFault> distinct_faults(const AgentReport& report);

/// Adds what only the journal in `data` knows: the player's states, the causes of its technical
/// losses, and those that the manager decided itself. Fails if the journal cannot be read.
[[nodiscard]] core::Result<void> add_journal(const std::filesystem::path& data,
                                             AgentReport& report);

/// For people: the messages in order, then what was wrong, then the figures.
void print_report(const AgentReport& report,
                  const std::vector<audit::log::LoggedMessage>& exchanges, const Paint& paint,
                  std::ostream& out);

/// For machines: one JSON object with the content that print_report prints.
[[nodiscard]] nlohmann::json to_json(const AgentReport& report,
                                     const std::vector<audit::log::LoggedMessage>& exchanges);

}  // namespace league::tools::auditor
