#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/audit/facts/reading.h"
#include "tools/audit/facts/record.h"
#include "tools/audit/inspect/audit_text.h"
#include "tools/audit/inspect/explanation.h"
#include "tools/audit/rules/evidence.h"

namespace league::tools::auditor {
namespace {

using audit::log::LogEntry;
using audit::log::LoggedMessage;
using nlohmann::json;

/// A game call that failed, with what the peer's log says about it.
struct FailedCall {
  std::string caller;
  std::string peer;
  std::string type;
  std::string code;
  std::string fault;
  std::int64_t waited_us = 0;
  bool reached = false;  ///< the peer's log has the call
  std::optional<std::int64_t> answered_after_us;  ///< by the peer's own clock
  core::UtcTimestamp time;  ///< when it had failed
  std::optional<ReportedClock> proof = {};
  bool refused = false;  ///< the answer is a refusal, not an invalid answer
};

/// The id of the JSON-RPC frame, to find the answer to a call.
std::string frame_id(const LogEntry& entry) {
  const json id = field_at(json::parse(entry.raw, nullptr, false), "id");
  return id.is_null() ? std::string() : id.dump();
}

bool says_no(const LogEntry& answer) {
  return answer.message_type == "LEAGUE_ERROR" || answer.message_type == "GAME_ERROR" ||
         field_at(json::parse(answer.raw, nullptr, false), "error").is_object();
}

std::string shown_name(const LogEntry& entry) {
  return entry.message_type.empty() ? "a request" : entry.message_type;
}

/// The clock proofs in the report, by player and call, in the order of the time-outs.
using ClockProofs = std::map<std::pair<std::string, std::string>, std::vector<ReportedClock>>;

/// The entries of `details.failures` in the report that have this code.
std::vector<ReportedFailure> reported_failures(const std::vector<LoggedMessage>& exchanges,
                                               const std::string& code) {
  for (const LoggedMessage& exchange : exchanges) {
    const LogEntry& entry = exchange.main();
    if (entry.message_type != "MATCH_RESULT_REPORT" || entry.kind != "request") continue;
    auto found = failures_in(field_at(message_of(entry), "result"));
    if (found.empty()) continue;
    std::erase_if(found, [&](const ReportedFailure& one) { return one.code != code; });
    return found;
  }
  return {};
}

ClockProofs proofs_in(const std::vector<LoggedMessage>& exchanges) {
  ClockProofs proofs;
  for (const ReportedFailure& failure : reported_failures(exchanges, "E001"))
    if (failure.clock) proofs[{"player:" + failure.player, failure.call}].push_back(*failure.clock);
  return proofs;
}

class FailureSearch {
 public:
  explicit FailureSearch(const std::vector<LoggedMessage>& exchanges) : exchanges_(exchanges) {}

  [[nodiscard]] std::vector<FailedCall> run() const {
    std::vector<FailedCall> failed;
    ClockProofs proofs = proofs_in(exchanges_);
    for (const LoggedMessage& exchange : exchanges_) {
      const LogEntry& entry = exchange.main();
      if (entry.verdict.empty() || entry.kind == "request" || entry.outbound) continue;
      const LoggedMessage* call = call_of(entry);
      FailedCall one{.caller = entry.agent,
                     .peer = entry.peer,
                     .type = call != nullptr ? call->main().message_type : "a call",
                     .code = entry.verdict,
                     .fault = entry.fault,
                     .waited_us = entry.elapsed_us.value_or(0),
                     .reached = call != nullptr && call->received.has_value(),
                     .answered_after_us = {},
                     .time = entry.time,
                     .refused = says_no(entry)};
      if (call != nullptr) note_answer(*call, one);
      if (auto& known = proofs[{one.peer, one.type}]; one.code == "E001" && !known.empty()) {
        one.proof = known.front();
        known.erase(known.begin());
      }
      failed.push_back(std::move(one));
    }
    return failed;
  }

 private:
  /// The call that this answer belongs to, found by the time at which the wait began.
  [[nodiscard]] const LoggedMessage* call_of(const LogEntry& answer) const {
    const LoggedMessage* best = nullptr;
    std::uint64_t best_distance = UINT64_MAX;
    for (const LoggedMessage& exchange : exchanges_) {
      if (!exchange.sent || exchange.sent->kind != "request" ||
          exchange.sent->agent != answer.agent || exchange.sent->peer != answer.peer)
        continue;
      const std::uint64_t distance = answer.ns_from_request(exchange.sent->mono_ns);
      if (distance >= best_distance) continue;
      best = &exchange;
      best_distance = distance;
    }
    return best;
  }

  /// Adds what the peer's own log says about its answer.
  void note_answer(const LoggedMessage& call, FailedCall& failed) const {
    std::string id = frame_id(call.main());
    for (const LoggedMessage& exchange : exchanges_) {
      if (!exchange.sent || exchange.sent->kind != "reply" || exchange.sent->agent != failed.peer)
        continue;
      if (frame_id(*exchange.sent) == id) failed.answered_after_us = exchange.sent->elapsed_us;
    }
  }

