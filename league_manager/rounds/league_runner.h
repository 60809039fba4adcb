#pragma once

#include <atomic>
#include <functional>
#include <map>
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
#include "common/task/task.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/announcer.h"
#include "league_manager/rounds/league_view.h"
#include "league_manager/rounds/match_starter.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/rounds/player_inquiry.h"

namespace league::league_manager::rounds {

/// Runs a league: takes the steps that are due, announces them, gives matches to referees, and
/// enforces the limits of referees, matches and rounds. All of it runs on the executor of its
/// dependencies, in tasks that stop() cancels; other threads may call everything that is public.
/// Call stop() before the references are destroyed.
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
  void advance() { tasks_.spawn(take_steps()); }
  /// A report was accepted and will be answered: no step is taken until `on_answered`. Call it
  /// while the ledger decides, so that nobody sees the report's effect before the hold.
  void hold_for_answer() { ++unanswered_; }
  /// The answer has been sent, or sending it has failed.
  void on_answered() { --unanswered_; }
  /// Carries out the effects of durable events: assignments and broadcasts.
  void on_events(events::Events events) { tasks_.spawn(carry_out(std::move(events))); }

  /// Ends the suspension of an agent that is alive: it has answered a ping, or as `reason` says.
  void on_alive(events::AgentRef agent, std::string_view reason = events::kReasonPingAnswered);
  /// An agent has stopped sending keep-alives.
  void on_silent(events::AgentRef agent);

  /// Asks `players` of an open match what they were called for, see PlayerInquiry. `then` runs
  /// once.
  void ask_players(events::MatchKey match, int attempt, std::vector<int> players,
                   PlayerInquiry::Then then) {
    inquiry_.ask(match, attempt, std::move(players), std::move(then));
  }
  /// What a report is decided with, before anybody has been asked.
  [[nodiscard]] ReportHearing hearing() const;

  /// The assignments of those of `matches` that `referee` still has, for the answer to a report;
  /// another referee may have got some of them meanwhile.
  [[nodiscard]] std::vector<envelope::MatchAssignment> assignments(
      int referee, const std::vector<events::MatchKey>& matches) const;

  /// The address at which `referee` calls the player with this `endpoint`.
  [[nodiscard]] std::string called_at(const std::string& endpoint,
                                      const events::AgentProfile& referee) const {
    return rounds::called_at(endpoint, referee, deps_.seats_at);
  }

  /// An agent with this `endpoint` has registered in the call style `style`.
  void on_registered(const transport::link::Endpoint& endpoint, agent::dialects::CallStyle style);
  /// Tells a player that is a command, started by whoever calls it, the answer to the registration
  /// that somebody else made for it, so that the manager's process of it knows who it is. `then`
  /// runs once: when the player has taken it, cannot take it, or is too slow.
  void tell_registration(agent::peers::Peer player, const envelope::Envelope& envelope,
                         std::string answer, std::function<void()> then);
  /// A third-party referee polls for its matches: a failed call to it does not count as a refusal,
  /// and polling shows that it is alive.
  void note_polling(int referee) { tasks_.spawn(take_polling(referee)); }
  /// Whether the players of `match` have been told its referee in `attempt`; only then may a
  /// referee that polls get it.
  [[nodiscard]] bool is_announced(events::MatchKey match, int attempt) const;

  /// Runs once when the league is completed and all agents have got the result, if reachable. Call
  /// it before `start`.
  void on_finished(std::function<void()> callback) { on_finished_ = std::move(callback); }

 private:
  using Task = task::Task<void>;
  using Told = Announcer::Told;
  using Matches = std::vector<events::MatchKey>;
  /// A little more than the five seconds after which polling referees poll again.
  static constexpr std::chrono::seconds kPollingPeriod{6};

  // --- steps
  Task take_steps();
  /// Decides the next step, if one is due, and returns its events.
  [[nodiscard]] events::Events take_step();
  Task carry_out(events::Events events);
  /// Announces `round` to the players, if there is one to announce, then gives the matches to
  /// referees.
  Task announce_and_assign(std::optional<int> round, std::vector<events::MatchAssigned> assigned);
  /// Takes up what the previous run may not have completed.
  Task resume();
  Task finish_league();
  void say_finished();
  /// Records that all agents have been notified, once they are, and the ends of their logs that
  /// they told.
  Task note_told(events::NotificationKind kind, int round, Told told);
  void note_delivered(events::NotificationKind kind, int round, LogHeads heads);
  /// Tells players whose receipts are missing or false.
  void tell_receipts(const events::MatchReported& reported);
  /// Waits until a decision is durable.
  task::Task<core::Result<events::Events>> commit(files::Ledger::Decide decision);
  /// Commits a decision, carries out its effects, and takes the steps that are due then.
  Task decide(files::Ledger::Decide decision);

