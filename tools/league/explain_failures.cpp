#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/league/audit_text.h"
#include "tools/league/explanation.h"

namespace league::tools {
namespace {

using audit::Exchange;
using audit::LogEntry;
using nlohmann::json;

/// A call of a game that did not bring what it asked for, with what the called one's log says.
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
  bool refused = false;  ///< the answer says no, instead of being wrong itself
};

/// The id of the JSON-RPC frame, to find the answer to a call.
std::string frame_id(const LogEntry& entry) {
  json frame = json::parse(entry.raw, nullptr, false);
  return frame.is_object() && frame.contains("id") ? frame["id"].dump() : std::string();
}

bool says_no(const LogEntry& answer) {
  json frame = json::parse(answer.raw, nullptr, false);
  return answer.message_type == "LEAGUE_ERROR" || answer.message_type == "GAME_ERROR" ||
         (frame.is_object() && frame.contains("error") && frame["error"].is_object());
}

std::string shown_name(const LogEntry& entry) {
  return entry.message_type.empty() ? "a request" : entry.message_type;
}

class FailureSearch {
 public:
  explicit FailureSearch(const std::vector<Exchange>& exchanges) : exchanges_(exchanges) {}

  std::vector<FailedCall> run() const {
    std::vector<FailedCall> failed;
    for (const Exchange& exchange : exchanges_) {
      const LogEntry& entry = exchange.main();
      if (entry.verdict.empty() || entry.kind == "request" || entry.outbound) continue;
      const Exchange* call = call_of(entry);
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
      failed.push_back(std::move(one));
    }
    return failed;
  }

 private:
  /// The call that was made when the wait for this answer began.
  const Exchange* call_of(const LogEntry& answer) const {
    std::int64_t asked = answer.mono_ns - answer.elapsed_us.value_or(0) * 1000;
    const Exchange* best = nullptr;
    std::int64_t best_distance = INT64_MAX;
    for (const Exchange& exchange : exchanges_) {
      if (!exchange.sent || exchange.sent->kind != "request" ||
          exchange.sent->agent != answer.agent || exchange.sent->peer != answer.peer)
        continue;
      std::int64_t distance = std::abs(exchange.sent->mono_ns - asked);
      if (distance >= best_distance) continue;
      best = &exchange;
      best_distance = distance;
    }
    return best;
  }

  /// What the peer says it answered.
  void note_answer(const Exchange& call, FailedCall& failed) const {
    std::string id = frame_id(call.main());
    for (const Exchange& exchange : exchanges_) {
      if (!exchange.sent || exchange.sent->kind != "reply" || exchange.sent->agent != failed.peer)
        continue;
      if (frame_id(*exchange.sent) == id) failed.answered_after_us = exchange.sent->elapsed_us;
    }
  }

  const std::vector<Exchange>& exchanges_;
};

std::string what_happened(const FailedCall& call) {
  if (call.code == "E001") return "did not answer " + call.type + " in time";
  if (call.code == "E009") return "could not be reached for " + call.type;
  if (call.code == "E038") return "was unavailable for " + call.type;
  if (call.code == "E037") return "declined to play";
  if (call.refused) return "refused " + call.type;
  return "answered " + call.type + " wrongly";
}

/// Whose fault a missing answer is, as far as both logs tell.
std::string who_kept_waiting(const FailedCall& call, std::optional<core::UtcTimestamp> log_end) {
  std::string waited = duration_text(call.waited_us);
  if (!log_end)
    return call.peer + "'s, by the word of " + call.caller + " alone, who waited " + waited;
  if (!call.reached) {
    return "not clear: " + call.peer +
           "'s own log does not have the call, so it was lost on the "
           "way or its program did not read it";
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
  if (call.code == "E001") return who_kept_waiting(call, log_end);
  if (call.code == "E009") {
    if (call.reached)
      return call.peer +
             "'s: its own log has the call; then the connection was gone, as after a "
             "crash";
    if (log_end && *log_end < call.time) {
      return call.peer + "'s: its own log ends at " + time_of_day(*log_end) +
             ", so its program had crashed or was stopped (" + call.fault + ")";
    }
    return call.peer + "'s: its side did not take the connection, or broke it (" + call.fault + ")";
  }
  if (call.code == "E038")
    return call.peer + "'s: it was suspended or shut down for what it did before";
  if (call.code == "E037") return call.peer + "'s: it answered accept: false";
  if (call.refused) {
    return call.peer == "league_manager"
               ? call.caller + "'s, by the manager's word: " + call.fault
               : call.peer + "'s, unless the call was wrong: it says " + call.fault;
  }
  return call.peer + "'s: " + call.fault +
         (call.answered_after_us ? ". Its own log has the same answer" : "");
}

}  // namespace

std::vector<std::string> explain_failures(const std::vector<Exchange>& exchanges,
                                          const LogKeepers& keepers) {
  struct Group {
    FailedCall first;
    int times = 0;
  };
  std::vector<Group> groups;
  for (FailedCall& call : FailureSearch(exchanges).run()) {
    auto same = std::ranges::find_if(groups, [&](const Group& group) {
      return group.first.peer == call.peer && group.first.type == call.type &&
             group.first.code == call.code && group.first.reached == call.reached;
    });
    if (same == groups.end()) {
      groups.push_back({std::move(call), 1});
    } else {
      ++same->times;
    }
  }
  std::vector<std::string> sentences;
  for (const Group& group : groups) {
    const FailedCall& call = group.first;
    std::string times = group.times > 1 ? ", " + std::to_string(group.times) + " times" : "";
    auto keeper = keepers.find(call.peer);
    auto log_end = keeper == keepers.end() ? std::nullopt : std::optional(keeper->second);
    std::string text = call.peer + " " + what_happened(call) + " (" + call.code + ")" + times +
                       ". The fault is " + whose_fault(call, log_end);
    if (call.type == "GAME_ERROR" || call.type == "GAME_OVER")
      text += ". (That was a notification: the result does not depend on it.)";
    sentences.push_back(std::move(text));
  }
  for (const Exchange& exchange : exchanges) {
    const LogEntry& entry = exchange.main();
    if (entry.kind == "request" && !entry.outbound && !entry.verdict.empty()) {
      sentences.push_back(entry.agent + " refused " + shown_name(entry) + " of " + entry.peer +
                          " (" + entry.verdict + "). The fault is " + entry.peer +
                          "'s, by the word of " + entry.agent + ": " + entry.fault);
    }
  }
  return sentences;
}

}  // namespace league::tools
