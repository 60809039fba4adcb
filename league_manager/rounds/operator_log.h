#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "league_manager/core/schedule.h"
#include "league_manager/events/events.h"

namespace league::league_manager::rounds {

/// One line for the operator. Text from strangers is bounded and printable.
struct OperatorLine {
  bool is_warning = false;
  std::string_view event;  ///< for machines: `TECHNICAL_LOSS`
  std::string text;  ///< for people
  nlohmann::json fields = nlohmann::json::object();  ///< for machines, such as `agent`, `match`

  bool operator==(const OperatorLine&) const = default;
};

/// Reports to the operator what happens to the league: who registered, who was refused, rounds,
/// losses and their causes, suspensions and returns, matches that were reassigned. Made from the
/// events of the journal and from facts that are never journalled. Thread-safe.
class OperatorLog {
 public:
  using Sink = std::function<void(const OperatorLine&)>;

  /// `sink` is called on the threads of the callers; it must be fast.
  explicit OperatorLog(Sink sink) : sink_(std::move(sink)) {}

  /// For Ledger::observe. Reports nothing before `begin`, while a journal is replayed.
  void on_events(const events::Events& events);
  /// From now on events are reported.
  void begin() { is_live_ = true; }

  /// This many refused registrations are reported one by one.
  static constexpr int kMostRefusals = 100;

  /// A registration was refused. `code_owner` is the name on the operator's list for the code that
  /// it showed; empty: none.
  void refused(events::AgentKind kind, std::string_view name, std::string_view endpoint,
               const core::Error& why, std::string_view code_owner = {});
  /// A player that comes to us has taken its seat, over `line`.
  void seated(const std::string& player, std::string_view line);
  /// Somebody was refused at the seat that it calls `player`; a bounded number is reported.
  void seat_refused(std::string_view player, const core::Error& why);
  /// A part of an agent's registration was ignored, and why; a bounded number is reported.
  void ignored(events::AgentRef agent, std::string_view why);
  /// A player needed more than one attempt at `call` in `match`, and then answered.
  void slow(events::AgentRef player, events::MatchKey match, std::string_view call,
            std::string_view error_code, int attempts);
  /// A referee has refused matches or answered its assignment with an error.
  void assignment_refused(events::AgentRef referee, const std::vector<events::MatchKey>& matches,
                          std::string_view why);
  /// A referee has acknowledged `match` and not begun it; `is_lost`: it goes to another referee.
  void not_started(events::AgentRef referee, events::MatchKey match, bool is_lost);
  /// The report of the referee that has `match` was refused; the same refusal is told once a round.
  void report_refused(events::AgentRef referee, events::MatchKey match, const core::Error& why);
  /// Anything else: `event` for machines, `text` for people, made printable.
  void say(bool is_warning, std::string_view event, std::string_view text);

 private:
  void tell(const OperatorLine& line) const;
  void take(const events::Event& event);
  /// `P03 'alpha'`.
  [[nodiscard]] std::string shown(events::AgentRef agent) const;
  void on_registered(const events::AgentRegistered& event);
  void on_registered_again(const events::AgentReregistered& event);
  /// Whether `agent` is a third-party referee, by its newest registration.
  bool note_foreign(events::AgentRef agent, const events::AgentProfile& profile);
  void on_round_started(const events::RoundStarted& event, core::UtcTimestamp at);
  void on_conflict(const events::ReportConflictRecorded& conflict) const;
  void on_stale_report(const events::StaleReportRecorded& stale) const;
  void on_disputed(const events::MatchDisputed& disputed) const;
  void on_started(const events::LeagueStarted& event);
  void on_round_completed(const events::RoundCompleted& event, core::UtcTimestamp at);
  void on_failure(const events::FailureCounted& event);
  /// The first match that `player` lost by the same fault: `match` itself if it is a new one.
  events::MatchKey first_match_of(events::AgentRef player, events::MatchKey match,
                                  const events::FailureCause& cause);
  void on_forfeited(const events::MatchForfeited& event);
  void on_state(const events::AgentStateChanged& event);
  void on_reported(const events::MatchReported& event);
  void on_receipts(const events::MatchReported& event) const;
  void on_asked(const events::PlayersAsked& event);
  void on_act(const events::OperatorActed& event);
  /// Reassigned matches, by the referee that lost them and the reason.
  using Moved = std::map<std::pair<int, std::string>, std::vector<events::MatchKey>>;
  void tell_moved(const Moved& moved) const;

  const Sink sink_;
  std::atomic<bool> is_live_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> names_[2];  // by AgentKind
  std::set<events::AgentRef> free_;  // seats that were freed before the start
  bool is_started_ = false;
  std::map<events::MatchKey, int> referees_;  // of matches that are assigned
  std::set<events::AgentRef> absent_referees_;
  std::set<int> foreign_referees_;
  int players_expected_ = 0;
  int referees_expected_ = 0;
  int meetings_ = 1;
  int refusals_ = 0;
  int ignored_ = 0;
  int seats_refused_ = 0;
  std::set<std::pair<events::MatchKey, core::ErrorCode>> refused_reports_;  // of this round
  std::map<events::AgentRef, int> contradictions_;  // of a referee's losses, by a player
  /// The faults that were told in full, by the player and with the first match.
  std::map<events::AgentRef, std::vector<std::pair<events::MatchKey, events::FailureCause>>>
      faults_;
  Schedule schedule_;
  core::UtcTimestamp round_started_;
  int round_ = 0;
};

}  // namespace league::league_manager::rounds