  const std::vector<LoggedMessage>& exchanges_;
};

std::string what_happened(const FailedCall& call) {
  if (call.code == "E001") return "did not answer " + call.type + " in time";
  if (call.code == "E009") return "could not be reached for " + call.type;
  if (call.code == "E037") return "declined to play";
  if (call.refused) return "refused " + call.type;
  return "answered " + call.type + " wrongly";
}

/// Whose fault a missing answer is, as far as both logs show it.
std::string who_kept_waiting(const FailedCall& call, std::optional<core::UtcTimestamp> log_end) {
  std::string waited = duration_text(call.waited_us);
  if (!log_end)
    return call.peer + "'s, according only to " + call.caller + ", which waited " + waited;
  if (!call.reached) {
    return "not clear: " + call.peer +
           "'s own log does not have the call, so it was lost in transit, "
           "or the program did not read it";
  }
  if (!call.answered_after_us)
    return call.peer + "'s: its own log has the call, and no answer to it";
  std::string after = duration_text(*call.answered_after_us);
  if (*call.answered_after_us >= call.waited_us) {
    return call.peer + "'s: by its own log it got the call and answered after " + after + "; " +
           call.caller + " waited " + waited;
  }
  return "not " + call.peer + "'s, by its own log: it answered after " + after + ", but " +
         call.caller + " got nothing within " + waited + ". The network or " + call.caller +
         " was slow";
}

std::string whose_fault(const FailedCall& call, std::optional<core::UtcTimestamp> log_end) {
  if (call.code == "E001" && call.proof) {
    std::string numbers = "its own delay was " + duration_text(call.proof->scheduling_delay_us) +
                          ", its slowest call to itself took " +
                          duration_text(call.proof->canary_us);
    if (call.proof->seat_delay_us > 0)
      numbers += ", and the manager kept the call at the seat for " +
                 duration_text(call.proof->seat_delay_us);
    if (call.proof->is_void)
      return call.caller + "'s, according to its own report: it was late itself (" + numbers +
             "), so this does not count";
    return who_kept_waiting(call, log_end) + ". " + call.caller + " says that it was on time (" +
           numbers + ")";
  }
  if (call.code == "E001") return who_kept_waiting(call, log_end);
  if (call.code == "E009") {
    if (call.reached)
      return call.peer +
             "'s: its own log has the call; then the connection was lost, as after a "
             "crash";
    if (log_end && *log_end < call.time) {
      return call.peer + "'s: its own log ends at " + time_of_day(*log_end) +
             ", so its program had crashed or was stopped (" + call.fault + ")";
    }
    return call.peer + "'s: it did not accept the connection, or closed it (" + call.fault + ")";
  }
  if (call.code == "E037") return call.peer + "'s: it answered accept: false";
  if (call.refused) {
    return call.peer == "league_manager"
               ? call.caller + "'s, according to the manager: " + call.fault
               : call.peer + "'s, unless the call was wrong: it says " + call.fault;
  }
  return call.peer + "'s: " + call.fault +
         (call.answered_after_us ? ". Its own log has the same answer" : "");
}

bool is_void(const FailedCall& call) { return call.proof && call.proof->is_void; }

}  // namespace

std::vector<std::string> explain_failures(const std::vector<LoggedMessage>& exchanges,
                                          const LogEnds& log_ends) {
  struct Group {
    FailedCall first;
    int times = 0;
  };
  std::vector<Group> groups;
  for (FailedCall& call : FailureSearch(exchanges).run()) {
    auto same = std::ranges::find_if(groups, [&](const Group& group) {
      return group.first.peer == call.peer && group.first.type == call.type &&
             group.first.code == call.code && group.first.reached == call.reached &&
             is_void(group.first) == is_void(call);
    });
    if (same == groups.end()) {
      groups.push_back({std::move(call), 1});
    } else {
      ++same->times;
    }
  }
  std::vector<std::string> sentences;
  for (const ReportedFailure& failure : reported_failures(exchanges, "E038")) {
    std::string player = "player:" + failure.player;
    sentences.push_back(player + " was not asked (E038). The fault is " + player +
                        "'s: it was suspended for earlier losses, and did not answer a ping");
  }
  for (const Group& group : groups) {
    const FailedCall& call = group.first;
    std::string times = group.times > 1 ? ", " + std::to_string(group.times) + " times" : "";
    auto log_end_of_peer = log_ends.find(call.peer);
    auto log_end =
        log_end_of_peer == log_ends.end() ? std::nullopt : std::optional(log_end_of_peer->second);
    std::string text = call.peer + " " + what_happened(call) + " (" + call.code + ")" + times +
                       ". The fault is " + whose_fault(call, log_end);
    if (call.type == "GAME_ERROR" || call.type == "GAME_OVER")
      text += ". (That was a notification: the result does not depend on it.)";
    sentences.push_back(std::move(text));
  }
  for (const LoggedMessage& exchange : exchanges) {
    const LogEntry& entry = exchange.main();
    if (HearsayFilter().is_hearsay(entry) && !entry.verdict.empty()) {
      sentences.push_back(
          entry.agent + " refused " + shown_name(entry) + " (" + entry.verdict +
          "), which somebody sent in the name of " + entry.peer +
          " without its token. The fault is nobody's of this match: " + entry.fault);
    } else if (entry.kind == "request" && !entry.outbound && !entry.verdict.empty()) {
      sentences.push_back(entry.agent + " refused " + shown_name(entry) + " of " + entry.peer +
                          " (" + entry.verdict + "). The fault is " + entry.peer +
                          "'s, according to " + entry.agent + ": " + entry.fault);
    }
  }
  return sentences;
}

}  // namespace league::tools::auditor
