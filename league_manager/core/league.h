#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "league_manager/core/draft.h"
#include "league_manager/core/player_record.h"
#include "league_manager/core/registration.h"
#include "league_manager/core/report_receipts.h"
#include "league_manager/core/report_rules.h"
#include "league_manager/core/standings.h"
#include "league_manager/events/events.h"

namespace league::league_manager {

enum class LeagueState : std::uint8_t { kRegistering, kRunning, kCompleted };
/// `REGISTERING`, `RUNNING`, `COMPLETED`.
[[nodiscard]] std::string_view league_state_name(LeagueState state);

/// The step that a league should take next by itself.
enum class Step : std::uint8_t {
  kNone,
  kStartLeague,
  kStartRound,
  kCompleteRound,
  kCompleteLeague
};

/// What a step needs and cannot compute from the league's state.
struct StepFacts {
  core::UtcTimestamp now;
  std::vector<events::DrawSeed> draw_seeds;  ///< at least League::seeds_needed()
};

/// Notifications that some agents may not have; they are sent again after a restart.
struct UndeliveredNotifications {
  std::optional<int> announced_round;  ///< the open round
  std::optional<int> completed_round;  ///< the last one that is completed
  bool is_league_completed = false;

  bool operator==(const UndeliveredNotifications&) const = default;
};

/// The newest known end of each agent's sealed log.
using LogHeads = std::map<events::AgentRef, events::AgentLogHead>;

/// A command of the operator, before it becomes the event OperatorActed.
struct OperatorCommand {
  events::OperatorAct act = events::OperatorAct::kPause;
  std::string by;
  std::string reason;
  std::optional<events::MatchKey> match = std::nullopt;
  bool replays = false;  ///< a void match is played again
  int seconds = 0;
};

/// The answer to a MATCH_RESULT_REPORT. `events` are to be journalled and applied even with a
/// refusal.
struct ReportDecision {
  events::Events events;
  std::optional<core::Error> refusal;
  bool is_repeat = false;  ///< an identical repeat of an accepted report
  /// The players that must be asked before this report can be decided; nothing is decided then. To
  /// be decided again with their answers.
  std::vector<int> ask = {};
  /// The referee's next matches, which belong in the answer. For a repeat: those matches of the
  /// lost answer that are still open.
  std::vector<events::MatchKey> next_matches;
};

/// What a report is decided with beside the league and the report itself.
struct ReportHearing {
  /// TokenIssuer::receipt_key; must be pure.
  std::function<std::string(const std::string& agent_id, const std::string& nonce)> receipt_key =
      nullptr;
  /// What the asked players answered; nothing: nobody has been asked yet.
  std::optional<std::vector<PlayerAnswer>> answers = std::nullopt;
  std::chrono::milliseconds join_limit{5000};  ///< of a player's answer to GAME_INVITATION
  std::chrono::milliseconds choice_limit{30000};  ///< ... and to CHOOSE_PARITY_CALL
  /// How long before the report this call first came to the player's seat, by the manager's clock;
  /// nothing: not known.
  std::function<std::optional<std::chrono::milliseconds>(const SeatedCall&)> since_seat_call =
      nullptr;
};

/// The current state of a match.
struct MatchView {
  events::MatchKey match;
  Pairing pairing;
  MatchStatus status = MatchStatus::kPending;
  int attempt = 0;  ///< 0: not yet assigned
  int referee = -1;  ///< the one that has it, had it last or is planned for it; -1: not known yet
  std::optional<events::CompactResult> result;  ///< of a finished match
};

/// Figures for a status page.
struct LeagueStatus {
  LeagueState state = LeagueState::kRegistering;
  int players = 0;
  int referees = 0;
  int current_round = 0;  ///< 0 before the first
  int total_rounds = 0;  ///< 0 before the start
  std::size_t total_matches = 0;  ///< without void ones
  events::MatchSummary finished;
  std::optional<core::UtcTimestamp> started_at;
  std::optional<core::UtcTimestamp> completed_at;
};

/// One league, event-sourced and pure. A `decide_` function turns a command into events and changes
/// nothing; `apply` is the only thing that changes the league, and depends on the events alone. The
/// shell decides, appends the events to the journal, applies them in the same order, and sends
/// answers and calls once they are durable. Applying the journal to a new League gives the same
/// league. Not thread-safe: one lock around decide, append and apply.
class League {
 public:
  explicit League(events::LeagueSettings settings);

