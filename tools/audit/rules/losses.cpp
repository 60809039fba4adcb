#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

/// A technical loss of one player in an accepted report, at a call that had left its referee.
struct HeardLoss {
  const AcceptedReport* report = nullptr;
  const MatchEvidence* match = nullptr;
  std::string player;
  std::string call;  ///< message type
  std::int64_t attempt = 0;
};

/// The call at which `player` lost, by the report; empty unless it came as far as the player.
std::string heard_call(const ReadReport& report, const std::string& player) {
  const auto failures = report.failures_of(player);
  const bool is_heard =
      !failures.empty() && (failures.back().phase == "sent" || failures.back().phase == "answered");
  return is_heard ? failures.back().call : std::string();
}

std::vector<HeardLoss> heard_losses(const LeagueEvidence& evidence) {
  std::vector<HeardLoss> losses;
  for (const auto& [id, match] : evidence.matches()) {
    if (!match.is_announced()) continue;
    for (const AcceptedReport* report : match.reports) {
      const ReadReport read = read_report(*report);
      if (!read.form_error.empty() || read.is_played || !read.claim.score) continue;
      const Assignment* given = match.assigned_in(report->conversation);
      for (const auto& [player, points] : *read.claim.score) {
        const std::string call = heard_call(read, player);
        if (read.has_lost(player) && !call.empty())
          losses.push_back({report, &match, player, call,
                            read.attempt.value_or(given != nullptr ? given->attempt : 0)});
      }
    }
  }
  return losses;
}

/// Whether one process wrote the log from before `first_us` to after `last_us`.
bool is_unbroken(const CheckedLog& log, std::int64_t first_us, std::int64_t last_us) {
  return std::ranges::any_of(log.contents.runs, [&](const auto& run) {
    return run.second.begins_us <= first_us && last_us <= run.second.ends_us;
  });
}

class LossCheck {
 public:
  LossCheck(const LeagueEvidence& evidence, const JournalLeague* kept, Findings& findings)
      : evidence_(evidence), kept_(kept), findings_(findings) {}

  void run() {
    std::map<std::string, std::vector<const HeardLoss*>> unwitnessed;
    const auto losses = heard_losses(evidence_);
    for (const HeardLoss& loss : losses) {
      check_question(loss);
      if (is_unwitnessed(loss)) unwitnessed[loss.report->sender].push_back(&loss);
    }
    for (const auto& [referee, all] : unwitnessed) {
      for (const HeardLoss* loss : all)
        findings_.incident(
            loss->report->place, "loss.unwitnessed",
            referee + " reported that " + loss->player + " lost " + loss->report->match_id +
                " at " + loss->call +
                ", a call that the player's log, which is unbroken, does not have; " +
                "such losses of this referee: " + std::to_string(all.size()));
    }
  }

 private:
  [[nodiscard]] bool has_receipts(const std::string& player) const {
    if (kept_ != nullptr && kept_->with_receipts.contains(player)) return true;
    return std::ranges::any_of(evidence_.registrations_of("player:" + player),
                               [](const Registration* one) { return one->receipts; });
  }

  void check_question(const HeardLoss& loss) {
    if (!has_receipts(loss.player) || proves_decline(loss)) return;
    const bool is_noted = kept_ == nullptr || kept_->results.empty() ||
                          std::ranges::any_of(kept_->questions, [&](const JournalQuestion& one) {
                            return one.match_id == loss.report->match_id &&
                                   (loss.attempt == 0 || one.attempt == loss.attempt) &&
                                   one.players.contains(loss.player);
                          });
    if (is_noted && is_logged(loss)) return;
    findings_.fault(loss.report->place, "loss.unheard",
                    "the manager accepted that " + loss.player + " lost " + loss.report->match_id +
                        ", but " + (is_noted ? "its log" : "its journal") +
                        " does not show that it asked the player");
  }

  /// The player's own receipt says that it declined, so it was not asked. Whether it is the
  /// player's is checked where receipts are.
  [[nodiscard]] bool proves_decline(const HeardLoss& loss) const {
    const json& receipts = field_at(field_at(loss.report->result, "details"), "receipts");
    return has_declined(*loss.report, loss.player) &&
           !text_at(field_at(receipts, loss.player.c_str()), "join").empty() &&
           (kept_ == nullptr ||
            has_valid_receipts(loss.player, loss.report->match_id, *loss.match, kept_));
  }

  /// Whether the manager's log has the question, or may have lost it.
  [[nodiscard]] bool is_logged(const HeardLoss& loss) const {
    const LeagueLog* manager = evidence_.log_of("league_manager");
    if (manager == nullptr) return true;
    std::int64_t first = loss.report->time_us;
    for (const Assignment* one : loss.match->assignments) first = std::min(first, one->time_us);
    if (may_be_lost(*manager->log, first, loss.report->time_us)) return true;
    return std::ranges::any_of(manager->facts.questions, [&](const Question& one) {
      return one.match_id == loss.report->match_id && one.player == loss.player &&
             one.time_us >= first && one.time_us <= loss.report->time_us;
    });
  }

  [[nodiscard]] bool is_unwitnessed(const HeardLoss& loss) const {
    const LeagueLog* log = evidence_.log_of("player:" + loss.player);
    const Assignment* given =
        loss.match->assigned_in(LeagueEvidence::conversation_of(*loss.report, *loss.match));
    if (log == nullptr || given == nullptr ||
        !is_unbroken(*log->log, given->time_us, loss.report->time_us))
      return false;
    const auto own = LeagueEvidence::own_calls(*loss.report, *loss.match, loss.player);
    return std::ranges::none_of(own, [&](const GameCall* call) {
      return call->is_invitation == (loss.call == "GAME_INVITATION");
    });
  }

