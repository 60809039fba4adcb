#include "tools/audit/rules/rules.h"

#include <algorithm>
#include <optional>

#include "game/commitment.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

/// The call for a choice that a player answered first in the last play of an attempt. `calls`: of
/// one player, in order. A second invitation begins no other play, unless the report says that
/// there were as many.
const GameCall* answered_call(const std::vector<const GameCall*>& calls, std::int64_t replays) {
  const GameCall* found = nullptr;
  bool is_invited_again = false;
  for (const GameCall* call : calls) {
    if (call->is_invitation) {
      is_invited_again = is_invited_again || (found != nullptr && call->accepts);
      continue;
    }
    if (call->choice.empty()) continue;
    const bool says_play = found != nullptr && call->play && found->play;
    const bool is_later = says_play ? *call->play > *found->play : is_invited_again && replays > 0;
    if (found != nullptr && !is_later) continue;
    if (found != nullptr) --replays;
    found = call;
    is_invited_again = false;
  }
  return found;
}

/// The records of one player's commitment in one attempt, from sealed logs.
struct SealedCommitment {
  bool has_ack = false;  ///< the player's own log has its answer to the invitation
  std::set<std::string> given;  ///< the commitments in these answers
  std::string last_given;
  bool has_call = false;  ///< the opponent's own log has a call for its choice
  std::string handed;  ///< the commitment in the last of them
  LogPosition place;  ///< of the newest of these records

  [[nodiscard]] bool holds(const std::string& commitment) const {
    return given.contains(commitment) || handed == commitment;
  }
};

SealedCommitment sealed_in(const std::vector<const GameCall*>& own,
                           const std::vector<const GameCall*>& of_opponent) {
  SealedCommitment sealed;
  for (const GameCall* call : own) {
    if (!call->is_invitation || !call->is_answered || !call->accepts) continue;
    sealed.has_ack = true;
    sealed.last_given = call->commitment;
    if (!call->commitment.empty()) sealed.given.insert(call->commitment);
    sealed.place = call->answer_place;
  }
  for (const GameCall* call : of_opponent) {
    if (call->is_invitation) continue;
    sealed.has_call = true;
    sealed.handed = call->opponent_commitment;
    if (!sealed.has_ack) sealed.place = call->place;
  }
  return sealed;
}

}  // namespace

HandedOver handed_to(const std::string& player, const AcceptedReport& report,
                     const MatchEvidence& match, const LeagueEvidence& evidence) {
  HandedOver handed;
  const LeagueLog* log = evidence.log_of("player:" + player);
  if (log == nullptr) return handed;
  auto calls = LeagueEvidence::own_calls(report, match, player);
  handed.call = answered_call(calls, read_report(report).replays);
  if (handed.call == nullptr) return handed;
  const std::size_t run = handed.call->run;
  handed.is_proof = is_sealed(*log->log, handed.call->answer_place) &&
                    std::ranges::any_of(calls, &GameCall::is_invitation) &&
                    std::ranges::all_of(calls, [&](const auto* one) { return one->run == run; });
  return handed;
}

namespace {

/// The commitments of one accepted report.
class CommitmentCheck : private ReportJudge {
 public:
  using ReportJudge::ReportJudge;

  void run() {
    if (!match_.is_announced() || !read_.form_error.empty()) return;
    for (const std::string& player : {match_.player_a, match_.player_b}) {
      auto listed = value_of(read_.claim.commitments, player);
      check_sealed(player, listed);
      check_opening(player, listed);
    }
  }