  // --- decisions
  // -----------------------------------------------------------------------------------------------------
  /// The first event of every journal.
  [[nodiscard]] events::Events decide_creation(core::UtcTimestamp now) const;
  /// The manager continues a league of its journal: the state of the matches at referees is
  /// unknown, so they are assigned again, with the same draw seeds. Returns no events if the league
  /// is over.
  [[nodiscard]] events::Events decide_continuation(core::UtcTimestamp now) const;
  /// The manager is about to end: no new match begins until `decide_continuation`. Returns no
  /// events if the league is not running or is paused by the operator.
  [[nodiscard]] events::Events decide_drain(core::UtcTimestamp now) const;
  /// All agents have got `kind` of `round`, or could not be reached. Returns no events if that is
  /// already recorded.
  [[nodiscard]] events::Events decide_delivered(events::NotificationKind kind, int round,
                                                core::UtcTimestamp now) const;
  /// Agents have told the ends of their logs in their answers to a notification of `round`. Returns
  /// no events if there are no heads.
  [[nodiscard]] events::Events decide_log_heads(int round, const LogHeads& heads,
                                                core::UtcTimestamp now) const;
  /// See decide_registration in registration.h. A referee that returns as a new process loses its
  /// matches, since it no longer knows them.
  [[nodiscard]] core::Result<RegistrationDecision> decide_register(
      const RegistrationRequest& request, const RegistrationFacts& facts) const;
  /// Starts with the registered agents (operator's command, end of the registration window); fails
  /// with kLeagueNotStartable with fewer than 2 players or no referee, or if the league has
  /// started.
  [[nodiscard]] core::Result<events::Events> decide_start(core::UtcTimestamp now) const;
  /// The step that is due now; the shell takes steps until none is.
  [[nodiscard]] Step due() const;
  /// The number of draw seeds that the next kStartRound needs.
  [[nodiscard]] std::size_t seeds_needed() const;
  /// The events of the step that is due (none if none is). Fails only if draw seeds are missing.
  [[nodiscard]] core::Result<events::Events> decide_step(const StepFacts& facts) const;
  /// A report from `referee`, whose token has been checked. Refused with kMatchNotFound,
  /// kMatchNotOpen, kNotAssignedReferee, kStaleAttempt, kResultConflict or kInvalidResult. Source:
  /// protocol §8.
  ///
  /// Where a player that declared receipts lost technically, or its receipts are missing or false,
  /// the decision is to `ask` first. A report that a forwarded receipt contradicts is refused with
  /// kInvalidResult, one whose loss the player contradicts with kLossContradicted, and both give
  /// the match to another referee; the second at most once per match, and not without another
  /// active referee. What is accepted against a player's word is disputed. Source: protocol §7.
  [[nodiscard]] ReportDecision decide_report(int referee, const MatchReport& report,
                                             core::UtcTimestamp now,
                                             const ReportHearing& hearing = {}) const;
  /// `player`, whose token has been checked, disputes the result of its match: the dispute is
  /// recorded, once per player, and the result stands. Fails with kMatchNotFound, kNotAuthorized or
  /// kMatchNotOpen.
  [[nodiscard]] core::Result<events::Events> decide_dispute(int player, events::MatchKey match,
                                                            std::string_view reason,
                                                            core::UtcTimestamp now) const;
  /// An agent has answered a ping or sent a message again: ends a suspension, for `reason`. Does
  /// not end a suspension for failed matches: a player has to play a match first, and a referee
  /// returns only if no other one is active. Does not end the suspension of a referee that is
  /// shutting down either.
  [[nodiscard]] events::Events decide_alive(
      events::AgentRef agent, core::UtcTimestamp now,
      std::string_view reason = events::kReasonPingAnswered) const;
  /// An agent has stopped sending keep-alives: it is suspended, and a referee's matches are given
  /// to others.
  [[nodiscard]] events::Events decide_silent(events::AgentRef agent, core::UtcTimestamp now) const;
  /// A referee is gone: it is suspended and its matches are given to others as the next attempt.
  [[nodiscard]] events::Events decide_referee_lost(int referee, core::UtcTimestamp now) const;
  /// A referee, whose token has been checked, is about to end: it keeps the matches that it has and
  /// gets no other until it registers again.
  [[nodiscard]] events::Events decide_referee_drain(int referee, core::UtcTimestamp now) const;
  /// A referee may not play a match, through no fault of its own: the match goes to another one, or
  /// to the same one as the next attempt.
  [[nodiscard]] events::Events decide_match_refused(events::MatchKey match,
                                                    core::UtcTimestamp now) const;
  /// `referee` has refused `match` or answered its assignment with an error, so another referee
  /// gets the match at once. Returns no events for a match that `referee` does not have.
  [[nodiscard]] events::Events decide_assignment_refused(events::MatchKey match, int referee,
                                                         core::UtcTimestamp now) const;
  /// The operator, named in `by`, shuts an agent down (kReasonShutDownByOperator,
  /// kReasonDisqualified), or it withdraws (kReasonWithdrawn): a player loses its matches that no
  /// referee has; a referee's matches go to other referees. `detail` is for people and bounded.
  /// Fails with kInvalidFieldValue if the agent is shut down already or the league is not running.
  [[nodiscard]] core::Result<events::Events> decide_shut_down(events::AgentRef agent,
                                                              std::string_view reason,
                                                              std::string_view detail,
                                                              core::UtcTimestamp now,
                                                              std::string_view by = {}) const;
  /// The operator undoes a shut-down or a suspension: the agent plays what is still to be played.
  /// Fails like decide_shut_down.
  [[nodiscard]] core::Result<events::Events> decide_restore(events::AgentRef agent,
                                                            std::string_view detail,
                                                            core::UtcTimestamp now,
                                                            std::string_view by = {}) const;
  /// Any other command of the operator. Fails with kInvalidFieldValue, kMissingRequiredField or
  /// kMatchNotFound if it does not fit the league's state. Source: protocol §12.
  [[nodiscard]] core::Result<events::Events> decide_act(const OperatorCommand& command,
                                                        core::UtcTimestamp now) const;
  /// The watchdog, to be called about once a second: handles matches and rounds that have exceeded
  /// their time limits, and matches that wait. If it is called regularly, every round ends.
  /// `late_at`: until then the manager itself was delayed and could have missed messages, so time
  /// limits count only from then on; nothing: it was not delayed.
  [[nodiscard]] events::Events decide_tick(core::UtcTimestamp now,
                                           std::optional<core::UtcTimestamp> late_at = {}) const;

