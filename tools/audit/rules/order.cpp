#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

/// One match's events on the clock of its referee's machine.
class ConversationCheck {
 public:
  ConversationCheck(std::vector<MatchEvent> events, const CheckedLog& log, Findings& findings)
      : events_(std::move(events)), log_(log), findings_(findings) {
    // Sort by the monotonic clock, the time of arrival: a record may be written later.
    std::stable_sort(events_.begin(), events_.end(), [](const MatchEvent& a, const MatchEvent& b) {
      return a.mono_ns < b.mono_ns;
    });
  }

  void run() {
    for (const MatchEvent& event : events_) {
      if (event.outbound && event.request) {
        on_call(event);
      } else if (!event.outbound && !event.request) {
        on_answer(event);
      }
    }
  }

  [[nodiscard]] bool is_decided() const {
    return std::count_if(sides_.begin(), sides_.end(),
                         [](const auto& side) { return side.second.chose; }) >= 2;
  }

 private:
  struct Side {
    bool invited = false, joined = false, refused = false, chose = false;
    int calls = 0, causes = 0;  ///< CHOOSE_PARITY_CALLs, and the failures that justify repeated
                                ///< ones
    int invitations = 0, invitation_causes = 0;
    std::string last_call;
    const MatchEvent* invitation = nullptr;  ///< the last one
    const MatchEvent* call = nullptr;  ///< the last one for a choice
    int plays = 1;  ///< how often the match was begun with this player
    const MatchEvent* last_begin = nullptr;
  };

  void fault(const MatchEvent& event, const char* rule, std::string text) {
    findings_.fault(event.place, rule, std::move(text));
  }

  /// Adds a fault, unless an answer that the end of the log lacks could explain it.
  void lack(const MatchEvent& event, const char* rule, std::string text) {
    if (!is_at_open_end(log_, event.time_us)) fault(event, rule, std::move(text));
  }

  /// The same for a call that repeats `before`, unless the referee was killed in between and may
  /// have lost the record of the reason, which then counts as one of `causes` for later calls, too.
  void lack_cause(const MatchEvent& event, const MatchEvent* before, int& causes,
                  std::string text) {
    if (before != nullptr && may_be_lost(log_, before->time_us, event.time_us)) {
      ++causes;
      return;
    }
    lack(event, "retry.without_cause", std::move(text));
  }

  void on_call(const MatchEvent& event) {
    Side& side = sides_[event.peer];
    if (event.type == "GAME_INVITATION") {
      if (over_) fault(event, "order.after_end", "an invitation follows GAME_OVER");
      if (side.joined &&
          side.invitation !=
              nullptr) {  // the match is played again, since the referee was late itself
        // For a referee that was killed and restarted, it is the first play again.
        bool is_new = may_be_lost(log_, side.invitation->time_us, event.time_us);
        int plays = side.plays + (is_new ? 0 : 1);
        side = Side();
        side.plays = plays;
        side.last_begin = &event;
      }
      side.invited = true;
      if (++side.invitations > 1 + side.invitation_causes)
        lack_cause(event, side.invitation, side.invitation_causes,
                   "invited again though the first call did not fail");
      if (side.invitations > kMostCalls * kMostPlays)
        fault(event, "retry.too_many", "too many invitations");
    } else if (event.type == "CHOOSE_PARITY_CALL") {
      if (over_) fault(event, "order.after_end", "a call for a choice follows GAME_OVER");
      if (!side.joined) lack(event, "order.choice_before_join", event.peer + " has not joined yet");
      if (side.refused) fault(event, "order.choice_after_refusal", event.peer + " refused to play");
      if (++side.calls > 1 + side.causes)
        lack_cause(event, side.call, side.causes,
                   "called again though the first call did not fail");
      if (side.calls > kMostCalls) fault(event, "retry.too_many", "too many calls for a choice");
    } else if (event.type == "MATCH_RESULT_REPORT") {
      on_report(event);
    } else if (event.type == "GAME_OVER") {
      if (!accepted_)
        lack(event, "order.over_before_report", "the manager has not accepted the result");
      over_ = true;
    }
    side.last_call = event.type;
    if (event.type == "CHOOSE_PARITY_CALL") side.call = &event;
    if (event.type == "GAME_INVITATION") side.invitation = &event;
  }

