// How the manager answers reports of results, and disputes.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "league_manager/service/manager_service.h"
#include "league_manager/service/query_answers.h"
#include "league_manager/service/report_codec.h"

namespace league::league_manager::service {
namespace {

using core::Error;
using core::Result;
using envelope::MessageType;
using nlohmann::json;

/// Whether the report was accepted as the result of its match; false for a repeat.
bool is_accepted(const ReportDecision& decision) {
  return !decision.refusal && !decision.is_repeat;
}

/// Tells the operator of players that answered only after failed attempts: a slow bot may soon lose
/// matches.
void note_slow_players(rounds::OperatorLog& log, const MatchReport& report,
                       const events::Events& events) {
  std::map<events::AgentRef, std::pair<const ReportedFailure*, int>> slow;
  for (const auto& failure : report.failures) {
    const auto player = events::AgentRef::parse(failure.player_id);
    if (!player || !failure.counts || counts_failure(events, *player)) continue;
    // A match has two players, but a referee could name any number of ids.
    if (slow.size() == 2 && !slow.contains(*player)) continue;
    auto& [last, count] = slow[*player];
    last = &failure;
    ++count;
  }
  for (const auto& [player, last] : slow)
    log.slow(player, report.match, last.first->call, last.first->error_code, last.second);
}

}  // namespace

void ManagerService::on_report(agent::host::Call<envelope::MatchResultReport> call) {
  auto report = report_of(call.envelope, call.message);
  if (!report) return call.reply.refuse(report.error());
  auto shared = std::make_shared<agent::host::Call<envelope::MatchResultReport>>(std::move(call));
  auto given = std::make_shared<MatchReport>(std::move(*report));
  auto decision = std::make_shared<ReportDecision>();
  auto reporter = std::make_shared<int>(0);
  deps_.ledger.commit(
      [&](const League& league, core::UtcTimestamp now) {
        auto referee = league.roster().find(shared->envelope.sender.id);
        *reporter = referee->index;
        *decision = league.decide_report(*reporter, *given, now);
        if (is_accepted(*decision)) {
          deps_.league_runner.hold_for_answer();
          if (deps_.records != nullptr)
            deps_.records->on_report(*given, league.match(given->match)->pairing, decision->events,
                                     now);
        }
        return decision->events;
      },
      [this, shared, given, decision, reporter](const Result<events::Events>& stored) {
        bool is_held = is_accepted(*decision);
        if (!stored) {
          if (is_held) deps_.league_runner.on_answered();
          return shared->reply.refuse(not_stored());
        }
        auto follow = [this, given, events = *stored, is_held] {
          note_answered();
          if (is_held) deps_.league_runner.on_answered();
          if (deps_.log != nullptr && is_held) note_slow_players(*deps_.log, *given, events);
          deps_.league_runner.on_events(events);
          deps_.league_runner.advance();
        };
        if (decision->refusal) {
          shared->reply.refuse(*decision->refusal);
          return follow();
        }
        json answer = {{"status", "ok"}, {"match_id", shared->envelope.match_id->str()}};
        auto next = deps_.league_runner.assignments(*reporter, decision->next_matches);
        if (!next.empty()) {
          answer["matches"] = envelope::encode_assignments(next);
          answer["round_id"] = decision->next_matches.front().round;
        }
        shared->reply.send(answer, follow);
      });
}

void ManagerService::on_dispute(agent::host::Call<envelope::LeagueQuery> call) {
  auto shared = std::make_shared<agent::host::Call<envelope::LeagueQuery>>(std::move(call));
  auto refusal = std::make_shared<std::optional<Error>>();
  deps_.ledger.commit(
      [shared, refusal](const League& league, core::UtcTimestamp now) {
        auto events =
            decide_dispute(league, shared->envelope.sender.id, shared->message.query_params, now);
        if (!events) *refusal = events.error();
        return events ? *events : events::Events{};
      },
      [this, shared, refusal](const Result<events::Events>& stored) {
        if (!stored) return shared->reply.refuse(not_stored());
        auto envelope = deps_.envelopes.make(MessageType::kLeagueQueryResponse,
                                             {.conversation_id = shared->envelope.conversation_id});
        shared->reply.send(envelope::encode(envelope, dispute_answer(*refusal)));
      });
}

}  // namespace league::league_manager::service
