#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "common/agent/peers/peer_client.h"
#include "common/agent/runtime/delay_meter.h"
#include "common/agent/runtime/settings.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/envelope/envelope.h"
#include "common/envelope/round_messages.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/announcer.h"
#include "league_manager/rounds/match_starter.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/rounds/player_inquiry.h"

namespace league::league_manager::rounds {

/// Runs a league: takes the steps that are due, announces them, gives matches to referees, and
/// enforces the limits of referees, matches and rounds. Thread-safe. Call stop() before the
/// references are destroyed.
class LeagueRunner {
 public:
  explicit LeagueRunner(RoundDependencies dependencies);

  /// Begins to watch; when `registration_window` (0: none) has passed, the league starts with the
  /// registered agents, as soon as there are two players and a referee.
  void start(std::chrono::milliseconds registration_window);
  /// Stops: no step or broadcast is started afterwards.
  void stop();

  /// Takes every step that is due. Call it after every change of the league, but never while an
  /// answer still has to be sent.
  void advance();
  /// A report was accepted and will be answered: no step is taken until `on_answered`. Call it
  /// while the ledger decides, so that nobody sees the report's effect before the hold.
  void hold_for_answer() { ++unanswered_; }
  /// The answer has been sent, or sending it has failed.
  void on_answered() { --unanswered_; }
  /// Decides the next step, if one is due, and returns its events. The caller must pass them to
  /// `on_events`, which carries out the effects of durable events: assignments and broadcasts.
  [[nodiscard]] events::Events take_step();
  void on_events(const events::Events& events);

  /// Ends the suspension of an agent that is alive: it has answered a ping, or as `reason` says.
  void on_alive(events::AgentRef agent, std::string_view reason = events::kReasonPingAnswered);
  /// An agent has stopped sending keep-alives.
  void on_silent(events::AgentRef agent);
  /// Takes back the matches that `referee` cannot start: `refused` and `reasons` of its
  /// acknowledgement of an assignment. Other referees' matches stay with them.
  void release_refused(int referee, const nlohmann::json& acknowledgement);

  /// Asks `players` of an open match what they were called for, see PlayerInquiry.
  void ask_players(events::MatchKey match, int attempt, const std::vector<int>& players,
                   PlayerInquiry::Then then) {
    inquiry_.ask(match, attempt, players, std::move(then));
  }
  /// What a report is decided with, before anybody has been asked.
  [[nodiscard]] ReportHearing hearing() const;

  /// The assignments of those of `matches` that `referee` still has, for the answer to a report;
  /// another referee may have got some of them meanwhile.
  [[nodiscard]] std::vector<envelope::MatchAssignment> assignments(
      int referee, const std::vector<events::MatchKey>& matches) const;

  /// An agent with this `endpoint` has registered in the call style `style`.
  void on_registered(const transport::link::Endpoint& endpoint, agent::dialects::CallStyle style) {
    deps_.peers.on_registered(endpoint, style);
    starter_.forget(endpoint);
  }
  /// Tells a player that is a command, started by whoever calls it, the answer to the registration
  /// that somebody else made for it, so that the manager's process of it knows who it is. `then`
  /// runs once: when the player has taken it, cannot take it, or is too slow.
  void tell_registration(agent::peers::Peer player, const envelope::Envelope& envelope,
                         std::string answer, std::function<void()> then);
  /// A third-party referee polls for its matches: a failed call to it does not count as a refusal,
  /// and polling shows that it is alive.
  void note_polling(int referee);
  /// Whether the players of `match` have been told its referee in `attempt`; only then may a
  /// referee that polls get it.
  [[nodiscard]] bool is_announced(events::MatchKey match, int attempt) const;

  /// Runs once when the league is completed and all agents have got the result, if reachable.
  void on_finished(std::function<void()> callback);

