#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/audit/record/record.h"
#include "league_manager/core/report_rules.h"
#include "league_manager/events/events.h"

namespace league::league_manager::service {

/// The record of each agent for its own report: its faults, its answer times, and the leniencies
/// applied to it. Failures that cost a match come from the events, including those of an old
/// journal; everything else is from this run of the manager. Uses a bounded amount of memory per
/// agent. Thread-safe. Source: protocol 4.28.
class AgentRecords {
 public:
  /// Counts from `now` on.
  explicit AgentRecords(core::UtcTimestamp now) : since_(now) {}

  /// A message that the manager sent or received: answers to its own calls, and requests that the
  /// agent is proven to have sent (`said_by`). A message that another sender sends in an agent's
  /// name never counts against it.
  void on_record(const audit::record::Record& record);
  void on_events(const events::Events& events);
  /// An accepted report of `referee` of a match between the players of `pairing`, and its
  /// consequences. Ignores what it says about anybody else. What costs no match is only the
  /// referee's word, and is shown as such.
  void on_report(events::AgentRef referee, const MatchReport& report, const Pairing& pairing,
                 const events::Events& events, core::UtcTimestamp now);

  /// The fields of the agent's report that are known here.
  [[nodiscard]] nlohmann::json report_of(events::AgentRef agent) const;

 private:
  struct Fault {
    core::UtcTimestamp at;
    std::string match_id;  ///< empty: outside a match
    std::string call;  ///< message type; may be empty
    std::string code;  ///< `E004`
    std::string text;
    int attempts = 1;
    bool lost_match = false;
    std::string according_to = {};  ///< the referee whose word it is; empty: it is the manager's
  };
  struct Figures {
    std::deque<Fault> faults;  ///< the last ones
    std::uint64_t total_faults = 0;
    std::vector<std::int64_t> elapsed_us;  ///< of the last answers; a ring buffer
    std::uint64_t answers = 0;
    using Counts = std::map<std::string, std::uint64_t, std::less<>>;
    Counts leniencies;
    std::map<std::string, Counts> told_leniencies;  ///< by the referee whose word they are
  };
  static void add(Figures& figures, Fault fault);
  static void add(Figures& figures, std::int64_t elapsed_us);
  static nlohmann::json shown(const Fault& fault);

  const core::UtcTimestamp since_;
  mutable std::mutex mutex_;
  std::map<events::AgentRef, Figures> agents_;
};

}  // namespace league::league_manager::service
