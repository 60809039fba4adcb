#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/ids.h"
#include "common/core/timestamp.h"
#include "game/games.h"
#include "league_manager/events/agent.h"
#include "league_manager/events/agent_ref.h"
#include "league_manager/events/compact_result.h"
#include "league_manager/events/match_key.h"

namespace league::league_manager::events {

/// A league has been created and has no agents yet. These settings define the league and never
/// change; all other settings may differ each time the manager starts.
struct LeagueCreated {
  static constexpr std::string_view kType = "LEAGUE_CREATED";
  core::LeagueId league_id;
  std::string game_type;
  int players = 0;  ///< the league is full with this many ...
  int referees = 0;  ///< ... and this many
  std::optional<std::string> league_key = std::nullopt;  ///< nothing in old journals
  /// The published files of this league name its key; false in old journals.
  bool files_keyed = false;
  /// How often each pair meets. Nothing in old journals: once, and the old rule of the table holds
  /// (DirectMatches::kAlways).
  std::optional<int> meetings = std::nullopt;
  /// The rules of `game_type`. Nothing in old journals: it is a game that comes along.
  std::optional<game::Definition> game = std::nullopt;
  bool operator==(const LeagueCreated&) const = default;
};
/// What the league plays; kGameTypeNotSupported where an old journal names an unknown game.
[[nodiscard]] core::Result<game::SharedDefinition> game_of(const LeagueCreated& creation);

/// The manager was away and is back, or another one has taken its place: time limits that were
/// running start again.
struct LeagueContinued {
  static constexpr std::string_view kType = "LEAGUE_CONTINUED";
  /// The term of the following events, where managers stand by for each other. Nothing: the term
  /// stays the same.
  std::optional<int> term = std::nullopt;
  /// The lost events that the operator has accepted (`league admin lead --lose-after`). Nothing:
  /// none are lost.
  std::optional<std::string> given_up = std::nullopt;
  bool operator==(const LeagueContinued&) const = default;
};

/// An agent has got its id, the next one of its kind.
struct AgentRegistered {
  static constexpr std::string_view kType = "AGENT_REGISTERED";
  AgentRef agent;
  AgentProfile profile;
  Credential credential;
  std::string registration_nonce_hash;
  bool operator==(const AgentRegistered&) const = default;
};

/// How an agent that registered again was recognised.
enum class Recognition : std::uint8_t {
  kToken,
  kRegistrationNonce,
  kEndpointAndName,
  kOperator,  ///< it sent no request: the operator gave its seat a new token
};
/// `TOKEN`, `REGISTRATION_NONCE`, `ENDPOINT_AND_NAME`, `OPERATOR`.
[[nodiscard]] std::string_view recognition_name(Recognition recognition);
[[nodiscard]] std::optional<Recognition> parse_recognition(std::string_view text);

/// An agent registered again with another profile, or got a new token that voids the old one.
struct AgentReregistered {
  static constexpr std::string_view kType = "AGENT_REREGISTERED";
  AgentRef agent;
  AgentProfile profile;
  Credential credential;
  std::string registration_nonce_hash;
  Recognition recognised_by = Recognition::kToken;
  bool operator==(const AgentReregistered&) const = default;
};

/// Registration is closed; the schedule follows from the number of players.
struct LeagueStarted {
  static constexpr std::string_view kType = "LEAGUE_STARTED";
  int players = 0;
  int referees = 0;
  std::string schedule_rule;
  bool operator==(const LeagueStarted&) const = default;
};

/// A round is open. Per match: the seed of its draw and the referee planned for it (-1: none),
/// which is announced to the players. If another referee is free earlier, it gets the match.
struct RoundStarted {
  static constexpr std::string_view kType = "ROUND_STARTED";
  int round = 0;
  std::vector<DrawSeed> draw_seeds;
  std::vector<int> planned_referees;
  bool operator==(const RoundStarted&) const = default;
};

/// A referee has been given a match.
struct MatchAssigned {
  static constexpr std::string_view kType = "MATCH_ASSIGNED";
  MatchKey match;
  int attempt = 0;
  int referee = 0;
  std::optional<MatchKey>
      after;  ///< the match whose report freed the place and is answered with this one
  bool operator==(const MatchAssigned&) const = default;
};

/// A match has been taken from its referee and waits for another, or for the same one.
struct MatchReleased {
  static constexpr std::string_view kType = "MATCH_RELEASED";
  MatchKey match;
  int attempt = 0;
  std::string reason;
  /// The referee is not at fault: the attempt does not count towards the limit of attempts, and the
  /// same referee may have the match again.
  bool is_excused = false;
  bool operator==(const MatchReleased&) const = default;
};

/// How long a player took for the answers that counted, as its referee reports it, in microseconds;
/// nothing for a missing answer.
struct AnswerTimes {
  std::optional<int> join_us;
  std::optional<int> choice_us;
  bool operator==(const AnswerTimes&) const = default;
};

/// The evidence for a reported result, and the players' answer times.
struct ReportEvidence {
  game::Bindings bindings;
  game::PerSide<AnswerTimes> answered_in;
  bool operator==(const ReportEvidence&) const = default;
};

/// What the manager found of a player's receipts in a report. Source: protocol §7.
enum class ReceiptState : std::uint8_t {
  kNotDeclared,  ///< the player sends none
  kValid,
  kAbsent,  ///< neither the referee nor the player had them
  kInvalid,  ///< they fit nothing
};
/// `not_declared`, `valid`, `absent`, `invalid`.
[[nodiscard]] std::string_view receipt_state_name(ReceiptState state);
[[nodiscard]] std::optional<ReceiptState> parse_receipt_state(std::string_view text);

/// The receipts of one player for the play that counts.
struct PlayerReceipts {
  ReceiptState state = ReceiptState::kNotDeclared;
  std::optional<std::string> join;
  std::optional<std::string> choice;
  bool operator==(const PlayerReceipts&) const = default;
};

/// A referee's report was accepted: the result stands.
struct MatchReported {
  static constexpr std::string_view kType = "MATCH_REPORTED";
  MatchKey match;
  int attempt = 0;
  int referee = 0;
  game::MatchResult result;
  /// How many players committed to their choices; nothing in journals from before commitments.
  std::optional<game::Fairness> fairness = std::nullopt;
  /// The referee, a third-party one, did not reveal the seed, and the operator allows that: nobody
  /// can verify that the number was drawn (protocol §7).
  bool is_unproven = false;
  std::optional<ReportEvidence> evidence = std::nullopt;  ///< nothing in old journals
  /// Nothing in old journals, and where neither player declared receipts.
  std::optional<game::PerSide<PlayerReceipts>> receipts = std::nullopt;
  bool operator==(const MatchReported&) const = default;
};

/// The manager has ended a match itself.
struct MatchForfeited {
  static constexpr std::string_view kType = "MATCH_FORFEITED";
  MatchKey match;
  game::MatchResult result;
  bool operator==(const MatchForfeited&) const = default;
};

/// A different result for a finished match came in and was refused.
struct ReportConflictRecorded {
  static constexpr std::string_view kType = "REPORT_CONFLICT_RECORDED";
  MatchKey match;
  int referee = 0;
  game::MatchResult result;
  bool operator==(const ReportConflictRecorded&) const = default;
};

/// A report for an attempt that is no longer wanted came in and was refused.
struct StaleReportRecorded {
  static constexpr std::string_view kType = "STALE_REPORT_RECORDED";
  MatchKey match;
  int attempt = 0;
  int referee = 0;
  bool operator==(const StaleReportRecorded&) const = default;
};

/// A player disputes the result of its match. The result stands until the operator acts.
struct MatchDisputed {
  static constexpr std::string_view kType = "MATCH_DISPUTED";
  MatchKey match;
  int player = 0;
  std::string reason;  ///< the player's words, bounded
  bool operator==(const MatchDisputed&) const = default;
};

/// What a player says to the technical loss that a referee reports. Source: protocol §7, "Losses
/// are heard on both sides".
enum class PlayerWord : std::uint8_t {
  kNone,  ///< it could not be asked, or did not answer
  kConfirms,
  kNoCall,  ///< it got no call with a valid credential of this attempt
  kAnswered,  ///< it gave a valid answer within the limit
  kCallAtFault,  ///< it refused a call for the call's own fault
  kStillOpen,  ///< the call came so late that its time was not over
};
/// `none`, `confirms`, `no_call`, `answered`, `call_at_fault`, `still_open`.
[[nodiscard]] std::string_view player_word_name(PlayerWord word);
[[nodiscard]] std::optional<PlayerWord> parse_player_word(std::string_view text);

/// One player's word.
struct HeardPlayer {
  int player = 0;
  PlayerWord word = PlayerWord::kNone;
  std::string text;  ///< for people; bounded
  bool operator==(const HeardPlayer&) const = default;
};

/// The manager has asked players about a report before it decided it, once per match and attempt.
struct PlayersAsked {
  static constexpr std::string_view kType = "PLAYERS_ASKED";
  MatchKey match;
  int attempt = 0;
  int referee = 0;
  std::vector<HeardPlayer> words;
  bool operator==(const PlayersAsked&) const = default;
};

/// The end of an agent's conversation log, as the agent has told it.
struct AgentLogHead {
  AgentRef agent;
  std::uint64_t seq = 0;
  std::string hash;
  bool operator==(const AgentLogHead&) const = default;
};

/// The agents have told the ends of their sealed logs in their answers to a notification. Source:
/// protocol §8, "Seals are mandatory and bind".
struct LogHeadsRecorded {
  static constexpr std::string_view kType = "LOG_HEADS";
  int round = 0;
  std::vector<AgentLogHead> heads;
  bool operator==(const LogHeadsRecorded&) const = default;
};

/// A player's failure, as the referee reports it.
struct FailureCause {
  std::string call;  ///< wire name of the call; of a suspended player that was only pinged, `ping`
  std::string error_code;  ///< of the last attempt: `E001`
  int attempts = 1;  ///< failed attempts and invalid answers of that call
  std::string text;  ///< for people; what the player wrote is bounded and printable
  /// JSON pointer of the wrong field in the answer; empty in old journals and where there is none.
  std::string field = {};
  /// `CHOOSE_PARITY_CALL: E001 TIMEOUT_ERROR`.
  [[nodiscard]] std::string str() const;
  /// `text` without the answer that the player gave.
  [[nodiscard]] std::string_view fault() const;
  /// Whether both are the same fault, whatever else the answers contained: the same call, code and
  /// field, and where there is no field, the same fault().
  [[nodiscard]] bool is_same_fault(const FailureCause& other) const;
  bool operator==(const FailureCause&) const = default;
};

/// A match failed through an agent's fault: a player lost it technically, or a referee did not
/// finish it. Old journals contain each failed attempt, also of matches that were not lost.
struct FailureCounted {
  static constexpr std::string_view kType = "FAILURE_COUNTED";
  AgentRef agent;
  FailureKind kind = FailureKind::kTimeout;
  std::optional<MatchKey> match;
  std::optional<FailureCause> cause = std::nullopt;  ///< of a lost match; nothing in old journals
  /// The match is lost, but does not count against the agent: the referee itself was late.
  bool is_excused = false;
  bool operator==(const FailureCounted&) const = default;
};

/// An agent's state has changed.
struct AgentStateChanged {
  static constexpr std::string_view kType = "AGENT_STATE_CHANGED";
  AgentRef agent;
  AgentState to = AgentState::kActive;
  std::string reason;  ///< machine-readable, see agent_lifecycle.h
  std::optional<std::string> detail = std::nullopt;  ///< for people: the cause, or why it was done
  std::optional<std::string> by = std::nullopt;  ///< the operator who did it; nothing: not an
                                                 ///< operator
  bool operator==(const AgentStateChanged&) const = default;
};

/// A command of the operator for a whole league. Source: protocol §12.
enum class OperatorAct : std::uint8_t {
  kPause,  ///< nothing new begins; matches that are being played go on
  kResume,
  kExtendRound,
  kAnnounce,
  kVoidMatch,
  kEndLeague,
};
/// `PAUSE`, `RESUME`, `EXTEND_ROUND`, `ANNOUNCE`, `VOID_MATCH`, `END_LEAGUE`.
[[nodiscard]] std::string_view operator_act_name(OperatorAct act);
[[nodiscard]] std::optional<OperatorAct> parse_operator_act(std::string_view text);

/// An operator has given a command, under this name.
struct OperatorActed {
  static constexpr std::string_view kType = "OPERATOR_ACTED";
  OperatorAct act = OperatorAct::kPause;
  std::string by;  ///< the operator's name; bounded
  std::string reason;  ///< for people, bounded; of an announcement its text
  std::optional<MatchKey> match = std::nullopt;  ///< that is void
  std::optional<MatchKey> replay =
      std::nullopt;  ///< the replay of the void match; nothing: it is not replayed
  std::optional<int> seconds = std::nullopt;  ///< by which the round is extended
  bool operator==(const OperatorActed&) const = default;
};

/// The value of `by` if the manager itself pauses a league before it ends, or resumes it after its
/// restart.
inline constexpr std::string_view kByManager = "league_manager";

/// Why matches are released after a restart of the manager or of their referee.
inline constexpr std::string_view kReasonManagerRestarted = "MANAGER_RESTARTED";
inline constexpr std::string_view kReasonRefereeRestarted = "REFEREE_RESTARTED";
inline constexpr std::string_view kReasonRefereeRefused = "REFEREE_REFUSED";
inline constexpr std::string_view kReasonMatchRefused = "MATCH_REFUSED";
inline constexpr std::string_view kReasonLossContradicted = "LOSS_CONTRADICTED";
inline constexpr std::string_view kReasonReceiptContradicts = "RECEIPT_CONTRADICTS";
inline constexpr std::string_view kReasonMatchTimeLimit = "MATCH_TIME_LIMIT";
inline constexpr std::string_view kReasonLeagueEnded = "LEAGUE_ENDED";

/// The matches of a round or a league by how they ended; the last three add up to the first.
/// Source: protocol §4, 13.
struct MatchSummary {
  int total_matches = 0;
  int wins = 0;
  int draws = 0;
  int technical_losses = 0;

