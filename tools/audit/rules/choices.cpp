#include "tools/audit/rules/rules.h"

#include <algorithm>
#include <cstdlib>

#include "game/commitment.h"
#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

constexpr std::int64_t kSecondUs = 1'000'000;

/// What the player had at a time-out, by the referee, in microseconds; nothing if it does not say.
std::optional<std::int64_t> limit_us(const ReportedFailure& failure) {
  constexpr std::int64_t kLongestMs = 1'000'000'000'000'000;
  if (failure.code != "E001" || !failure.clock || failure.clock->limit_ms.value_or(-1) < 0)
    return std::nullopt;
  return std::min(*failure.clock->limit_ms, kLongestMs) * 1000;
}

/// The time for the answer to a call: by the call itself, whose deadline was sealed before anybody
/// knew how the match ends. The referee's word counts where that leaves it open: messages have
/// whole seconds, and invitations may have no deadline.
std::int64_t limit_of(const GameCall& call, const ReportedFailure& failure) {
  const auto limit = limit_us(failure);
  if (limit && (!call.allowed_us || std::abs(*limit - *call.allowed_us) <= kSecondUs))
    return *limit;
  return call.allowed_us.value_or((call.is_invitation ? 5 : 30) * kSecondUs);
}

/// Whether `call` can be the one that failed, by its type and the referee's own clock. Others in
/// the same attempt may have another limit: after an invalid answer only the rest of the time is
/// left.
bool is_the_failed(const GameCall& call, const ReportedFailure& failure) {
  return failure.call == (call.is_invitation ? "GAME_INVITATION" : "CHOOSE_PARITY_CALL") &&
         call.allowed_us && std::abs(call.stated_us - *failure.clock->sent_us) <= 2 * kSecondUs;
}

/// Whether a failure with this code does not prove that a record is false: the network or the host
/// may be the cause, or the failure is about a token, which logs mask.
bool is_nobodys_word(const std::string& code) {
  return code == "E001" || code == "E009" || code == "E011" || code == "E012" || code == "E014";
}

class ChoiceCheck : private ReportJudge {
 public:
  ChoiceCheck(const AcceptedReport& report, const MatchEvidence& match,
              const LeagueEvidence& evidence, game::SharedDefinition rules, Findings& findings)
      : ReportJudge(report, match, evidence, findings), rules_(std::move(rules)) {}

  void run() {
    if (!match_.is_announced() || !read_.form_error.empty()) return;
    for (const std::string& player : {match_.player_a, match_.player_b}) {
      auto own = LeagueEvidence::own_calls(report_, match_, player);
      const LeagueLog* log = evidence_.log_of("player:" + player);
      if (log != nullptr && read_.is_played) check_presence(player, own, *log);
      check_choice(player, own, log != nullptr);
      if (read_.is_played || log == nullptr || read_.termination.empty()) continue;
      check_limits(player, own);
      check_loss(player, own);
    }
  }

 private:
  /// When the match was first assigned to a referee, if that is known.
  [[nodiscard]] std::int64_t assigned_time() const {
    std::int64_t time = report_.time_us;
    for (const Assignment* one : match_.assignments) time = std::min(time, one->time_us);
    return time;
  }

  void check_presence(const std::string& player, const std::vector<const GameCall*>& own,
                      const LeagueLog& log) {
    bool has_key =
        std::ranges::any_of(evidence_.registrations_of("player:" + player),
                            [](const Registration* one) { return !one->log_key.empty(); });
    if (!has_key) return;
    bool invited = false, called = false, answered = false;
    for (const GameCall* call : own) {
      (call->is_invitation ? invited : called) = true;
      answered = answered || !call->choice.empty();
    }
    if (invited && called && answered) return;
    if (may_be_lost(*log.log, assigned_time(), report_.time_us)) return;
    findings_.miss(report_.place, "choice.absent",
                   report_.match_id + " was played, but the log of " + player + " has no " +
                       (!invited  ? "invitation to it"
                        : !called ? "call for a choice"
                                  : "answer") +
                       ". Ask whoever runs " + player + " for the whole log, or use --without " +
                       player);
  }

  /// Checks the reported choice against the player's own log; for a bot without a log, against the
  /// referee's.
  void check_choice(const std::string& player, const std::vector<const GameCall*>& own,
                    bool has_log) {
    const std::string reported = value_of(read_.claim.choices, player).value_or("");
    if (reported.empty()) return;
    std::set<std::string> at_player, at_referee;
    for (const GameCall* call : own) {
      if (!call->choice.empty()) at_player.insert(call->choice);
    }
    for (const GameCall* call : match_.at_referee) {
      if (call->player == player && LeagueEvidence::is_of(report_, match_, *call) &&
          call->is_answer_accepted && !call->choice.empty())
        at_referee.insert(call->choice);
    }
    const auto& word = has_log ? at_player : at_referee;
    if (word.empty() || word.contains(reported)) return;
    std::string text = report_.sender + " reported that " + player + " chose " + reported + " in " +
                       report_.match_id + ", but by " +
                       (has_log ? "its own sealed answer" : "the referee's own log") +
                       " it chose " + *word.begin() + ": one of the two records is false";
    if (has_log && !at_referee.empty())
      text += "; the log of " + report_.sender + " says that it got " + *at_referee.begin();
    fault("choice.differs", text + opponents_word(player, own));
  }