 private:
  void check_sealed(const std::string& player, const std::optional<std::string>& listed) {
    const std::string& opponent = match_.opponent_of(player);
    auto sealed = sealed_in(LeagueEvidence::own_calls(report_, match_, player),
                            LeagueEvidence::own_calls(report_, match_, opponent));
    const HandedOver handed = handed_to(opponent, report_, match_, evidence_);
    const bool is_given = !listed || sealed.given.empty() || sealed.given.contains(*listed);
    if (listed && is_given && handed.is_proof && handed.call->opponent_commitment != *listed)
      return not_handed(player, opponent, handed.call->opponent_commitment.empty());
    if (listed && is_given && is_late_at_referee(player, *listed))
      return fault("commitment.handed",
                   "by the own log of " + report_.sender + " its call to " + opponent + " in " +
                       report_.match_id + " left before " + player +
                       " had joined with the commitment that the report lists");
    if (handed.call != nullptr) sealed.handed = handed.call->opponent_commitment;
    std::string holder;
    if (!sealed.handed.empty() && !listed) {
      if (is_of_killed_referee()) return forgotten(player);
      holder = opponent;
    } else if ((!sealed.given.empty() && listed && !sealed.given.contains(*listed)) ||
               (!sealed.last_given.empty() && !listed && read_.is_played && is_own_referee())) {
      holder = player;
    }
    if (!holder.empty()) {
      return fault("commitment.dropped", "the sealed log of " + holder + " holds a commitment of " +
                                             player + " in " + report_.match_id +
                                             ", and the report of " + report_.sender +
                                             (listed ? " has a different one" : " has none") +
                                             ": one of the two records is false");
    }
    bool has_log = evidence_.log_of("player:" + player) != nullptr ||
                   evidence_.log_of("player:" + opponent) != nullptr;
    if (listed && has_log && !sealed.holds(*listed)) {
      incident("commitment.claimed", report_.sender + " reported a commitment of " + player +
                                         " in " + report_.match_id + " that no sealed log holds");
    }
  }

  void not_handed(const std::string& player, const std::string& opponent, bool is_without) {
    fault("commitment.handed", "the report of " + report_.sender + " on " + report_.match_id +
                                   " lists a commitment of " + player +
                                   " as one that counts, but the call " + "that " + opponent +
                                   " answered, in its own sealed log, has " +
                                   (is_without ? "none" : "another one"));
  }

  void forgotten(const std::string& player) {
    incident("commitment.forgotten",
             report_.sender + ", which was started again during " + report_.match_id +
                 ", reported a loss without the commitment of " + player +
                 " that it had handed over: it was killed, or ended itself");
  }

  /// Whether a referee that was killed during the attempt and started again reports a loss: it may
  /// not know what the process before it handed over, and a loss counts without it.
  [[nodiscard]] bool is_of_killed_referee() const {
    std::set<std::size_t> runs;
    for (const GameCall* call : match_.at_referee)
      if (LeagueEvidence::is_of(report_, match_, *call)) runs.insert(call->run);
    return !read_.is_played && runs.size() > 1;
  }

  /// Whether by the referee's own log the opponent of `player` was called before `player` had
  /// joined with this commitment. Other logs cannot tell: their clocks are others.
  [[nodiscard]] bool is_late_at_referee(const std::string& player,
                                        const std::string& listed) const {
    if (!read_.is_played) return false;
    const GameCall* join = nullptr;
    std::vector<const GameCall*> others;
    for (const GameCall* call : match_.at_referee) {
      if (!LeagueEvidence::is_of(report_, match_, *call)) continue;
      if (call->player == player && call->is_invitation && call->accepts &&
          call->commitment == listed && join == nullptr)
        join = call;
      if (call->player == match_.opponent_of(player)) others.push_back(call);
    }
    if (join == nullptr) return false;
    // One referee may play several attempts at once, of which the manager's log lacks some.
    std::erase_if(others,
                  [join](const auto* call) { return call->conversation != join->conversation; });
    const GameCall* asked = answered_call(others, read_.replays);
    return asked != nullptr && join->run == asked->run && asked->mono_ns < join->answered_mono_ns;
  }

  /// Whether the referee is one of this project; a third-party referee need not know commitments.
  [[nodiscard]] bool is_own_referee() const {
    return evidence_.has_match_credentials(report_.sender);
  }

