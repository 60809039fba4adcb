#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/core/result.h"
#include "referee/core/clock_proof.h"
#include "referee/core/match_effects.h"

namespace league::referee {

/// An answer to GAME_INVITATION that admission has let pass. An empty `match_id` means that the
/// reply named none.
struct JoinAnswer {
  std::string match_id;
  bool accept = true;
  std::optional<std::string> choice_commitment = std::nullopt;  ///< binds the player
};

/// An answer to CHOOSE_PARITY_CALL that admission has let pass; choice and nonce are still whatever
/// the player wrote.
struct ChoiceAnswer {
  std::string match_id;
  std::string choice;
  std::optional<std::string> choice_nonce = std::nullopt;  ///< opens the commitment
};

using Reply = std::variant<JoinAnswer, ChoiceAnswer>;

/// How far a player has come.
enum class SeatState { kIdle, kAsked, kWaitingForRetry, kAnswered, kFailed };
/// `IDLE`, `ASKED`, `WAITING_FOR_RETRY`, `ANSWERED`, `FAILED`.
[[nodiscard]] std::string_view seat_state_name(SeatState state);

/// What anybody may see of a match: choices and result only when the manager has accepted the
/// result.
struct MatchSnapshot {
  core::MatchId match_id;
  std::string game_type;
  MatchState state = MatchState::kWaitingForPlayers;
  PerSide<core::PlayerId> players;
  PerSide<SeatState> seats;
  std::optional<RefereedMatch> played;
};

/// The course of one match as a pure state machine: it takes facts (with their time) and returns
/// effects. Both players are called in parallel; if one fails finally, the match still waits for
/// the other's current call, so that a match with two dead players has no winner. If a player would
/// lose by a time-out while the referee itself was late, the match is replayed, a few times. After
/// Finished nothing has an effect.
///
/// A player may commit to its choice in its first accepted GAME_JOIN_ACK. The commitment counts
/// once a CHOOSE_PARITY_CALL has passed it to the opponent; then the player has to open it. If both
/// count, they bind the players in every replay.
///
/// Not thread-safe. Source: protocol §6 and §7.
class Match {
 public:
  /// `rules` outlives the match.
  Match(const game::Rules& rules, MatchPlan plan);

  /// Invites both players; one whose seat is unavailable loses unasked (the other is still asked,
  /// since it may be dead too). The first input, once.
  [[nodiscard]] Effects start(Instant now);
  /// A reply that admission accepted; that it came in time is the caller's judgement. Replies to
  /// calls that are no longer awaited are ignored.
  [[nodiscard]] Effects on_reply(CallId id, const Reply& reply, Instant now);
  /// Whether the call `id` still waits for its answer.
  [[nodiscard]] bool awaits(CallId id) const;
  /// Why on_reply would count `reply` as an invalid answer, for a log; nothing where it would not,
  /// or no longer awaits one.
  [[nodiscard]] std::optional<core::Error> fault_of(CallId id, const Reply& reply) const;
  /// A call without a usable reply. kTimeout and kConnectionError are retried; kShuttingDown comes
  /// from us and abandons the match; every other code is an invalid answer. A player that answers
  /// with a JSON-RPC error has given an invalid answer: hand in kInvalidReply, not the code the
  /// player wrote. `evidence` tells whether a time-out was the player's doing or ours.
  [[nodiscard]] Effects on_failure(CallId id, const core::Error& error, Instant now,
                                   const CallEvidence& evidence = {});
  [[nodiscard]] Effects on_timer(TimerId id, Instant now);
  [[nodiscard]] Effects on_report_accepted();
  /// The report did not arrive, or the manager answered with an error: codes of trouble that passes
  /// (time-out, connection, overload, internal error) are tried again, every other one is the
  /// manager's last word.
  [[nodiscard]] Effects on_report_failed(const core::Error& error);
  /// Abandons the match, for example because it was reassigned.
  [[nodiscard]] Effects abandon();

  [[nodiscard]] MatchState state() const { return state_; }
  /// Nothing until the match has finished.
  [[nodiscard]] std::optional<Ending> ending() const { return ending_; }
  [[nodiscard]] const MatchPlan& plan() const { return plan_; }
  [[nodiscard]] MatchSnapshot snapshot() const;

 private:
  /// One player's progress through the call of the present stage.
  struct Progress {
    SeatState state = SeatState::kIdle;
    CallId call_id = 0;  ///< the awaited call, or 0
    TimerId timer_id = 0;  ///< the awaited retry, or 0
    int attempt = 0;
    int failed_attempts = 0;
    int invalid_answers = 0;
    Instant asked_at{};  ///< of the awaited call
    Instant window_end{};  ///< of the present attempt
    bool was_wronged = false;  ///< a time-out of this call was void
    std::optional<Termination> lost_by;
    std::optional<std::string> commitment;  ///< of this play's GAME_JOIN_ACK
    std::optional<std::string> choice;
    AnswerTimes answered_in;
  };

  [[nodiscard]] Call stage_call() const;
  [[nodiscard]] Duration stage_limit() const;
  void begin_play(Instant now, Effects& effects);
  void begin_stage(MatchState stage, Instant now, Effects& effects);
  void begin_attempt(Side side, Instant now, Effects& effects);
  void ask(Side side, Instant now, Effects& effects);
  [[nodiscard]] std::optional<Side> take_awaited(CallId id);
  [[nodiscard]] std::optional<core::Error> fault_of(Side side, const Reply& reply) const;
  [[nodiscard]] std::optional<core::Error> fault_of_join(Side side, const JoinAnswer& answer) const;
  [[nodiscard]] std::optional<core::Error> fault_of_choice(Side side,
                                                           const ChoiceAnswer& answer) const;
  void accept_reply(Side side, const Reply& reply, Instant now, Effects& effects);
  void fail(Side side, const core::Error& error, Instant now, const CallEvidence& evidence,
            Effects& effects);
  void fail_attempt(Side side, const core::Error& error, Effects& effects);
  void fail_answer(Side side, const core::Error& error, Instant now, Effects& effects);
  void lose(Side side, SendGameError notice, Effects& effects);
  FailureRecord& record(Side side, const core::Error& error, Duration elapsed);
  [[nodiscard]] SendGameError game_error(Side side, const core::Error& error) const;
  void settle(Instant now, Effects& effects);
  [[nodiscard]] bool is_unfair() const;
  void play_again(Effects& effects);
  void decide(Effects& effects);
  void report(Effects& effects);
  void finish(Ending ending, std::optional<core::Error> error, Effects& effects);

  const game::Rules& rules_;
  MatchPlan plan_;
  MatchState state_ = MatchState::kWaitingForPlayers;
  PerSide<Progress> progress_;
  /// The commitments that were handed to the opponents, of the last play in which any was, and the
  /// nonces of this play that opened them.
  game::Bindings bindings_;
  std::vector<FailureRecord> failures_;
  std::optional<RefereedMatch> played_;
  bool has_started_ = false;
  bool is_report_awaited_ = false;
  int report_attempts_ = 0;
  TimerId report_timer_ = 0;
  int replays_ = 0;
  TimerId replay_timer_ = 0;
  std::optional<Ending> ending_;
  std::uint64_t last_id_ = 0;
};

}  // namespace league::referee