  /// A sentence on which choice opens the commitment in the opponent's log; empty if none is known
  /// to.
  [[nodiscard]] std::string opponents_word(const std::string& player,
                                           const std::vector<const GameCall*>& own) const {
    for (const GameCall* held : match_.own) {
      if (held->player != match_.opponent_of(player) || held->opponent_commitment.empty()) continue;
      for (const GameCall* call : own) {
        if (!call->choice.empty() && opens(held->opponent_commitment, player, *call))
          return "; the commitment in the log of " + held->player + " is that of " + call->choice;
      }
    }
    return {};
  }

  [[nodiscard]] bool opens(const std::string& commitment, const std::string& player,
                           const GameCall& call) const {
    auto promised = LeagueEvidence::commitment_of(match_);
    return promised && game::is_hex_256(call.nonce) &&
           commitment == game::choice_commitment({.draw_commitment = *promised,
                                                  .match_id = report_.match_id,
                                                  .player_id = player,
                                                  .choice = call.choice,
                                                  .nonce = call.nonce});
  }

  /// Checks that the player had the time that the report says, by the calls in its own log.
  void check_limits(const std::string& player, const std::vector<const GameCall*>& own) {
    for (const ReportedFailure& failure : read_.failures_of(player)) {
      const auto limit = limit_us(failure);
      if (!limit || !failure.clock->sent_us) continue;
      const GameCall* other = nullptr;
      bool fits = false;
      for (const GameCall* call : own) {
        if (!is_the_failed(*call, failure)) continue;
        other = call;
        fits = fits || std::abs(*limit - *call->allowed_us) <= 3 * kSecondUs;
      }
      if (fits || other == nullptr) continue;
      return fault("clock.limit", report_.sender + " reported that " + player + " had " +
                                      std::to_string(*limit / 1000) + " ms at " + failure.call +
                                      " of " + report_.match_id +
                                      ", but by the call in the player's own sealed log it had " +
                                      std::to_string(*other->allowed_us / 1000) + " ms");
    }
  }

  void check_loss(const std::string& player, const std::vector<const GameCall*>& own) {
    if (!read_.has_lost(player)) return;
    const auto failures = read_.failures_of(player);
    const auto failure = failures.empty() ? ReportedFailure() : failures.back();
    if (failure.code == "E038") return;  // the player was not called
    if (failure.call.empty() && read_.failed().contains(match_.opponent_of(player)) &&
        !read_.failed().contains(player))
      return;
    bool invitation = failure.call.empty() || failure.call == "GAME_INVITATION";
    bool choice = failure.call.empty() || failure.call == "CHOOSE_PARITY_CALL";
    bool is_answered = (!invitation || is_good_answer(player, own, true, failure)) &&
                       (!choice || is_good_answer(player, own, false, failure));
    if (!is_answered || (!invitation && !choice)) return;
    bool is_incident = failure.code.empty() ? read_.termination.starts_with("TIMEOUT") ||
                                                  read_.termination.starts_with("CONNECTION")
                                            : is_nobodys_word(failure.code);
    std::string text = report_.match_id + " was lost by " + player + " (" + read_.termination +
                       (failure.code.empty() ? "" : ", " + failure.code) +
                       "), but its own sealed log has the answer, valid and in time";
    if (is_incident) {
      incident("loss.contradicted", text + ": the network or " + report_.sender + " lost it");
    } else {
      fault("loss.contradicted", text + ": its record or that of " + report_.sender + " is false");
    }
  }

  /// Whether the player's own log has a valid answer, in time, to its last invitation or call for a
  /// choice.
  [[nodiscard]] bool is_good_answer(const std::string& player,
                                    const std::vector<const GameCall*>& own, bool is_invitation,
                                    const ReportedFailure& failure) const {
    const GameCall* last = nullptr;
    std::string commitment;
    for (const GameCall* call : own) {
      if (call->is_invitation && call->is_answered) commitment = call->commitment;
      if (call->is_invitation == is_invitation) last = call;
    }
    if (last == nullptr || !last->is_answered ||
        last->answered_us - last->time_us > limit_of(*last, failure))
      return false;
    if (is_invitation) return last->accepts && (commitment.empty() || game::is_hex_256(commitment));
    return rules_ != nullptr && rules_->check_choice(last->choice).has_value() &&
           (commitment.empty() || opens(commitment, player, *last));
  }

  const game::SharedDefinition rules_;
};

}  // namespace

void check_choices(const LeagueCase& league, Findings& findings) {
  for (const auto& [id, match] : league.evidence.matches()) {
    auto rules = league.evidence.game_of(match.game_type);
    for (const AcceptedReport* report : match.reports)
      ChoiceCheck(*report, match, league.evidence, rules ? *rules : nullptr, findings).run();
  }
}

}  // namespace league::tools::auditor
