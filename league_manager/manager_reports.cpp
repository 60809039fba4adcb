// What the manager answers to results, and to players that dispute them.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "league_manager/manager_service.h"
#include "league_manager/query_answers.h"
#include "league_manager/report_codec.h"

namespace league::league_manager {
namespace {

using core::Error;
using core::Result;
using envelope::MessageType;
using nlohmann::json;

/// The match's players that are suspended and yet played without a failure: they answered their
/// ping.
std::vector<AgentRef> suspended_but_playing(const League& league, const MatchReport& report) {
  std::vector<AgentRef> recovered;
  if (!league.schedule().contains(report.match)) return recovered;
  auto pairing = league.schedule().pairing(report.match);
  for (int index : {pairing.player_a, pairing.player_b}) {
    AgentRef player = AgentRef::player(index);
    if (league.roster().agent(player).lifecycle.state() != AgentState::kSuspended) continue;
    bool failed = std::ranges::any_of(report.failures, [&](const auto& failure) {
      return failure.counts && failure.player_id == player.id();
    });
    if (!failed) recovered.push_back(player);
  }
  return recovered;
}

/// Whether the report gave its match a result; a repeat did not.
bool is_accepted(const ReportDecision& decision) {
  return !decision.refusal && !decision.is_repeat;
}

/// Tells the operator of results that nobody can check.
void note_unproven(const Events& events) {
  for (const auto& event : events) {
    const auto* reported = std::get_if<MatchReported>(&event.body);
    if (reported == nullptr || !reported->is_unproven) continue;
    spdlog::warn(
        "the result of {} is unproven: {} did not reveal the seed of the draw, and "
        "--unproven-referees accepts that",
        reported->match.id().str(), AgentRef::referee(reported->referee).id());
  }
}

void note_dispute(const MatchDisputed& dispute) {
  spdlog::warn(
      "{} disputes the result of {}: {}. The result stands; `league audit verify` says whose word "
      "the sealed records support",
      AgentRef::player(dispute.player).id(), dispute.match.id().str(),
      core::shown(dispute.reason, core::kMostEchoed));
}

}  // namespace

void ManagerService::on_report(agent::Call<envelope::MatchResultReport> call) {
  auto report = report_of(call.envelope, call.message);
  if (!report) return call.reply.refuse(report.error());
  auto shared = std::make_shared<agent::Call<envelope::MatchResultReport>>(std::move(call));
  auto decision = std::make_shared<ReportDecision>();
  auto recovered = std::make_shared<std::vector<AgentRef>>();
  auto reporter = std::make_shared<int>(0);
  deps_.ledger.commit(
      [&](const League& league, core::UtcTimestamp now) {
        auto referee = league.roster().find(shared->envelope.sender.id);
        *reporter = referee->index;
        *decision = league.decide_report(*reporter, *report, now);
        if (!decision->refusal) *recovered = suspended_but_playing(league, *report);
        if (is_accepted(*decision)) deps_.conductor.hold_for_answer();
        return decision->events;
      },
      [this, shared, decision, recovered, reporter](const Result<Events>& stored) {
        bool is_held = is_accepted(*decision);
        if (!stored) {
          if (is_held) deps_.conductor.on_answered();
          return shared->reply.refuse(not_stored());
        }
        auto follow = [this, events = *stored, recovered, is_held] {
          note_answered();
          if (is_held) deps_.conductor.on_answered();
          note_unproven(events);
          deps_.conductor.on_events(events);
          for (auto player : *recovered) deps_.conductor.on_alive(player);
          deps_.conductor.advance();
        };
        if (decision->refusal) {
          shared->reply.refuse(*decision->refusal);
          return follow();
        }
        json answer = {{"status", "ok"}, {"match_id", shared->envelope.match_id->str()}};
        auto next = deps_.conductor.assignments(*reporter, decision->next_matches);
        if (!next.empty()) {
          answer["matches"] = envelope::encode_assignments(next);
          answer["round_id"] = decision->next_matches.front().round;
        }
        shared->reply.send(answer, follow);
      });
}

void ManagerService::on_dispute(agent::Call<envelope::LeagueQuery> call) {
  auto shared = std::make_shared<agent::Call<envelope::LeagueQuery>>(std::move(call));
  auto refusal = std::make_shared<std::optional<Error>>();
  deps_.ledger.commit(
      [shared, refusal](const League& league, core::UtcTimestamp now) {
        auto events =
            decide_dispute(league, shared->envelope.sender.id, shared->message.query_params, now);
        if (!events) *refusal = events.error();
        return events ? *events : Events{};
      },
      [this, shared, refusal](const Result<Events>& stored) {
        if (!stored) return shared->reply.refuse(not_stored());
        auto envelope = deps_.envelopes.make(MessageType::kLeagueQueryResponse,
                                             {.conversation_id = shared->envelope.conversation_id,
                                              .auth_token = {},
                                              .round_id = {},
                                              .match_id = {}});
        shared->reply.send(envelope::encode(envelope, dispute_answer(*refusal)));
        for (const auto& event : *stored) note_dispute(std::get<MatchDisputed>(event.body));
      });
}

}  // namespace league::league_manager
