#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/core/result.h"
#include "referee/core/clock_proof.h"
#include "referee/core/match_effects.h"

namespace league::referee {

/// An answer to GAME_INVITATION that has passed admission. `match_id` is empty if the reply has
/// none.
struct JoinAnswer {
  std::string match_id;
  bool accept = true;
  std::optional<std::string> choice_commitment = std::nullopt;  ///< binds the player
  std::optional<std::string> receipt = std::nullopt;  ///< passed on; only the manager can check it
};

/// An answer to CHOOSE_PARITY_CALL that has passed admission; choice and nonce are not checked yet.
struct ChoiceAnswer {
  std::string match_id;
  std::string choice;
  std::optional<std::string> choice_nonce = std::nullopt;  ///< opens the commitment
  std::optional<std::string> receipt = std::nullopt;  ///< as in JoinAnswer
};

using Reply = std::variant<JoinAnswer, ChoiceAnswer>;

/// A player's state in the current stage.
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
  PerSide<int> points{};  ///< of `played`
};

/// The course of one match as a pure state machine: it takes facts (with their time) and returns
/// effects. Both players are called in parallel; if one player has lost, the match still waits for
/// the other one's current call, so that a match has no winner if neither player answers. If a
/// player would lose by a time-out while the referee itself was late, the match is replayed, a few
/// times.
/// After Finished nothing has an effect.
///
/// A player may commit to its choice in its first accepted GAME_JOIN_ACK. The commitment counts
/// once a CHOOSE_PARITY_CALL has passed it to the opponent; then the player has to open it. If both
/// count, they bind the players in every replay.
///
/// Not thread-safe. Source: protocol §6 and §7.
class Match {
 public:
  /// `rules` outlives the match.
  Match(const game::Definition& rules, MatchPlan plan);

  /// Invites both players. A player whose seat is unavailable loses without being called; the other
  /// one is called anyway, since it may not answer either. Must be the first input; call it once.
  [[nodiscard]] Effects start(Instant now);
  /// Takes a reply that has passed admission and arrived in time, which the caller has to check.
  /// Ignores replies to calls that are no longer awaited.
  [[nodiscard]] Effects on_reply(CallId id, const Reply& reply, Instant now);
  /// Whether the call `id` still waits for its answer.
  [[nodiscard]] bool awaits(CallId id) const;
  /// Why on_reply would count `reply` as an invalid answer, for a log; nothing if it would not, or
  /// if the call is no longer awaited.
  [[nodiscard]] std::optional<core::Error> fault_of(CallId id, const Reply& reply) const;
  /// Takes the failure of a call without a usable reply. kTimeout and kConnectionError are retried;
  /// kShuttingDown means that this referee is ending and abandons the match; every other code is an
  /// invalid answer. A player that answers with a JSON-RPC error has given an invalid answer: pass
  /// kInvalidReply, not the code from the player. `evidence` shows whether a time-out was the
  /// player's fault or the referee's.
  [[nodiscard]] Effects on_failure(CallId id, const core::Error& error, Instant now,
                                   const CallEvidence& evidence = {});
  /// The call did not reach the player's seat, since the manager, where it is, could not be
  /// reached: the call is made again after the retry delay, and this was no attempt. Source:
  /// protocol §10.
  [[nodiscard]] Effects on_out_of_reach(CallId id);
  [[nodiscard]] Effects on_timer(TimerId id, Instant now);
  [[nodiscard]] Effects on_report_accepted();
  /// The report did not arrive, or the manager answered with an error: temporary errors (time-out,
  /// connection, overload, internal error) are retried; any other one is final.
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
    Instant asked_at{};  ///< when the awaited call was made
    Instant window_end{};  ///< end of the current attempt
    bool was_wronged = false;  ///< a time-out of this call was void
    std::optional<Termination> lost_by;
    std::optional<std::string> commitment;  ///< from the GAME_JOIN_ACK of this play (replays count
                                            ///< as plays of their own)
    std::optional<std::string> choice;
    AnswerTimes answered_in;
    AnswerReceipts receipts;
  };

  [[nodiscard]] Call stage_call() const;
  [[nodiscard]] Duration stage_limit(Side side) const;
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
  void call_later(Side side, Effects& effects);
  void fail_answer(Side side, const core::Error& error, Instant now, Effects& effects);
  void lose(Side side, SendGameError notice, Effects& effects);
  FailureRecord& record(Side side, const core::Error& error, Duration elapsed, CallPhase phase);
  [[nodiscard]] SendGameError game_error(Side side, const core::Error& error) const;
  void settle(Instant now, Effects& effects);
  [[nodiscard]] bool is_unfair() const;
  void play_again(Effects& effects);
  void decide(Effects& effects);
  void report(Effects& effects);
  void finish(Ending ending, std::optional<core::Error> error, Effects& effects);

  const game::Definition& rules_;
  MatchPlan plan_;
  MatchState state_ = MatchState::kWaitingForPlayers;
  PerSide<Progress> progress_;
  /// The commitments that were passed to the opponents, in the last play in which any was, and the
  /// nonces of the current play that opened them.
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