  /// Counts one more match.
  void count(const CompactResult& result);
  /// Removes a match that has been counted.
  void discount(const CompactResult& result);
  bool operator==(const MatchSummary&) const = default;
};

/// All matches of a round are finished.
struct RoundCompleted {
  static constexpr std::string_view kType = "ROUND_COMPLETED";
  int round = 0;
  MatchSummary summary;
  bool operator==(const RoundCompleted&) const = default;
};

/// All rounds are completed.
struct LeagueCompleted {
  static constexpr std::string_view kType = "LEAGUE_COMPLETED";
  int champion = 0;
  bool operator==(const LeagueCompleted&) const = default;
};

/// The kinds of broadcasts of a league.
enum class NotificationKind : std::uint8_t { kRoundAnnounced, kRoundCompleted, kLeagueCompleted };
/// `ROUND_ANNOUNCED`, `ROUND_COMPLETED`, `LEAGUE_COMPLETED`.
[[nodiscard]] std::string_view notification_kind_name(NotificationKind kind);
[[nodiscard]] std::optional<NotificationKind> parse_notification_kind(std::string_view text);

/// All reachable agents have received the notification; it is not sent again after a restart.
struct NotificationDelivered {
  static constexpr std::string_view kType = "NEWS_DELIVERED";
  NotificationKind kind = NotificationKind::kRoundAnnounced;
  int round = 0;  ///< the last one for kLeagueCompleted
  bool operator==(const NotificationDelivered&) const = default;
};

/// `kType` is its name in the journal.
using EventBody =
    std::variant<LeagueCreated, AgentRegistered, AgentReregistered, LeagueStarted, RoundStarted,
                 MatchAssigned, MatchReleased, MatchReported, MatchForfeited,
                 ReportConflictRecorded, StaleReportRecorded, FailureCounted, AgentStateChanged,
                 RoundCompleted, LeagueCompleted, LeagueContinued, NotificationDelivered,
                 MatchDisputed, OperatorActed, PlayersAsked, LogHeadsRecorded>;

/// Something that has happened to a league, in the past tense. Only events change a league.
struct Event {
  core::UtcTimestamp at;
  EventBody body;
  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

/// Whether one of `events` counts a failure of `agent`.
[[nodiscard]] bool counts_failure(const Events& events, AgentRef agent);

}  // namespace league::league_manager::events