  void check_opening(const std::string& player, const std::optional<std::string>& listed) {
    auto nonce = value_of(read_.claim.nonces, player);
    if (nonce && !game::is_hex_256(*nonce)) {
      return fault("commitment.opening", "the reported nonce of " + player + " in " +
                                             report_.match_id +
                                             " is not 64 characters of [0-9a-f]");
    }
    auto promised = LeagueEvidence::commitment_of(match_);
    if (!listed || !read_.is_played || !promised) return;
    auto choice = value_of(read_.claim.choices, player);
    bool is_open = nonce && choice &&
                   *listed == game::choice_commitment({.draw_commitment = *promised,
                                                       .match_id = report_.match_id,
                                                       .player_id = player,
                                                       .choice = *choice,
                                                       .nonce = *nonce});
    if (is_open) return;
    fault("commitment.opening", "the reported choice and nonce of " + player + " in " +
                                    report_.match_id + " do not match its commitment");
  }
};

/// Checks that, once both commitments count, they stay the same in all attempts of a match.
class AttemptCheck {
 public:
  AttemptCheck(const std::string& id, const MatchEvidence& match, const LeagueEvidence& evidence,
               Findings& findings)
      : id_(id), match_(match), evidence_(evidence), findings_(findings) {}

  void run() {
    std::vector<const GameCall*> calls = match_.own;
    std::ranges::stable_sort(calls, {}, &GameCall::time_us);
    std::vector<std::string> conversations;
    for (const GameCall* call : calls) {
      if (std::ranges::find(conversations, call->conversation) == conversations.end())
        conversations.push_back(call->conversation);
    }
    for (const std::string& conversation : conversations) {
      if (!is_after_the_end(conversation, calls)) take_attempt(conversation, calls);
    }
  }

 private:
  using Both = std::map<std::string, std::string>;  ///< player to commitment

  /// An assignment can be delivered late, after another attempt has decided the match. By then the
  /// players have opened their commitments and may have forgotten them, so their answers do not
  /// count unless a result follows from them. Each player's log is compared with itself only, since
  /// clocks differ.
  [[nodiscard]] bool is_after_the_end(const std::string& conversation,
                                      const std::vector<const GameCall*>& calls) const {
    if (report_of(conversation) != nullptr) return false;
    return std::ranges::any_of(calls, [&](const GameCall* call) {
      if (call->conversation != conversation || !call->is_invitation || !call->is_answered)
        return false;
      const LeagueLog* log = evidence_.log_of("player:" + call->player);
      return log != nullptr &&
             std::ranges::any_of(log->facts.ends, [&](const ReceivedGameOver& told) {
               return told.match_id == id_ && told.time_us <= call->answered_us;
             });
    });
  }

  void take_attempt(const std::string& conversation, const std::vector<const GameCall*>& calls) {
    std::map<std::string, std::vector<const GameCall*>> by_player;
    for (const GameCall* call : calls) {
      if (call->conversation == conversation) by_player[call->player].push_back(call);
    }
    Both counting;
    for (const std::string& player : {match_.player_a, match_.player_b}) {
      const std::string& opponent = match_.opponent_of(player);
      auto sealed = sealed_in(by_player[player], by_player[opponent]);
      if (bound_) check_again(player, sealed, conversation);
      bool opponent_has_log = evidence_.log_of("player:" + opponent) != nullptr;
      std::string counted = !sealed.handed.empty() ? sealed.handed
                            : opponent_has_log     ? std::string()
                                                   : sealed.last_given;
      // What a referee handed over, but the player never gave, binds nobody.
      if (sealed.has_ack && !sealed.given.contains(counted)) counted.clear();
      if (!counted.empty()) counting[player] = counted;
    }
    if (!bound_ && counting.size() == 2) bound_ = counting;
  }

