// What the operator is told of reports, receipts and disputes.
#include "common/core/text.h"
#include "league_manager/core/player_record.h"
#include "league_manager/rounds/operator_log.h"

namespace league::league_manager::rounds {

namespace {

constexpr int kManyContradictions = 3;

}  // namespace

void OperatorLog::on_conflict(const events::ReportConflictRecorded& conflict) const {
  tell({.is_warning = true,
        .event = "RESULT_CONFLICT",
        .text = shown(events::AgentRef::referee(conflict.referee)) +
                " reported a different result for " + conflict.match.id().str() +
                "; the first one stands",
        .fields = {{"match", conflict.match.id().str()}}});
}

void OperatorLog::on_stale_report(const events::StaleReportRecorded& stale) const {
  tell({.is_warning = true,
        .event = "STALE_REPORT",
        .text = shown(events::AgentRef::referee(stale.referee)) + " reported " +
                stale.match.id().str() +
                " after the match had been taken back; the report does not count",
        .fields = {{"match", stale.match.id().str()}}});
}

void OperatorLog::on_disputed(const events::MatchDisputed& disputed) const {
  tell({.is_warning = true,
        .event = "MATCH_DISPUTED",
        .text = shown(events::AgentRef::player(disputed.player)) + " disputes the result of " +
                disputed.match.id().str() + ": " + core::shown(disputed.reason, core::kMostEchoed) +
                ". The result stands; `league audit verify` shows whose claim the sealed records "
                "support",
        .fields = {{"agent", events::AgentRef::player(disputed.player).id()},
                   {"match", disputed.match.id().str()}}});
}

void OperatorLog::not_started(events::AgentRef referee, events::MatchKey match, bool is_lost) {
  std::lock_guard lock(mutex_);
  tell({.is_warning = true,
        .event = "NOT_STARTED",
        .text = shown(referee) + " has acknowledged " + match.id().str() +
                " and not begun it within start_watchdog_ms: " +
                (is_lost ? "the match goes to another referee"
                         : "it is started in another way, and then by another referee"),
        .fields = {{"agent", referee.id()}, {"match", match.id().str()}}});
}

void OperatorLog::report_refused(events::AgentRef referee, events::MatchKey match,
                                 const core::Error& why) {
  std::lock_guard lock(mutex_);
  if (!refused_reports_.emplace(match, why.code).second) return;
  tell({.is_warning = true,
        .event = "REPORT_REFUSED",
        .text = "the report of " + shown(referee) + " for " + match.id().str() +
                " is refused: " + std::string(core::wire_code(why.code)) + " " +
                core::shown(why.message, core::kMostEchoed),
        .fields = {{"agent", referee.id()},
                   {"match", match.id().str()},
                   {"error_code", core::wire_code(why.code)}}});
}

void OperatorLog::on_receipts(const events::MatchReported& event) const {
  if (!event.receipts) return;
  const Pairing pairing = schedule_.pairing(event.match);
  for (game::Side side : game::kBothSides) {
    const events::ReceiptState state = (*event.receipts)[side].state;
    const bool is_absent = state == events::ReceiptState::kAbsent;
    // A third-party referee, as the operator was told, passes none on.
    if (is_absent && foreign_referees_.contains(event.referee)) continue;
    if (!is_absent && state != events::ReceiptState::kInvalid) continue;
    const events::AgentRef player = events::AgentRef::player(pairing.player(side));
    tell({.is_warning = true,
          .event = "RECEIPTS_DOUBTFUL",
          .text = shown(player) + " declares receipts, but those for " + event.match.id().str() +
                  (is_absent ? " are missing" : " are false") +
                  ": the match counts, with the fairness of a player without receipts",
          .fields = {{"agent", player.id()},
                     {"match", event.match.id().str()},
                     {"receipts", events::receipt_state_name(state)}}});
  }
}

void OperatorLog::on_asked(const events::PlayersAsked& event) {
  const events::AgentRef referee = events::AgentRef::referee(event.referee);
  for (const auto& word : event.words) {
    if (!contradicts(word.word)) continue;
    const events::AgentRef player = events::AgentRef::player(word.player);
    tell({.is_warning = true,
          .event = "LOSS_CONTRADICTED",
          .text = shown(player) + " contradicts its technical loss in " + event.match.id().str() +
                  ", which " + shown(referee) +
                  " reported: " + core::shown(word.text, core::kMostEchoed) +
                  ". Later assignments keep the two apart",
          .fields = {{"agent", player.id()},
                     {"referee", referee.id()},
                     {"match", event.match.id().str()},
                     {"word", events::player_word_name(word.word)}}});
    for (events::AgentRef agent : {referee, player}) {
      if (++contradictions_[agent] != kManyContradictions) continue;
      tell({.is_warning = true,
            .event = "MANY_CONTRADICTIONS",
            .text = "three losses are contradicted in which " + shown(agent) +
                    " took part: look at its matches; `league audit verify` says whom the sealed "
                    "records support",
            .fields = {{"agent", agent.id()}}});
    }
  }
}

void OperatorLog::on_reported(const events::MatchReported& event) {
  referees_.erase(event.match);
  on_receipts(event);
  if (!event.is_unproven) return;
  tell({.is_warning = true,
        .event = "MATCH_UNPROVEN",
        .text = "the result of " + event.match.id().str() +
                " is unproven: " + shown(events::AgentRef::referee(event.referee)) +
                " did not reveal the seed of the draw. It counts, because --unproven-referees "
                "allows it; use --unproven-referees none to refuse such results",
        .fields = {{"match", event.match.id().str()},
                   {"referee", events::AgentRef::referee(event.referee).id()}}});
}

}  // namespace league::league_manager::rounds
