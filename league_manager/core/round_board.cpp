#include "league_manager/core/round_board.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "league_manager/core/overloaded.h"
#include "league_manager/core/player_record.h"

namespace league::league_manager {

RoundBoard::RoundBoard(int referees, game::SharedDefinition rules)
    : rules_(std::move(rules)), load_(static_cast<std::size_t>(referees)) {}

std::vector<events::MatchKey> RoundBoard::keys_of(const MatchSet& matches) const {
  std::vector<events::MatchKey> keys;
  matches.for_each([&](int number) { keys.push_back({round_, number}); });
  return keys;
}

std::vector<events::MatchKey> RoundBoard::with_status(MatchStatus status) const {
  if (status == MatchStatus::kPending) return keys_of(pending_);  // every decision needs these
  std::vector<events::MatchKey> found;
  for (int number = 1; number <= matches(); ++number) {
    if (slot({round_, number}).status == status) found.push_back({round_, number});
  }
  return found;
}

std::vector<events::MatchKey> RoundBoard::open_matches(int referee) const {
  std::vector<events::MatchKey> found;
  for (int number = 1; number <= matches(); ++number) {
    const MatchSlot& one = slot({round_, number});
    if (one.status == MatchStatus::kAssigned && one.referee() == referee)
      found.push_back({round_, number});
  }
  return found;
}

std::vector<events::CompactResult> RoundBoard::results() const {
  std::vector<events::CompactResult> results;
  results.reserve(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    results.push_back(slots_[i].result);
    results.back().is_unplayed = slots_[i].status != MatchStatus::kFinished;
  }
  return results;
}

void RoundBoard::apply(const events::Event& event) {
  std::visit(Overloaded{
                 [&](const events::RoundStarted& e) { start(e, event.at); },
                 [&](const events::MatchAssigned& e) { assign(e, event.at); },
                 [&](const events::MatchReleased& e) { release(e, event.at); },
                 [&](const events::MatchReported& e) { finish(e); },
                 [&](const events::MatchForfeited& e) { finish(e); },
                 [&](const events::ReportConflictRecorded& e) { note_incident(e.match); },
                 [&](const events::StaleReportRecorded& e) { note_incident(e.match); },
                 [&](const events::PlayersAsked& e) { note_words(e); },
                 [&](const events::LeagueContinued&) { continue_at(event.at); },
                 [&](const events::OperatorActed& e) { act(e, event.at); },
                 [](const auto&) {},
             },
             event.body);
}

void RoundBoard::start(const events::RoundStarted& event, core::UtcTimestamp at) {
  round_ = event.round;
  started_at_ = at;
  extension_ = {};
  slots_.reset(event.draw_seeds.size());
  unfinished_ = matches();
  pending_ = MatchSet(matches());
  taken_back_ = MatchSet(matches());
  for (int number = 1; number <= matches(); ++number) {
    const auto i = static_cast<std::size_t>(number - 1);
    MatchSlot& slot = slots_.change(i);
    slot.since = at;
    slot.seed = event.draw_seeds[i];
    slot.planned_referee = static_cast<std::int16_t>(event.planned_referees[i]);
    pending_.insert(number);
  }
}

void RoundBoard::continue_at(core::UtcTimestamp at) {
  started_at_ = at;
  for (events::MatchKey match : with_status(MatchStatus::kPending)) this->at(match).since = at;
}

void RoundBoard::act(const events::OperatorActed& event, core::UtcTimestamp at) {
  if (event.act == events::OperatorAct::kResume)
    continue_at(at);  // time limits do not run during a pause
  if (event.act == events::OperatorAct::kExtendRound)
    extension_ += std::chrono::seconds(*event.seconds);
  if (event.act == events::OperatorAct::kVoidMatch && contains(*event.match))
    this->at(*event.match).result.is_voided = true;
}

void RoundBoard::assign(const events::MatchAssigned& event, core::UtcTimestamp at) {
  MatchSlot& slot = this->at(event.match);
  slot.status = MatchStatus::kAssigned;
  pending_.erase(event.match.number);
  taken_back_.erase(event.match.number);
  ++slot.attempts;
  slot.referees[static_cast<std::size_t>(slot.attempts % kKnownAttempts)] =
      static_cast<std::int16_t>(event.referee);
  slot.since = at;
  slot.after = event.after;
  Load& load = load_[static_cast<std::size_t>(event.referee)];
  ++load.open;
  ++load.total;
}

namespace {

/// Whether the match was taken away because its referee is gone, not for anything that the referee
/// did with it: such an attempt uses up none. Source: protocol §6.
bool is_referee_gone(std::string_view reason) {
  constexpr std::array kReasons = {
      events::kReasonRefereeLost,   events::kReasonRefereeRestarted,   events::kReasonSilent,
      events::kReasonFailedMatches, events::kReasonShutDownByOperator, events::kReasonWithdrawn,
      events::kReasonDisqualified};
  return std::ranges::find(kReasons, reason) != kReasons.end();
}

}  // namespace

void RoundBoard::release(const events::MatchReleased& event, core::UtcTimestamp at) {
  MatchSlot& slot = this->at(event.match);
  slot.since = at;
  take_back(event.match, slot);
  slot.is_excused = event.is_excused;
  if (event.is_excused || is_referee_gone(event.reason)) ++slot.excused;
  if (event.reason == events::kReasonLossContradicted) slot.is_loss_contradicted = true;
  if (event.reason == events::kReasonReceiptContradicts) ++slot.contradicted_by_receipt;
}

void RoundBoard::note_words(const events::PlayersAsked& event) {
  MatchSlot& slot = at(event.match);
  // After the release for a contradiction they stay those of that contradiction.
  if (slot.is_loss_contradicted) return;
  slot.contradicting = {-1, -1};
  for (std::size_t i = 0; i < event.words.size() && i < slot.contradicting.size(); ++i) {
    if (contradicts(event.words[i].word)) slot.contradicting[i] = event.words[i].player;
  }
}

void RoundBoard::take_back(events::MatchKey match, MatchSlot& slot) {
  if (slot.status != MatchStatus::kAssigned) return;
  slot.status = MatchStatus::kPending;
  pending_.insert(match.number);
  taken_back_.insert(match.number);
  --load_[static_cast<std::size_t>(slot.referee())].open;
}

void RoundBoard::finish(const events::MatchReported& event) {
  events::CompactResult result = events::CompactResult::of(event.result, *rules_);
  result.fairness = event.fairness;
  result.is_unproven = event.is_unproven;
  finish(event.match, result);
}

void RoundBoard::finish(const events::MatchForfeited& event) {
  events::CompactResult result = events::CompactResult::of(event.result, *rules_);
  result.by_manager = true;
  finish(event.match, result);
}

void RoundBoard::finish(events::MatchKey match, events::CompactResult result) {
  MatchSlot& slot = at(match);
  take_back(match, slot);
  slot.status = MatchStatus::kFinished;
  pending_.erase(match.number);
  taken_back_.erase(match.number);
  result.referee = static_cast<std::int16_t>(slot.referee());
  result.attempt = slot.attempts;
  result.incidents = slot.result.incidents;
  slot.result = result;
  --unfinished_;
}

void RoundBoard::note_incident(events::MatchKey match) {
  if (!contains(match)) return;  // a match of an earlier round, which League keeps
  auto& result = at(match).result;
  if (result.incidents < events::kMostIncidents) ++result.incidents;
}

}  // namespace league::league_manager