  void check_again(const std::string& player, const SealedCommitment& sealed,
                   const std::string& conversation) {
    const std::string& bound = bound_->at(player);
    const AcceptedReport* report = report_of(conversation);
    // Where the player has a log, what somebody handed over in its name is not its own.
    bool differs =
        sealed.has_ack ? sealed.last_given != bound : sealed.has_call && sealed.handed != bound;
    if (!sealed.has_ack && !sealed.has_call && report != nullptr) {
      ReadReport read = read_report(*report);
      differs = read.is_played && value_of(read.claim.commitments, player) != bound;
    }
    if (!differs) return;
    const bool has_log = evidence_.log_of("player:" + player) != nullptr;
    findings_.fault(report != nullptr ? report->place : sealed.place, "commitment.second",
                    player + " had bound itself in an earlier attempt of " + id_ + ", but in " +
                        conversation + " its commitment is another one or missing" +
                        (has_log ? ""
                                 : "; without its log, the referee of that attempt may also "
                                   "have handed over what the player never gave"));
  }

  [[nodiscard]] const AcceptedReport* report_of(const std::string& conversation) const {
    for (const AcceptedReport* one : match_.reports) {
      if (LeagueEvidence::conversation_of(*one, match_) == conversation) return one;
    }
    return nullptr;
  }

  const std::string& id_;
  const MatchEvidence& match_;
  const LeagueEvidence& evidence_;
  Findings& findings_;
  std::optional<Both> bound_;
};

/// Whether the manager ran a player of the match when it ended.
bool is_hosted(const MatchEvidence& match, const JournalResult& result, const JournalLeague& kept) {
  const auto& hosted = result.hosted ? *result.hosted : *kept.hosted;
  return hosted.contains(match.player_a) || hosted.contains(match.player_b);
}

}  // namespace

void check_commitments(const LeagueCase& league, Findings& findings) {
  for (const auto& [id, match] : league.evidence.matches()) {
    for (const AcceptedReport* report : match.reports)
      CommitmentCheck(*report, match, league.evidence, findings).run();
    if (match.is_announced()) AttemptCheck(id, match, league.evidence, findings).run();
  }
}

void check_hosted(const LeagueCase& league, Findings& findings) {
  for (const JournalResult& result : league.kept->results) {
    const MatchEvidence* match = league.evidence.match(result.match_id);
    if (result.fairness != "both" && result.fairness != "one") continue;
    if (match == nullptr || match->reports.empty() || !is_hosted(*match, result, *league.kept))
      continue;
    findings.fault(match->reports.back()->place, "fairness.hosted",
                   "the manager calls " + result.match_id + " \"" + result.fairness +
                       "\", but it runs a player of that match itself, whose choice it knows "
                       "before that is revealed");
  }
}

std::string sealed_fairness(const AcceptedReport& report, const MatchEvidence& match,
                            const LeagueEvidence& evidence, const JournalLeague* kept) {
  if (!match.disputes.empty()) return "disputed";
  ReadReport read = read_report(report);
  int counting = 0;
  for (const std::string& player : {match.player_a, match.player_b}) {
    auto listed = value_of(read.claim.commitments, player);
    if (!listed) continue;
    if (!read.is_played) {  // nobody need have been called
      if (!sealed_in(LeagueEvidence::own_calls(report, match, player),
                     LeagueEvidence::own_calls(report, match, match.opponent_of(player)))
               .holds(*listed))
        return "claimed";
      ++counting;
      continue;
    }
    const std::string& opponent = match.opponent_of(player);
    const HandedOver handed = handed_to(opponent, report, match, evidence);
    if (!handed.is_proof && has_valid_receipts(opponent, report.match_id, match, kept)) {
      ++counting;
      continue;
    }
    if (!handed.is_proof || handed.call->opponent_commitment != *listed) return "claimed";
    ++counting;
  }
  if (counting == 0) return "none";
  if (kept != nullptr && std::ranges::any_of(kept->results, [&](const JournalResult& result) {
        return result.match_id == report.match_id && is_hosted(match, result, *kept);
      }))
    return "hosted";
  return counting == 2 ? "both" : "one";
}

}  // namespace league::tools::auditor
