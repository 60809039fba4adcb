#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/audit/log/conversation.h"

namespace league::tools::auditor {

/// One message of a conversation, or a failure instead of one, ready to be shown. Texts are as in
/// the logs; code that shows them has to escape them.
struct ExplainedStep {
  core::UtcTimestamp time;  ///< when it was sent, by the sender's wall clock, or else received
  std::int64_t mono_us = 0;  ///< the same on the monotonic clock of `clock`, since its first record
  std::string clock;  ///< the agent whose clocks these are
  std::optional<std::int64_t> way_us;  ///< transit time, from one wall clock to the other; may be
                                       ///< negative
  std::string from;
  std::string to;
  std::string type;  ///< message type, `(reply)`, `(no answer)`
  std::string what;  ///< summary of the body
  std::string way;  ///< method and place of the message: see way_of
  std::optional<std::int64_t> took_us;  ///< of an answer: since the call
  int http_status = 0;
  std::string verdict;  ///< `E004`, and what was wrong
  std::string fault;
  std::vector<std::string> leniencies;
  std::string only_in;  ///< the agent whose log alone has it although the other side keeps one too
  bool is_failure = false;
  std::string raw;
  std::vector<std::string> places;  ///< file:line of each record
};

/// The explanation of one conversation. Sentences are for people.
struct Explanation {
  std::string conversation;
  std::string match;
  std::vector<std::string> parties;  ///< manager, referees, players, in this order
  std::vector<ExplainedStep> steps;
  std::vector<std::string> outcome;
  std::string fairness;  ///< of a reported match: `both`, `one`, `none`, `claimed`, `disputed`
  std::vector<std::string> sealed;  ///< what the sealed logs say of the result
  std::vector<std::string> causes;  ///< what failed, and whose fault it was
  std::vector<std::string> retries;
  std::vector<std::string> leniencies;
  std::vector<std::string> one_sided;
  std::vector<std::string> clocks;
};

/// The agents that keep a log at all, and when each log ends.
using LogEnds = std::map<std::string, core::UtcTimestamp>;

/// Explains the messages of one conversation.
[[nodiscard]] Explanation explain(const std::string& conversation,
                                  const std::vector<audit::log::LoggedMessage>& exchanges,
                                  const LogEnds& log_ends);

/// The differences between the agents' clocks, and whether one was set during the conversation,
/// computed from the shortest transit times in both directions.
[[nodiscard]] std::vector<std::string> explain_clocks(
    const std::vector<audit::log::LoggedMessage>& exchanges);

/// The failures between the referee and each player, and whose fault each was according to all
/// logs.
[[nodiscard]] std::vector<std::string> explain_failures(
    const std::vector<audit::log::LoggedMessage>& exchanges, const LogEnds& log_ends);

/// The named sections of an explanation that are not empty, in the order in which they are shown.
[[nodiscard]] std::vector<std::pair<std::string, const std::vector<std::string>*>> sections_of(
    const Explanation& explanation);

}  // namespace league::tools::auditor