  const LeagueEvidence& evidence_;
  const JournalLeague* kept_;
  Findings& findings_;
};

/// How likely it is that of `all` decided matches at least `won` go to one side, which has half of
/// them in honest play.
double likelihood(int all, int won) {
  double sum = 0;
  for (int i = won; i <= all; ++i)
    sum += std::exp(std::lgamma(all + 1.0) - std::lgamma(i + 1.0) - std::lgamma(all - i + 1.0) -
                    all * std::log(2.0));
  return sum;
}

}  // namespace

void check_losses(const LeagueCase& league, Findings& findings) {
  LossCheck(league.evidence, league.kept, findings).run();
}

void note_steered(const LeagueCase& league, Findings& findings) {
  struct Count {
    int decided = 0;
    int by_unbound = 0;
    LogPosition first;
  };
  std::map<std::string, Count> counts;
  for (const auto& [id, match] : league.evidence.matches()) {
    if (match.reports.empty() || !match.is_announced()) continue;
    const AcceptedReport& report = *match.reports.front();
    const ReadReport read = read_report(report);
    if (!read.is_played || !read.form_error.empty() || !read.claim.winner) continue;
    const bool binds_a = value_of(read.claim.commitments, match.player_a).has_value();
    const bool binds_b = value_of(read.claim.commitments, match.player_b).has_value();
    if (binds_a == binds_b) continue;
    Count& count = counts[report.sender];
    if (count.decided++ == 0) count.first = report.place;
    if (*read.claim.winner == (binds_a ? match.player_b : match.player_a)) ++count.by_unbound;
  }
  constexpr double kUnlikely = 1e-4;
  for (const auto& [referee, count] : counts) {
    if (likelihood(count.decided, count.by_unbound) >= kUnlikely) continue;
    findings.incident(count.first, "draw.steered",
                      "of " + std::to_string(count.decided) + " decided matches of " + referee +
                          " in which one player had committed, the other won " +
                          std::to_string(count.by_unbound) +
                          ": in honest play that is rarer than once in 10,000 leagues");
  }
}

namespace {

constexpr int kMostReplays = 3;
constexpr std::string_view kTimedOut = "E001";

/// Whether a time-out is void by the rule: a delay of more than 50 ms and more than 5 % of the
/// limit.
bool is_void_by_rule(const ReportedClock& clock) {
  const std::int64_t delay =
      std::max({clock.scheduling_delay_us, clock.canary_us, clock.seat_delay_us});
  // Divided instead of multiplied: the limit can be any number.
  return delay > 50'000 && (delay - 1) / 50 >= clock.limit_ms.value_or(0);
}

/// The failures that cost `player` the match: those of its last call, in the last play.
std::vector<ReportedFailure> fatal_failures(const ReadReport& report, const std::string& player) {
  const auto failures = report.failures_of(player);
  std::vector<ReportedFailure> fatal;
  for (auto it = failures.rbegin(); it != failures.rend(); ++it) {
    if (!fatal.empty() && (it->call != fatal.back().call || it->attempt > fatal.back().attempt))
      break;
    // An attempt can have invalid answers and then one time-out as its end, so an earlier time-out
    // with the same number is from an earlier play.
    if (!fatal.empty() && it->attempt == fatal.back().attempt && it->code == kTimedOut) break;
    fatal.push_back(*it);
  }
  return fatal;
}

class ClockCheck {
 public:
  ClockCheck(const AcceptedReport& report, Findings& findings)
      : report_(report), read_(read_report(report)), findings_(findings) {}

  void run() {
    if (read_.replays > kMostReplays)
      fault("clock.replays",
            "played again " + std::to_string(read_.replays) + " times; 3 are allowed");
    for (const ReportedFailure& failure : read_.failures) check_arithmetic(failure);
    if (!read_.claim.score ||
        (!read_.termination.starts_with("TIMEOUT_") && read_.termination != "BOTH_FAILED"))
      return;
    for (const auto& [player, points] : *read_.claim.score) {
      if (read_.has_lost(player)) check_loss(player);
    }
  }

 private:
  void fault(const char* rule, const std::string& text) {
    findings_.fault(report_.place, rule, report_.match_id + ": " + text);
  }

  void check_arithmetic(const ReportedFailure& failure) {
    if (!failure.clock || failure.clock->is_void == is_void_by_rule(*failure.clock)) return;
    fault("clock.arithmetic", "a time-out of " + failure.player + " is marked " +
                                  (failure.clock->is_void ? "void" : "valid") +
                                  ", but its numbers say otherwise");
  }

  void check_loss(const std::string& player) {
    auto fatal = fatal_failures(read_, player);
    if (fatal.empty() || fatal.front().code != kTimedOut) return;  // not a time-out
    for (const ReportedFailure& failure : fatal) {
      if (failure.code != kTimedOut) continue;
      if (!failure.clock) {
        fault("clock.unproven",
              player + " lost by a time-out, without proof that the referee was on time");
      } else if (failure.clock->is_void && read_.replays < kMostReplays) {
        fault("clock.void_loss",
              player + " lost by a time-out, though the referee itself was late");
      }
    }
  }

  const AcceptedReport& report_;
  const ReadReport read_;
  Findings& findings_;
};

}  // namespace

void check_clock(const AcceptedReport& report, Findings& findings) {
  ClockCheck(report, findings).run();
}

}  // namespace league::tools::auditor
