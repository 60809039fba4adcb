#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "common/agent/peer_client.h"
#include "common/agent/settings.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/envelope/envelope.h"
#include "common/envelope/round_messages.h"
#include "league_manager/announcer.h"
#include "league_manager/ledger.h"
#include "league_manager/match_queue.h"
#include "league_manager/operator_log.h"
#include "league_manager/token_vault.h"

namespace league::league_manager {

/// What a conductor works with; all references outlive it.
struct ConductorDependencies {
  Ledger& ledger;
  const TokenVault& vault;
  agent::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  core::RandomSource& random;
  const agent::Settings& settings;
  const envelope::EnvelopeBuilder& envelopes;
  /// False while no new match may start (the log's disk is nearly full); may be empty.
  std::function<bool()> may_start;
  /// For broadcasts to carry; see AnnouncerDependencies.
  std::function<std::optional<audit::LogHead>()> log_head = {};
  std::function<void()> seal_log = {};
  /// This manager's, where managers stand by for each other: every assignment and broadcast says
  /// it.
  std::optional<int> term = std::nullopt;
  /// See AnnouncerDependencies.
  EventBoard* events = nullptr;
  /// Of matches for referees that come for them; null: there is none.
  QueueKeeper* queue = nullptr;
  /// Is told what is in no event; null: nobody is.
  OperatorLog* log = nullptr;
};

/// Keeps a league going: takes the steps that are due, tells everybody about them, hands matches to
/// referees, and watches over referees, matches and rounds. Thread-safe. stop() before the
/// references go.
class Conductor {
 public:
  explicit Conductor(ConductorDependencies dependencies);

  /// Begins to watch; when `registration_window` (0: none) has passed, the league starts with
  /// whoever is in, as soon as there are two players and a referee.
  void start(std::chrono::milliseconds registration_window);
  /// Nothing is begun any more.
  void stop();

  /// Takes every step that is due. Call it after anything has changed the league; never while an
  /// answer is still to be sent (protocol §9: answer a report before broadcasting).
  void advance();
  /// A report was accepted and is to be answered: no step is taken until `on_answered`. To be
  /// called while the ledger decides, so that nobody sees the report's effect before the hold.
  void hold_for_answer() { ++unanswered_; }
  /// The answer has been sent, or could not be.
  void on_answered() { --unanswered_; }
  /// Does what follows from `events`, which are durable: hands out assignments, sends broadcasts.
  /// Decides the next step if one is due; its effects are the caller's.
  [[nodiscard]] Events take_step();
  void on_events(const Events& events);

  /// A suspended agent has shown that it lives: it answered, or for another `reason`.
  void on_alive(AgentRef agent, std::string_view reason = kReasonPingAnswered);
  /// An agent has stopped to say that it lives.
  void on_silent(AgentRef agent);
  /// Takes back what `referee` says it cannot start: `refused` and `reasons` of its acknowledgement
  /// of an assignment, or of claim_match. Others' matches stay theirs.
  void release_refused(int referee, const nlohmann::json& acknowledgement);

  /// What `referee` needs of those of `matches` that it has now, for the answer to a report or a
  /// claim: another one may have got a match since that was decided.
  [[nodiscard]] std::vector<envelope::MatchAssignment> assignments(
      int referee, const std::vector<MatchKey>& matches) const;

  /// Runs once when the league is completed and everybody has been told, or could not be.
  void on_finished(std::function<void()> callback);

 private:
  void tick();
  /// Registration is over: the league starts now, or as soon as it can.
  void close_registration();
  /// Tells the operator what a league lacks that should start and cannot; once until that changes.
  void tell_what_is_missing();
  /// The start that a closed registration makes due; nothing where none does.
  [[nodiscard]] bool is_late_start_due(const League& league) const;
  void watch_referees();
  void on_referee_ping(int referee, bool alive);
  /// Commits a decision and does what follows from it.
  void decide(const std::function<Events(const League&, core::UtcTimestamp)>& decision);

  void deliver(int referee, std::vector<MatchKey> matches, int attempt);
  void on_delivered(int referee, const std::vector<MatchKey>& matches, int attempt,
                    const agent::PeerReply& reply);
  /// The call that gives `matches` to `referee`; nothing if it has none of them any more.
  [[nodiscard]] std::optional<agent::PeerCall> assignment_call(
      int referee, const std::vector<MatchKey>& matches) const;
  /// Tells the referee of the match in which `player` is where the player is called now.
  void tell_referee_of(AgentRef player);
  void send_again(int referee, MatchKey match, int attempt);
  void add_dialects(std::vector<envelope::MatchAssignment>& matches) const;
  /// Has the matches that wait for referees who come for them put into the queue.
  void offer_waiting();
  void deliver_grouped(const std::vector<MatchAssigned>& assigned);
  void finish_league();
  /// Does again what may not have been done when the manager ended last.
  void resume();
  void resume_with(const Events& events);
  /// Tells the players of `round`, if there is one to be told, then gives the matches to referees.
  void announce_and_deliver(std::optional<int> round, std::vector<MatchAssigned> assigned);
  /// Remembers that everybody has been told.
  void note_delivered(News news, int round);
  void say_finished();

  const ConductorDependencies deps_;
  Announcer announcer_;
  std::atomic<bool> is_stopped_{false};
  std::mutex steps_mutex_;  // held while the steps that are due are taken, never while they are
                            // carried out
  std::atomic<int> unanswered_{0};  // accepted reports
  std::atomic<int> announcing_{0};  // rounds of which players are still being told
  std::atomic<bool> is_start_scheduled_{false};
  std::atomic<bool> is_start_due_{false};
  std::atomic<bool> is_registration_closed_{false};

  std::mutex mutex_;
  std::map<int, int> failed_pings_;  // by referee, in a row
  std::set<int> pinging_;  // referees
  std::string told_missing_;
  std::function<void()> on_finished_;
};

}  // namespace league::league_manager
