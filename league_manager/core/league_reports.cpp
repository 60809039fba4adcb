#include <algorithm>

#include "common/core/text.h"
#include "league_manager/core/league_hearing.h"

namespace league::league_manager {

using core::Error;
using core::ErrorCode;

namespace {

/// At most this many conflicting and stale reports of a match are recorded, so that a referee
/// cannot fill the disk.
constexpr int kRecordedIncidents = 3;
/// The maximum length of a cause's call, which is shown on terminals and pages.
constexpr std::size_t kLongestCall = 40;
constexpr std::size_t kLongestFaultText = 300;
constexpr std::size_t kLongestDisputeReason = 500;

/// `text` without the bot's address: causes are public, and on a bus the address is a credential.
std::string without_address(std::string text, std::string_view endpoint) {
  constexpr std::string_view kBus = "nats:";
  const auto hide = [&text](std::string_view secret) {
    for (auto at = text.find(secret); !secret.empty() && at != std::string::npos;
         at = text.find(secret))
      text.replace(at, secret.size(), "*");
  };
  if (endpoint != "*") hide(endpoint);
  if (endpoint.starts_with(kBus)) hide(endpoint.substr(kBus.size()));
  return text;
}

/// Why `player` at `endpoint` lost a match technically, from its failures in the report; the last
/// failed call is the cause.
events::FailureCounted failure_of(events::AgentRef player, std::string_view endpoint,
                                  const MatchReport& report) {
  events::FailureCounted counted{.agent = player, .match = report.match};
  const std::string id = player.id();
  const ReportedFailure* last = nullptr;
  for (const auto& failure : report.failures) {
    if (failure.player_id == id) last = &failure;
  }
  if (last == nullptr) return counted;
  counted.kind = last->kind;
  events::FailureCause cause{
      .call = core::shown(last->call, kLongestCall),
      .error_code = core::shown(last->error_code),
      .attempts = 0,
      .text = core::shown(without_address(last->text, endpoint), kLongestFaultText),
      .field = core::shown(last->field)};
  bool counts = false;
  for (const auto& failure : report.failures) {
    if (failure.player_id != id || failure.call != last->call) continue;
    ++cause.attempts;
    counts = counts || failure.counts;
  }
  counted.is_excused = !counts;
  counted.cause = std::move(cause);
  return counted;
}

events::ReportEvidence evidence_of(const game::PerSide<events::AgentRef>& players,
                                   const MatchReport& report, const JudgedReport& judged) {
  events::ReportEvidence evidence{.bindings = judged.bindings, .answered_in = {}};
  for (game::Side side : game::kBothSides) {
    const auto found = report.answered_in.find(players[side].id());
    if (found != report.answered_in.end()) evidence.answered_in[side] = found->second;
  }
  return evidence;
}

/// Nothing where neither player declared receipts.
std::optional<game::PerSide<events::PlayerReceipts>> receipts_of(
    const game::PerSide<events::PlayerReceipts>& receipts) {
  const bool is_any_declared = std::ranges::any_of(receipts.both, [](const auto& one) {
    return one.state != events::ReceiptState::kNotDeclared;
  });
  return is_any_declared ? std::optional(receipts) : std::nullopt;
}

/// The manager disputes a result in the name of the player whose word contradicts it.
events::MatchDisputed disputed_by(events::MatchKey match, const events::HeardPlayer& word) {
  return {match, word.player, "by the manager's question: " + word.text};
}

ReportDecision refuse(ErrorCode code, const MatchReport& report, const std::string& why) {
  ReportDecision decision;
  decision.refusal = Error{code, "match " + report.match.id().str() + ": " + why, "/match_id"};
  return decision;
}

}  // namespace

ReportDecision League::decide_report(int referee, const MatchReport& given, core::UtcTimestamp now,
                                     const ReportHearing& hearing) const {
  if (!schedule_.contains(given.match)) {
    return refuse(ErrorCode::kMatchNotFound, given, "is not in the schedule of this league");
  }
  const events::AgentProfile& profile = roster_.agent(events::AgentRef::referee(referee)).profile;
  const bool is_foreign =
      !profile.match_credentials && settings_.may_be_unproven(profile.is_from_loopback);
  const MatchReport report = is_foreign ? read_as_foreign(given) : given;
  if (auto standing = finished_result(report.match))
    return decide_finished(referee, report, *standing, now);
  if (!board_.contains(report.match)) {
    return refuse(ErrorCode::kMatchNotOpen, report,
                  "its round has not started: report a match after it was assigned to you");
  }
  return decide_open(referee, report, now, hearing);
}

ReportDecision League::decide_open(int referee, const MatchReport& report, core::UtcTimestamp now,
                                   const ReportHearing& hearing) const {
  const MatchSlot& slot = board_.slot(report.match);
  if (slot.attempts == 0)
    return refuse(ErrorCode::kMatchNotOpen, report, "has not been assigned yet");
  int own = slot.last_attempt_of(referee);
  if (own == 0)
    return refuse(ErrorCode::kNotAssignedReferee, report, "is assigned to another referee");
  int attempt = report.attempt.value_or(own);
  if (slot.status != MatchStatus::kAssigned || attempt != slot.attempts || own != attempt) {
    return refuse_stale(referee, report, attempt, now);
  }
  auto judged = judge_report(report, facts_for(referee, report.match));
  ReportDecision decision;
  if (!judged) {
    decision.refusal = judged.error();
    return decision;
  }
  if (auto possible = check_unavailable(referee, report, *judged); !possible) {
    decision.refusal = possible.error();
    return decision;
  }
  if (auto bound = check_commitments(referee, report, *judged); !bound) {
    decision.refusal = bound.error();
    return decision;
  }
  Examination found = examine(referee, report, *judged, hearing);
  if (!found.contradiction && !found.ask.empty()) {
    decision.ask = std::move(found.ask);
    return decision;
  }
  hear(found, report, hearing);
  if (auto released = release_contradicted(referee, report, found, now)) return *released;
  return accept(referee, report, *judged, found, now);
}

ReportFacts League::facts_for(int referee, events::MatchKey match) const {
  const events::AgentProfile& profile = roster_.agent(events::AgentRef::referee(referee)).profile;
  const MatchSlot& slot = board_.slot(match);
  const Pairing pairing = schedule_.pairing(match);
  const auto own_limits = [this](int player) {
    return roster_.is_person(player) ? std::optional(settings_.seat_limits) : std::nullopt;
  };
  return {.rules = *settings_.rules,
          .pairing = pairing,
          .seed = slot.seed,
          .attempt = slot.attempts,
          .is_strict = !settings_.open_mode,
          .has_match_credentials = profile.match_credentials,
          .may_be_unproven = settings_.may_be_unproven(profile.is_from_loopback),
          .own_limits = {{own_limits(pairing.player_a), own_limits(pairing.player_b)}}};
}

ReportDecision League::refuse_stale(int referee, const MatchReport& report, int attempt,
                                    core::UtcTimestamp now) const {
  const int latest = board_.contains(report.match) ? board_.slot(report.match).attempts
                                                   : finished_result(report.match)->attempt;
  const std::string number = std::to_string(attempt);
  if (attempt < 1 || attempt > latest) {
    return refuse(ErrorCode::kStaleAttempt, report,
                  "there is no attempt " + number + "; the last one is " + std::to_string(latest));
  }
  ReportDecision decision =
      refuse(ErrorCode::kStaleAttempt, report,
             "attempt " + number + " is not open: the match was taken back; discard this result");
  // Only the board of the current round knows which referee had which attempt, so stale reports of
  // earlier rounds are refused without a record.
  if (!board_.contains(report.match)) return decision;
  const MatchSlot& slot = board_.slot(report.match);
  auto standing = finished_result(report.match);
  int incidents = standing ? standing->incidents : slot.result.incidents;
  if (slot.referee_of(attempt) == referee && incidents < kRecordedIncidents) {
    decision.events.push_back({now, events::StaleReportRecorded{report.match, attempt, referee}});
  }
  return decision;
}

ReportDecision League::decide_finished(int referee, const MatchReport& report,
                                       const events::CompactResult& standing,
                                       core::UtcTimestamp now) const {
  int own = board_.contains(report.match) ? board_.slot(report.match).last_attempt_of(referee)
                                          : (standing.referee == referee ? standing.attempt : 0);
  if (own == 0)
    return refuse(ErrorCode::kNotAssignedReferee, report, "was assigned to another referee");
  int attempt = report.attempt.value_or(own);
  if (standing.by_manager || standing.referee != referee || attempt != standing.attempt) {
    return refuse_stale(referee, report, attempt, now);
  }
  ReportDecision decision;
  auto result = claimed_result(report, *settings_.rules, schedule_.pairing(report.match));
  if (!result) {
    decision.refusal = result.error();
  } else if (events::CompactResult::of(*result, *settings_.rules).same_result(standing)) {
    decision.is_repeat = true;
    for (events::MatchKey match : board_.open_matches(referee)) {
      if (board_.slot(match).after == report.match) decision.next_matches.push_back(match);
    }
  } else {
    decision = refuse(ErrorCode::kResultConflict, report,
                      "a different result was accepted and stands; this one is only recorded");
    if (standing.incidents < kRecordedIncidents) {
      decision.events.push_back(
          {now, events::ReportConflictRecorded{report.match, referee, *result}});
    }
  }
  return decision;
}

ReportDecision League::accept(int referee, const MatchReport& report, const JudgedReport& judged,
                              const Examination& found, core::UtcTimestamp now) const {
  Draft draft(running(), now);
  if (!found.words.empty()) {
    draft.add(events::PlayersAsked{report.match, board_.slot(report.match).attempts, referee,
                                   found.words});
  }
  Pairing pairing = schedule_.pairing(report.match);
  const game::PerSide<events::AgentRef> players = {
      {events::AgentRef::player(pairing.player_a), events::AgentRef::player(pairing.player_b)}};
  for (game::Side side : game::kBothSides) {
    if (has_lost_technically(judged.result, side))
      draft.add(failure_of(players[side], roster_.agent(players[side]).profile.endpoint, report));
  }
  const bool is_hosted = std::ranges::any_of(players.both, [this](const auto& player) {
    return events::is_hosted(roster_.agent(player).profile);
  });
  draft.add(events::MatchReported{
      .match = report.match,
      .attempt = board_.slot(report.match).attempts,
      .referee = referee,
      .result = judged.result,
      .fairness = std::min(fairness_with(judged.fairness, found.receipts),
                           is_hosted ? game::Fairness::kHosted : game::Fairness::kBoth),
      .is_unproven = judged.is_unproven,
      .evidence = evidence_of(players, report, judged),
      .receipts = receipts_of(found.receipts)});
  for (game::Side side : game::kBothSides) {
    if (const auto& word = found.contradicted[side]) draft.add(disputed_by(report.match, *word));
  }
  for (game::Side side : game::kBothSides) {
    settle_agent(draft, players[side]);
    if (!has_lost_technically(judged.result, side)) return_to_play(draft, players[side]);
  }
  deal_matches(draft, report.match);
  ReportDecision decision;
  decision.events = std::move(draft).take();
  for (const auto& event : decision.events) {
    const auto* assigned = std::get_if<events::MatchAssigned>(&event.body);
    if (assigned != nullptr && assigned->after == report.match)
      decision.next_matches.push_back(assigned->match);
  }
  return decision;
}

// A player disputes a result: protocol §4, message 15, DISPUTE_MATCH.

core::Result<events::Events> League::decide_dispute(int player, events::MatchKey match,
                                                    std::string_view reason,
                                                    core::UtcTimestamp now) const {
  const std::string id = match.id().str();
  if (!schedule_.contains(match)) {
    return Error{ErrorCode::kMatchNotFound,
                 "match " + id + " is not in the schedule of this league",
                 "/query_params/match_id"};
  }
  const Pairing pairing = schedule_.pairing(match);
  if (!pairing.has(player)) {
    return Error{ErrorCode::kNotAuthorized, "only a player of " + id + " can dispute its result",
                 "/query_params/match_id"};
  }
  if (!finished_result(match)) {
    return Error{ErrorCode::kMatchNotOpen,
                 "match " + id + " has no result yet that could be disputed",
                 "/query_params/match_id"};
  }
  if (is_disputed_by(match, player)) return events::Events{};
  return events::Events{
      {now,
       events::MatchDisputed{match, player, std::string(reason.substr(0, kLongestDisputeReason))}}};
}

bool League::is_disputed_by(events::MatchKey match, int player) const {
  const auto found = disputes_.find(match);
  return found != disputes_.end() &&
         std::ranges::find(found->second, player) != found->second.end();
}

}  // namespace league::league_manager