  // --- watching
  Task tick();
  /// Closes registration after `window`: the league starts then, or as soon as it can.
  Task close_registration(std::chrono::milliseconds window);
  /// Starts the league when the agent that registered last has had time to read its answer.
  Task start_soon();
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
  Task watch_referees();
  Task ping(int referee, transport::link::Endpoint endpoint);
  Task take_polling(int referee);
  [[nodiscard]] bool has_polled_lately(int referee) const;

  // --- assignments
  /// Gives `matches` to `referee`, after their players have been told if the kind of their referee
  /// differs from the announcement.
  Task assign(int referee, Matches matches);
  /// The matches whose players were told of a referee of another kind than `referee`.
  [[nodiscard]] Matches moved_to(int referee, const Matches& matches) const;
  Task deliver(int referee, Matches matches, int attempt);
  /// What follows from a failed attempt to assign `matches`: waits before the next one and returns
  /// its number, or takes the matches back and returns nothing.
  task::Task<std::optional<int>> next_attempt(int referee, Matches matches, int attempt,
                                              agent::runtime::Route route,
                                              agent::peers::PeerReply reply);
  /// Takes back the matches that `referee` cannot start: `refused` and `reasons` of its
  /// acknowledgement of an assignment. Other referees' matches stay with them.
  void release_refused(int referee, const nlohmann::json& acknowledgement);
  /// Starts each of `matches` at a referee that does not know ROUND_ANNOUNCEMENT.
  void start_otherwise(int referee, const Matches& matches, int attempt);
  /// The same for one match. With `is_last_way` the referee loses the match if it only
  /// acknowledges it.
  Task start_match(int referee, events::MatchKey match, int attempt, bool is_last_way);
  [[nodiscard]] std::optional<MatchStarter::Order> order_of(int referee,
                                                            events::MatchKey match) const;
  /// Waits for a third-party referee, which has acknowledged `match`, to begin it. If it does
  /// nothing, it is started in another way, and after the last way the match goes to another
  /// referee. Source: protocol §9, "Starting referees".
  Task watch_start(int referee, events::MatchKey match, bool is_last_way);
  /// The players of `match` that can say whether they have been called: those that declare
  /// receipts.
  [[nodiscard]] std::vector<int> witnesses_of(events::MatchKey match) const;
  Task forget_starts(transport::link::Endpoint endpoint);
  /// The call that gives `matches` to `referee`; nothing if it has none of them any more.
  [[nodiscard]] std::optional<agent::peers::PeerCall> assignment_call(int referee,
                                                                      const Matches& matches) const;
  /// Sends the player's new address to the referee of its match.
  void tell_referee_of(events::AgentRef player);
  Task send_again(int referee, events::MatchKey match);
  void add_dialects(std::vector<envelope::MatchAssignment>& matches) const;
  void note_announced(const Matches& matches);

  const RoundDependencies deps_;
  std::atomic<bool> is_stopped_{false};
  std::atomic<int> unanswered_{0};  // accepted reports
  mutable std::mutex announced_mutex_;  // a referee that polls is answered at once
  std::set<std::pair<events::MatchKey, int>>
      announced_;  // matches of the last rounds with their attempts

  // What follows is used on the executor only.
  Announcer announcer_;
  MatchStarter starter_;
  PlayerInquiry inquiry_;
  bool is_start_scheduled_ = false;
  bool is_start_due_ = false;
  bool is_registration_closed_ = false;
  std::optional<std::pair<core::Clock::Steady, core::UtcTimestamp>> last_tick_;
  std::optional<core::UtcTimestamp> late_at_;  // the last time that the manager was late
  std::map<int, int> failed_pings_;  // by referee, in a row
  std::set<int> pinging_;  // referees
  std::map<int, core::Clock::Steady> polling_;  // when a referee asked last
  std::string told_missing_;
  std::function<void()> on_finished_;
  task::Scope tasks_;  // last: they use everything above
};

}  // namespace league::league_manager::rounds
