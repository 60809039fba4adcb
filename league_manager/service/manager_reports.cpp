// How the manager answers reports of results, and disputes.
#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "league_manager/service/manager_service.h"
#include "league_manager/service/query_answers.h"
#include "league_manager/service/report_codec.h"

namespace league::league_manager::service {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using envelope::MessageType;
using nlohmann::json;

/// Whether the report was accepted as the result of its match; false for a repeat.
bool is_accepted(const ReportDecision& decision) {
  return !decision.refusal && !decision.is_repeat && decision.ask.empty();
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

/// A report on its way through the decision: perhaps its players have to be asked first.
struct ManagerService::OpenReport {
  agent::host::Call<envelope::MatchResultReport> call;
  MatchReport report;
  ReportHearing hearing;
  int referee = 0;
  int attempt = 0;  ///< that is open
  ReportDecision decision = {};
};

void ManagerService::on_report(agent::host::Call<envelope::MatchResultReport> call) {
  auto report = report_of(call.envelope, call.message);
  if (!report) return call.reply.refuse(report.error());
  decide_report(std::make_shared<OpenReport>(
      OpenReport{std::move(call), std::move(*report), deps_.league_runner.hearing()}));
}

void ManagerService::decide_report(const std::shared_ptr<OpenReport>& open) {
  deps_.ledger.commit(
      [&](const League& league, core::UtcTimestamp now) {
        open->referee = league.roster().find(open->call.envelope.sender.id)->index;
        open->decision = league.decide_report(open->referee, open->report, now, open->hearing);
        if (!open->decision.ask.empty())
          open->attempt = league.board().slot(open->report.match).attempts;
        if (is_accepted(open->decision)) {
          deps_.league_runner.hold_for_answer();
          if (deps_.records != nullptr)
            deps_.records->on_report(events::AgentRef::referee(open->referee), open->report,
                                     league.match(open->report.match)->pairing,
                                     open->decision.events, now);
        }
        return open->decision.events;
      },
      [this, open](const Result<events::Events>& stored) {
        if (!open->decision.ask.empty()) return ask_players(open);
        answer_report(*open, stored);
      });
}

void ManagerService::ask_players(const std::shared_ptr<OpenReport>& open) {
  const std::vector<int> players = open->decision.ask;
  deps_.league_runner.ask_players(
      open->report.match, open->attempt, players,
      [this, open](std::optional<std::vector<PlayerAnswer>> answers) {
        if (!answers) {
          return open->call.reply.refuse(
              {core::ErrorCode::kShuttingDown,
               "the manager is ending and could not hear the players: report the match again", ""});
        }
        auto& heard = open->hearing.answers;
        if (!heard) heard.emplace();
        std::ranges::move(*answers, std::back_inserter(*heard));
        decide_report(open);
      });
}

void ManagerService::answer_report(OpenReport& open, const Result<events::Events>& stored) {
  const bool is_held = is_accepted(open.decision);
  if (!stored) {
    if (is_held) deps_.league_runner.on_answered();
    return open.call.reply.refuse(not_stored());
  }
  auto follow = [this, given = open.report, events = *stored, is_held] {
    note_answered();
    if (is_held) deps_.league_runner.on_answered();
    if (deps_.log != nullptr && is_held) note_slow_players(*deps_.log, given, events);
    deps_.league_runner.on_events(events);
    deps_.league_runner.advance();
  };
  if (open.decision.refusal) {
    open.call.reply.refuse(*open.decision.refusal);
    return follow();
  }
  json answer = {{"status", "ok"}, {"match_id", open.call.envelope.match_id->str()}};
  auto next = deps_.league_runner.assignments(open.referee, open.decision.next_matches);
  if (!next.empty()) {
    answer["matches"] = envelope::encode_assignments(next);
    answer["round_id"] = open.decision.next_matches.front().round;
  }
  open.call.reply.send(answer, follow);
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

void ManagerService::note_refused_report(const Error& error,
                                         const rpc::MessageNotes& request) const {
  if (deps_.log == nullptr || request.message_type != wire_name(MessageType::kMatchResultReport) ||
      error.code == ErrorCode::kShuttingDown)
    return;
  // Only a referee that has proven who it is, and has the match; what strangers and former referees
  // send is in the conversation log.
  const auto sender = envelope::Sender::parse(request.said_by);
  const auto match = events::MatchKey::parse(request.match_id);
  if (!sender || !match) return;
  const auto referee = deps_.ledger.read([&](const League& league) -> std::optional<int> {
    const auto agent = league.roster().find(sender->id);
    if (!agent || !league.board().contains(*match)) return std::nullopt;
    const MatchSlot& slot = league.board().slot(*match);
    const bool has_it = agent->kind == events::AgentKind::kReferee &&
                        slot.status == MatchStatus::kAssigned && slot.referee() == agent->index;
    return has_it ? std::optional(agent->index) : std::nullopt;
  });
  if (referee) deps_.log->report_refused(events::AgentRef::referee(*referee), *match, error);
}

}  // namespace league::league_manager::service
