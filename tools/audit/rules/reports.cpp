#include <algorithm>

#include "game/draw.h"
#include "league_manager/events/match_key.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

using game::Side;

/// Checks one accepted report against the facts about its match.
class ReportCheck : private ReportJudge {
 public:
  using ReportJudge::ReportJudge;

  std::optional<Score> run() {
    check_assignment();
    if (!match_.is_announced()) {
      // A manager that was killed can have lost the record of the announcement.
      const LeagueLog* manager = evidence_.log_of("league_manager");
      if (manager == nullptr || !may_be_lost(*manager->log, 0, report_.time_us))
        fault("result.unknown_match", report_.match_id + " was never announced");
      return std::nullopt;
    }
    if (!read_.form_error.empty()) {
      fault("result.form", "the report of " + report_.match_id +
                               " is not a result of this game: " + read_.form_error);
      return std::nullopt;
    }
    auto rules = evidence_.game_of(match_.game_type.empty() ? report_.game_type : match_.game_type);
    if (!rules) {
      findings_.notes.push_back(report_.match_id + ": " + rules.error().message);
      return std::nullopt;
    }
    auto score = check_points(**rules);
    judge(**rules);
    check_clock(report_, findings_);
    return score;
  }

 private:
  void contradict(const char* rule, std::string text) {
    is_consistent_ = false;
    fault(rule, std::move(text));
  }

  /// A report in a conversation that was never assigned is accepted from every referee that had the
  /// match in any attempt: it may have had the match, lost it and got it again.
  void check_assignment() {
    const Assignment* given = match_.assigned_in(report_.conversation);
    bool had_it = LeagueEvidence::is_referee_of(report_.sender, match_);
    if (given != nullptr)  // a referee that was asked first may have refused
      had_it = std::ranges::any_of(match_.assignments, [&](const Assignment* one) {
        return one->conversation == report_.conversation &&
               "referee:" + one->referee == report_.sender;
      });
    if (!had_it) {
      const std::string& holder = (given != nullptr ? given : match_.assignments.back())->referee;
      fault("authority.report", report_.sender + " reported a match of " + holder);
    }
    if (report_.round.is_number_integer() && match_.round != 0 &&
        report_.round.get<std::int64_t>() != match_.round && !is_round_of_id()) {
      fault("result.round", report_.match_id + " is a match of round " +
                                std::to_string(match_.round) + ", not of the reported one");
    }
    if (!report_.game_type.empty() && !match_.game_type.empty() &&
        report_.game_type != match_.game_type) {
      fault("result.game",
            report_.match_id + " is a match of " + match_.game_type + ", not of the reported game");
    }
    check_attempt(given);
  }

  /// Whether the reported round is that of the match's id: a match of a round in which none could
  /// be played is announced among those of a later round.
  [[nodiscard]] bool is_round_of_id() const {
    const auto key = league_manager::events::MatchKey::parse(report_.match_id);
    return key && report_.round == key->round;
  }

  /// Third-party referees may number attempts differently.
  void check_attempt(const Assignment* given) {
    bool is_own = evidence_.has_match_credentials(report_.sender) || !evidence_.knows_credentials();
    if (!read_.attempt || !is_own) return;
    bool is_known = given != nullptr;
    bool fits = false;
    bool can_tell = false;
    for (const Assignment* one : match_.assignments) {
      if (one->attempt == 0 || (is_known && one->conversation != report_.conversation)) continue;
      can_tell = true;
      fits = fits || one->attempt == *read_.attempt;
    }
    if (can_tell && !fits)
      fault("result.attempt", "attempt " + std::to_string(*read_.attempt) + " of " +
                                  report_.match_id + " was not assigned to this report's referee");
  }