  // --- change
  // --------------------------------------------------------------------------------------------------------
  /// Makes `event` part of the league. Fails with kInternalError, changing nothing, if it does not
  /// fit the league's state, which means that the journal is damaged or belongs to another league.
  core::Result<void> apply(const events::Event& event);
  /// All of `events`; stops at the first that does not fit.
  core::Result<void> apply_all(const events::Events& events);

  // --- queries
  // -------------------------------------------------------------------------------------------------------
  [[nodiscard]] const events::LeagueSettings& settings() const { return settings_; }
  [[nodiscard]] LeagueState state() const { return state_; }
  /// Whether the league's files name its key, see LeagueCreated.
  [[nodiscard]] bool are_files_keyed() const { return are_files_keyed_; }
  /// How often each pair meets, see LeagueCreated.
  [[nodiscard]] std::optional<int> meetings() const { return meetings_; }
  /// Whether the operator has paused the league: no match and no round begins or ends by itself.
  [[nodiscard]] bool is_paused() const { return is_paused_; }
  /// Why, in the operator's words; empty if the operator gave no reason.
  [[nodiscard]] const std::string& pause_reason() const { return pause_reason_; }
  /// Whether the operator has ended the league before all matches were played.
  [[nodiscard]] bool is_ended_early() const { return is_ended_; }
  [[nodiscard]] const Roster& roster() const { return roster_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const Standings& standings() const { return standings_; }
  [[nodiscard]] const RoundBoard& board() const { return board_; }
  [[nodiscard]] LeagueStatus status() const;
  /// The table as it is shown; before the start, all registered players at rank 1.
  [[nodiscard]] std::vector<RankedPlayer> table() const;
  /// The player who won the league, once it is completed.
  [[nodiscard]] std::optional<int> champion() const { return champion_; }
  /// A match of the schedule; nothing for any other.
  [[nodiscard]] std::optional<MatchView> match(events::MatchKey match) const;
  /// The earlier matches of the pair of `match`, which must be in the schedule, that have a result
  /// and count, by round.
  [[nodiscard]] std::vector<MatchView> earlier_meetings(events::MatchKey match) const;
  /// Up to `limit` matches by round and number, from the `offset`-th (from 0).
  [[nodiscard]] std::vector<MatchView> schedule_page(std::size_t offset, std::size_t limit) const;
  /// The first unfinished match of `player`; nothing before the start and after its last.
  [[nodiscard]] std::optional<MatchView> next_match(int player) const;
  [[nodiscard]] UndeliveredNotifications undelivered_notifications() const;
  /// How long the open round may take: the setting, or else the time that all of its matches need
  /// with all their attempts, as many at once as the referees have places, plus five minutes for a
  /// referee to come back.
  [[nodiscard]] std::chrono::microseconds round_limit() const;
  [[nodiscard]] bool is_any_referee_active() const;
  /// By match, the players that dispute its result, in the order of their disputes.
  [[nodiscard]] const std::map<events::MatchKey, std::vector<int>>& disputes() const {
    return disputes_;
  }
  /// Why a match was lost technically: the machine-readable reason; empty for any other match.
  [[nodiscard]] std::string technical_reason(events::MatchKey match) const;
  /// The finished matches of `player` that count, by round.
  [[nodiscard]] std::vector<MatchView> finished_matches(int player) const;
  /// The questions in which a player contradicted the loss that a referee reported, by match.
  [[nodiscard]] const std::map<events::MatchKey, std::vector<events::PlayersAsked>>&
  contradictions() const {
    return contradictions_;
  }
  /// The matches that the operator has declared void, each with the match that replays it, if any.
  [[nodiscard]] const std::map<events::MatchKey, std::optional<events::MatchKey>>& voided() const {
    return voided_;
  }
  /// The matches whose results are accepted without proof, see MatchReported.
  [[nodiscard]] const std::vector<events::MatchKey>& unproven() const { return unproven_; }
  /// The ends of the agents' sealed logs that were known when the league was completed, or that are
  /// known by now while it is not: of each agent the one that it told last.
  [[nodiscard]] const LogHeads& log_heads() const { return log_heads_; }
  /// How the matches of a completed round ended; nothing for any other round.
  [[nodiscard]] std::optional<events::MatchSummary> round_summary(int round) const;

 private:
  friend class LeagueDump;  // of the tests
  [[nodiscard]] RunningLeague running() const {
    return {settings_, roster_, schedule_, board_, players_shut_down_, is_paused_ || is_ended_,
            quarrels_};
  }
  [[nodiscard]] core::Result<events::Events> decide_round_start(const StepFacts& facts) const;
  [[nodiscard]] events::MatchSummary summary_of_board() const;
  [[nodiscard]] std::optional<events::CompactResult> finished_result(events::MatchKey match) const;
  [[nodiscard]] ReportDecision decide_open(int referee, const MatchReport& report,
                                           core::UtcTimestamp now,
                                           const ReportHearing& hearing) const;
  struct Examination;
  [[nodiscard]] core::Result<void> check_unavailable(int referee, const MatchReport& report,
                                                     const JudgedReport& judged) const;
  [[nodiscard]] core::Result<void> check_commitments(int referee, const MatchReport& report,
                                                     const JudgedReport& judged) const;
  [[nodiscard]] Examination examine(int referee, const MatchReport& report,
                                    const JudgedReport& judged, const ReportHearing& hearing) const;
  [[nodiscard]] ReceiptFacts receipt_facts(const MatchReport& report, game::Side side,
                                           const ReportHearing& hearing) const;
  void hear(Examination& found, const MatchReport& report, const ReportHearing& hearing) const;
  [[nodiscard]] std::optional<ReportDecision> release_contradicted(int referee,
                                                                   const MatchReport& report,
                                                                   const Examination& found,
                                                                   core::UtcTimestamp now) const;
  [[nodiscard]] bool is_another_referee_active(int referee) const;
  void note_words(const events::PlayersAsked& event);
  void note_overruled(const events::MatchReported& event);
  [[nodiscard]] ReportDecision decide_finished(int referee, const MatchReport& report,
                                               const events::CompactResult& standing,
                                               core::UtcTimestamp now) const;
  [[nodiscard]] ReportDecision refuse_stale(int referee, const MatchReport& report, int attempt,
                                            core::UtcTimestamp now) const;
  [[nodiscard]] ReportDecision accept(int referee, const MatchReport& report,
                                      const JudgedReport& judged, const Examination& found,
                                      core::UtcTimestamp now) const;
  [[nodiscard]] ReportFacts facts_for(int referee, events::MatchKey match) const;
  [[nodiscard]] bool is_disputed_by(events::MatchKey match, int player) const;
  [[nodiscard]] bool has_open_match(events::AgentRef player) const;
  [[nodiscard]] bool has_restarted(const RegistrationRequest& request,
                                   const RegistrationDecision& decision) const;
  [[nodiscard]] bool fits(const events::EventBody& body) const;
  /// Whether the agent is registered and its seat was not freed.
  [[nodiscard]] bool is_seated(events::AgentRef agent) const;
  /// Whether the event frees a seat: before the start nobody can be shut down and stay.
  [[nodiscard]] bool frees_seat(const events::AgentStateChanged& event) const;
  [[nodiscard]] bool fits_act(const events::OperatorActed& event) const;
  [[nodiscard]] bool fits_creation(const events::LeagueCreated& event) const;
  [[nodiscard]] bool fits_dispute(const events::MatchDisputed& event) const;
  [[nodiscard]] bool fits_heads(const events::LogHeadsRecorded& event) const;
  [[nodiscard]] bool fits_start(const events::LeagueStarted& event) const;
  [[nodiscard]] bool fits_round(const events::RoundStarted& event) const;
  [[nodiscard]] core::Result<void> check_act(const OperatorCommand& command) const;
  [[nodiscard]] core::Result<void> check_void(const OperatorCommand& command) const;
  void act(const events::OperatorActed& event);
  void change(const events::Event& event);
  void record(events::MatchKey match, const game::MatchResult& result);
  void note_incident(events::MatchKey match);
  void seat_agent(const events::AgentRegistered& event, core::UtcTimestamp at);
  void return_agent(const events::AgentReregistered& event, core::UtcTimestamp at);
  void note_suspended(const events::MatchAssigned& event);
  void note_heads(const events::LogHeadsRecorded& event);
  void change_lifecycles(const events::Event& event);
  void start(const events::LeagueStarted& event, core::UtcTimestamp at);
  void note_delivered(const events::NotificationDelivered& event);

  events::LeagueSettings settings_;
  LeagueState state_ = LeagueState::kRegistering;
  bool is_created_ = false;
  bool are_files_keyed_ = false;
  std::optional<int> meetings_;
  Roster roster_;
  Schedule schedule_;
  Standings standings_;
  int players_shut_down_ = 0;
  RoundBoard board_;
  bool is_round_open_ = false;
  bool is_paused_ = false;
  std::string pause_reason_;
  bool is_draining_ = false;  // it is paused because its manager is shutting down
  bool is_ended_ = false;
  std::vector<std::vector<events::CompactResult>> results_;  // of completed rounds
  std::vector<events::MatchSummary> summaries_;  // of completed rounds
  events::MatchSummary finished_;
  std::optional<int> champion_;
  std::map<events::MatchKey, std::vector<int>> disputes_;
  std::map<events::MatchKey, std::optional<events::MatchKey>> voided_;
  std::vector<events::MatchKey> unproven_;
  std::map<events::MatchKey, std::vector<events::PlayersAsked>> contradictions_;
  std::map<events::MatchKey, std::string> technical_reasons_;
  Quarrels quarrels_;
  std::map<int, int> overruled_;  // by player: losses that a second referee has confirmed
  LogHeads log_heads_;
  // Of what everybody has been notified: the last announced round, the last completed round, and
  // whether the league is over.
  int announced_round_ = 0;
  int told_round_ = 0;
  bool is_end_told_ = false;
  std::optional<core::UtcTimestamp> started_at_;
  std::optional<core::UtcTimestamp> completed_at_;
};

}  // namespace league::league_manager