  void on_report(const MatchEvent& event) {
    reported_ = true;
    for (const auto& [peer, side] : sides_) {
      if (side.plays > 1 + std::min(event.replays, kMostPlays - 1)) {
        fault(*side.last_begin, "retry.without_cause",
              peer + " was invited again, but the report does not say that the match was replayed");
      }
    }
    if (!event.is_normal) return;
    if (!is_decided())
      lack(event, "order.report_before_choices", "reported before both had chosen");
  }

  void on_answer(const MatchEvent& event) {
    Side& side = sides_[event.peer];
    if (event.peer == "league_manager") {
      if (reported_ && !event.failed) accepted_ = true;
      return;
    }
    bool choice = event.type == "CHOOSE_PARITY_RESPONSE" ||
                  (event.type != "GAME_JOIN_ACK" && side.last_call == "CHOOSE_PARITY_CALL");
    if (event.failed) {
      ++(choice ? side.causes : side.invitation_causes);
      if (event.unknown_method) --(choice ? side.calls : side.invitations);
      if (event.unknown_method) --(choice ? side.causes : side.invitation_causes);
      return;
    }
    if (event.type == "GAME_JOIN_ACK") {
      if (!side.invited) fault(event, "order.join_before_invitation", "nobody was invited");
      side.joined = true;
      side.refused = !event.accepts;
    } else if (event.type == "CHOOSE_PARITY_RESPONSE") {
      if (side.call == nullptr)
        return fault(event, "order.choice_before_call", "nobody asked for a choice");
      side.chose = true;
      // Deadlines are in whole seconds, so the limit may have been a second longer; and a referee
      // accepts answers that are late by a second or a twentieth of the limit.
      constexpr std::int64_t kSecond = 1'000'000;
      if (side.call->allowed_us) {
        const auto limit = *side.call->allowed_us + kSecond;
        if (event.time_us - side.call->time_us > limit + std::max(kSecond, limit / 20))
          fault(event, "deadline.late_choice", "the choice was taken after its deadline");
      }
    }
  }

  static constexpr int kMostCalls = 6;  // 3 attempts and 3 invalid answers: protocol §6
  static constexpr int kMostPlays = 4;  // 3 replays: the fair clock
  std::vector<MatchEvent> events_;
  const CheckedLog& log_;
  Findings& findings_;
  std::map<std::string, Side> sides_;
  bool reported_ = false, accepted_ = false, over_ = false;
};

/// Adds attempts in which both players chose according to their own logs, but not according to a
/// referee's.
void add_attempts_by_players(const std::vector<LeagueLog>& logs,
                             std::vector<DecidedAttempt>& decided) {
  std::set<std::string> known;
  for (const DecidedAttempt& attempt : decided) known.insert(attempt.conversation);
  std::map<std::string, std::set<std::string>> choices;
  for (const LeagueLog& log : logs) {
    for (const GameCall& call : log.facts.calls) {
      if (call.choice.empty() || !log.names.contains("player:" + call.player)) continue;
      auto& players = choices[call.conversation];
      if (!players.insert(call.player).second || players.size() != 2) continue;
      if (!known.contains(call.conversation))
        decided.push_back({call.match_id, call.conversation, call.answer_place});
    }
  }
}

}  // namespace

void check_order(const LeagueCase& league, Findings& findings) {
  findings.decided.clear();  // matches and conversations of other leagues have the same names
  for (const LeagueLog& log : league.logs) {
    for (const auto& [conversation, messages] : log.facts.conversations) {
      if (messages.events.empty()) continue;
      ConversationCheck check(messages.events, *log.log, findings);
      check.run();
      if (check.is_decided())
        findings.decided.push_back({messages.match_id, conversation, messages.events.back().place});
    }
  }
  add_attempts_by_players(league.logs, findings.decided);
}

}  // namespace league::tools::auditor