  [[nodiscard]] std::optional<int> points_of(const std::string& player) const {
    for (const auto& [id, points] : *read_.claim.score) {
      if (id == player) return points;
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::string& player(Side side) const {
    return side == Side::kA ? match_.player_a : match_.player_b;
  }

  std::optional<Score> check_points(const game::Definition& rules) {
    auto a = points_of(match_.player_a);
    auto b = points_of(match_.player_b);
    std::optional<game::Outcome> outcome;
    if (a && b) outcome = rules.outcome_of({{*a, *b}}, read_.is_technical());
    if (!outcome) {
      contradict("result.score",
                 "the score of " + report_.match_id + " is not a result of this game");
      return std::nullopt;
    }
    auto side = game::winner_of(*outcome);
    auto expected = side ? std::optional(player(*side)) : std::nullopt;
    if (read_.claim.winner != expected) {
      contradict("result.winner", "by the score " + (expected ? *expected : std::string("nobody")) +
                                      " won " + report_.match_id + ", not the reported winner");
    } else {
      check_termination(*outcome, expected);
    }
    return Score{*outcome, {{*a, *b}}};
  }

  void check_termination(game::Outcome outcome, const std::optional<std::string>& winner) {
    const std::string& termination = read_.termination;
    if (termination.empty()) return;
    bool nobody = outcome == game::Outcome::kNoWinner;
    bool fits = termination == "NORMAL"        ? !nobody
                : termination == "BOTH_FAILED" ? nobody
                                               : !nobody && outcome != game::Outcome::kDraw;
    if (!fits)
      return contradict("result.score",
                        "a match that ended with " + termination + " cannot have this score");
    if (termination != "NORMAL" && winner && read_.failed() == std::set<std::string>{*winner})
      contradict("result.winner", *winner + " is the only one that failed in " + report_.match_id +
                                      ", and cannot have won it by that");
  }

  void judge(const game::Definition& rules) {
    game::MatchFacts facts;
    facts.match_id = report_.match_id;
    for (Side side : game::kBothSides) facts.players[side] = player(side);
    const std::string& seed = read_.claim.seed ? *read_.claim.seed : std::string();
    facts.draw_commitment = promised_for(seed);
    for (const auto& one : game::judge(rules, facts, read_.claim).contradictions) take(one);
  }

  /// If there are several draw commitments, which the rule `draw.commitment` reports, the one that
  /// the seed matches counts.
  [[nodiscard]] std::optional<std::string> promised_for(const std::string& seed) const {
    auto parsed = game::parse_seed(seed);
    if (parsed) {
      std::string own = game::draw_commitment(*parsed, report_.match_id);
      if (match_.commitments.contains(own)) return own;
    }
    return match_.commitments.empty() ? std::nullopt
                                      : std::optional(match_.commitments.begin()->first);
  }

  void take(const game::Contradiction& one) {
    using game::Aspect;
    std::string text = report_.match_id + ": " + one.text;
    switch (one.aspect) {
      case Aspect::kUnproven:
        return unproven(std::move(text));
      case Aspect::kProof:
        return fault("draw.proof", std::move(text));
      case Aspect::kVersion:
        return fault("draw.version", std::move(text));
      case Aspect::kNumber:
        return fault(
            read_.is_played && one.field == "drawn_number" ? "draw.number" : "result.number",
            std::move(text));
      case Aspect::kChoice:
        if (read_.is_played) fault("result.form", std::move(text));
        return;
      case Aspect::kWinner:
        // Not for a report that contradicts itself, which is already a fault.
        if (is_consistent_) fault("draw.winner", std::move(text));
        return;
      case Aspect::kScore:
        if (read_.is_played && is_consistent_) fault("result.score", std::move(text));
        return;
      case Aspect::kForm:  // check_points() and the rules of choices and commitments say it
      case Aspect::kOpening:
        return;
    }
  }

  void unproven(std::string text) {
    bool is_foreign = evidence_.knows_credentials() &&
                      !evidence_.registrations_of(report_.sender).empty() &&
                      !evidence_.has_match_credentials(report_.sender);
    if (!is_foreign) return fault("draw.unrevealed", std::move(text));
    incident("result.unproven",
             text + "; " + report_.sender +
                 " is a third-party referee: nobody can check the number of this match");
  }

  bool is_consistent_ = true;  ///< winner, score and the way it ended fit together
};

}  // namespace

std::optional<Score> check_report(const AcceptedReport& report, const LeagueEvidence& evidence,
                                  Findings& findings) {
  const MatchEvidence* match = evidence.match(report.match_id);
  if (match == nullptr) return std::nullopt;
  return ReportCheck(report, *match, evidence, findings).run();
}

bool check_seed(const std::string& match_id, const std::string& seed, const LogPosition& place,
                const LeagueEvidence& evidence, Findings& findings) {
  auto parsed = game::parse_seed(seed);
  if (!parsed) {
    findings.fault(place, "draw.proof", match_id + ": draw_proof is not a seed of 256 bits");
    return false;
  }
  const MatchEvidence* match = evidence.match(match_id);
  if (match != nullptr && match->commitments.contains(game::draw_commitment(*parsed, match_id)))
    return true;
  findings.fault(place, "draw.proof",
                 match_id + ": the revealed seed is not the one that was committed to");
  return false;
}

}  // namespace league::tools::auditor