 private:
  void tick();
  /// Registration is closed: the league starts now, or as soon as it can.
  void close_registration();
  /// Reports to the operator what the league needs before it can start; again only after this has
  /// changed.
  void tell_what_is_missing();
  /// Whether registration is closed and the league is not started yet, but can be.
  [[nodiscard]] bool is_late_start_due(const League& league) const;
  /// Whether this manager itself has been too late since `from` to claim that nothing arrived
  /// within `limit` by `route`.
  [[nodiscard]] bool was_late(core::Clock::Steady from, std::chrono::nanoseconds limit,
                              agent::runtime::Route route) const;
  /// The end of this manager's last delay, for the limits of matches; checks the time since the
  /// last tick. Nothing: it was never late.
  [[nodiscard]] std::optional<core::UtcTimestamp> late_until();
  void watch_referees();
  /// Needs `mutex_`.
  [[nodiscard]] bool has_polled_lately(int referee) const;
  void on_referee_ping(int referee, bool alive, core::Clock::Steady sent,
                       agent::runtime::Route route);
  /// Commits a decision and carries out its effects.
  void decide(const files::Ledger::Decide& decision);

  void deliver(int referee, std::vector<events::MatchKey> matches, int attempt);
  /// Like `deliver`, for a referee that does not know ROUND_ANNOUNCEMENT. With `is_last_way` the
  /// referee loses a match that it only acknowledges.
  void deliver_otherwise(int referee, const std::vector<events::MatchKey>& matches, int attempt,
                         bool is_last_way = false);
  /// Waits for a third-party referee, which has acknowledged `match`, to begin it. If it does
  /// nothing, it is started in another way, and after the last way the match goes to another
  /// referee. Source: protocol §9, "Starting referees".
  void watch_start(int referee, events::MatchKey match, bool is_last_way);
  void check_start(int referee, events::MatchKey match, int attempt, bool is_last_way);
  void on_idle(int referee, events::MatchKey match, bool is_last_way);
  /// Tells the players of those of `matches` whose kind of referee differs from the announcement,
  /// then calls `then`.
  void announce_moved(int referee, const std::vector<events::MatchKey>& matches,
                      std::function<void()> then);
  void on_not_started(int referee, events::MatchKey match, int attempt, const core::Error& error);
  void on_delivered(int referee, const std::vector<events::MatchKey>& matches, int attempt,
                    agent::runtime::Route route, const agent::peers::PeerReply& reply);
  /// The call that gives `matches` to `referee`; nothing if it has none of them any more.
  [[nodiscard]] std::optional<agent::peers::PeerCall> assignment_call(
      int referee, const std::vector<events::MatchKey>& matches) const;
  /// Sends the player's new address to the referee of its match.
  void tell_referee_of(events::AgentRef player);
  void send_again(int referee, events::MatchKey match, int attempt);
  void add_dialects(std::vector<envelope::MatchAssignment>& matches) const;
  void note_announced(const std::vector<events::MatchKey>& matches);
  void deliver_grouped(const std::vector<events::MatchAssigned>& assigned);
  void finish_league();
  /// Repeats effects that the previous run may not have completed.
  void resume();
  void resume_with(const events::Events& events);
  /// Tells players whose receipts are missing or false.
  void tell_receipts(const events::MatchReported& reported);
  /// Announces `round` to the players, if there is one to announce, then gives the matches to
  /// referees.
  void announce_and_deliver(std::optional<int> round, std::vector<events::MatchAssigned> assigned);
  /// Records that all agents have been notified, and the ends of their logs that they told.
  void note_delivered(events::NotificationKind kind, int round, LogHeads heads = {});
  void say_finished();

  const RoundDependencies deps_;
  Announcer announcer_;
  MatchStarter starter_;
  PlayerInquiry inquiry_;
  std::atomic<bool> is_stopped_{false};
  std::mutex steps_mutex_;  // held while due steps are taken, but not while their effects are
                            // carried out
  std::atomic<int> unanswered_{0};  // accepted reports
  std::atomic<bool> is_start_scheduled_{false};
  std::atomic<bool> is_start_due_{false};
  std::atomic<bool> is_registration_closed_{false};

  // Used only on the timer's thread: the last tick, and the last time that the manager was late.
  std::optional<std::pair<core::Clock::Steady, core::UtcTimestamp>> last_tick_;
  std::optional<core::UtcTimestamp> late_at_;

  mutable std::mutex mutex_;
  std::map<int, int> failed_pings_;  // by referee, in a row
  std::set<int> pinging_;  // referees
  std::map<int, core::Clock::Steady> polling_;  // when a referee asked last
  std::set<std::pair<events::MatchKey, int>>
      announced_;  // matches of the last rounds with their attempts
  std::string told_missing_;
  std::function<void()> on_finished_;
};

}  // namespace league::league_manager::rounds
