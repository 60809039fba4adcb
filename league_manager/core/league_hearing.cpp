// What the manager does with receipts, and with the word of a player that lost technically:
// protocol §7, items 8 and 9.
#include "league_manager/core/league_hearing.h"

#include <algorithm>

#include "common/core/error_code.h"

namespace league::league_manager {

using core::Error;
using core::ErrorCode;

namespace {

/// So often a match is taken from its referee because a receipt contradicts the report. It may be
/// the player that lies, and its opponent must not lose the match by it.
constexpr int kMostReceiptReleases = 2;
/// Whoever contradicted so many losses that a second referee confirmed is not believed any more.
constexpr int kMostOverruled = 3;

bool is_doubtful(const events::PlayerReceipts& receipts) {
  return receipts.state == events::ReceiptState::kAbsent ||
         receipts.state == events::ReceiptState::kInvalid;
}

const PlayerAnswer* answer_of(const ReportHearing& hearing, int player) {
  if (!hearing.answers) return nullptr;
  const auto found = std::ranges::find(*hearing.answers, player, &PlayerAnswer::player);
  return found != hearing.answers->end() ? &*found : nullptr;
}

std::optional<std::string> listed_for(const game::ByPlayer& values, const std::string& player) {
  const auto found = std::ranges::find(values, player, [](const auto& one) { return one.first; });
  return found != values.end() ? found->second : std::nullopt;
}

/// Nothing if the report lists no choice of the player.
std::optional<ReportedPlay> reported_play(const MatchReport& report, const std::string& player,
                                          const std::string& opponent) {
  auto choice = listed_for(report.claim.choices, player);
  if (!choice) return std::nullopt;
  return ReportedPlay{.choice = std::move(*choice),
                      .nonce = listed_for(report.claim.nonces, player),
                      .opponent_commitment = listed_for(report.claim.commitments, opponent)};
}

}  // namespace

core::Result<void> League::check_unavailable(int referee, const MatchReport& report,
                                             const JudgedReport& judged) const {
  const bool is_ours = roster_.agent(events::AgentRef::referee(referee)).profile.match_credentials;
  if (!is_ours || !judged.result.is_technical()) return {};
  const Pairing pairing = schedule_.pairing(report.match);
  const MatchSlot& slot = board_.slot(report.match);
  const auto code = core::wire_code(ErrorCode::kPlayerUnavailable);
  for (game::Side side : game::kBothSides) {
    if (!has_lost_technically(judged.result, side) || slot.suspended[game::index(side)]) continue;
    const std::string id = events::AgentRef::player(pairing.player(side)).id();
    const auto& failures = report.failures;
    const auto last = std::find_if(failures.rbegin(), failures.rend(),
                                   [&id](const auto& one) { return one.player_id == id; });
    if (last == failures.rend() || last->error_code != code || last->phase == "answered") continue;
    return Error{ErrorCode::kInvalidResult,
                 "report of " + report.match.id().str() + ": " + id +
                     " was not suspended when the match was assigned, so it has to be invited",
                 "/result/details/failures"};
  }
  return {};
}

core::Result<void> League::check_commitments(int referee, const MatchReport& report,
                                             const JudgedReport& judged) const {
  const bool is_ours = roster_.agent(events::AgentRef::referee(referee)).profile.match_credentials;
  if (!is_ours || judged.result.is_technical()) return {};
  const Pairing pairing = schedule_.pairing(report.match);
  for (game::Side side : game::kBothSides) {
    const auto player = events::AgentRef::player(pairing.player(side));
    if (!roster_.agent(player).profile.receipts || judged.bindings.commitments[side]) continue;
    return Error{ErrorCode::kInvalidResult,
                 "report of " + report.match.id().str() + ": " + player.id() +
                     " declared receipts, so its GAME_JOIN_ACK without choice_commitment is an "
                     "invalid answer, and the match cannot be played without its commitment",
                 "/result/details/choice_commitments"};
  }
  return {};
}

ReceiptFacts League::receipt_facts(const MatchReport& report, game::Side side,
                                   const ReportHearing& hearing) const {
  const Pairing pairing = schedule_.pairing(report.match);
  const MatchSlot& slot = board_.slot(report.match);
  const events::AgentRef player = events::AgentRef::player(pairing.player(side));
  ReceiptFacts facts{
      .rules = *settings_.rules,
      .league_key = settings_.league_key,
      .draw_commitment = game::draw_commitment(slot.seed, report.match.id().str()),
      .attempt = slot.attempts,
      .player_id = player.id(),
      .opponent_id = events::AgentRef::player(pairing.player(game::other(side))).id(),
      .keys = {}};
  if (!hearing.receipt_key) return facts;
  for (const auto& nonce : roster_.agent(player).credential_nonces(slot.since))
    facts.keys.push_back(hearing.receipt_key(facts.player_id, nonce));
  return facts;
}

League::Examination League::examine(int referee, const MatchReport& report,
                                    const JudgedReport& judged,
                                    const ReportHearing& hearing) const {
  Examination found;
  const Pairing pairing = schedule_.pairing(report.match);
  const bool is_ours = roster_.agent(events::AgentRef::referee(referee)).profile.match_credentials;
  const bool may_release = board_.slot(report.match).contradicted_by_receipt < kMostReceiptReleases;
  for (game::Side side : game::kBothSides) {
    const int player = pairing.player(side);
    if (!roster_.agent(events::AgentRef::player(player)).profile.receipts) continue;
    ReceiptFacts facts = receipt_facts(report, side, hearing);
    const PlayerAnswer* answer = answer_of(hearing, player);
    if (answer != nullptr && answer->record) facts.record = &*answer->record;
    const CheckedReceipts checked = check_receipts(report, facts);
    found.receipts[side] = checked.receipts;
    if (checked.contradiction && may_release) found.contradiction = checked.contradiction;
    if (has_lost_technically(judged.result, side) && !checked.proves_decline)
      found.losses[side] = loss_of(report, facts.player_id);
    const bool has_to_be_asked = found.losses[side] || (is_ours && is_doubtful(checked.receipts));
    if (has_to_be_asked && answer == nullptr) found.ask.push_back(player);
  }
  return found;
}

void League::hear(Examination& found, const MatchReport& report,
                  const ReportHearing& hearing) const {
  const Pairing pairing = schedule_.pairing(report.match);
  const MatchSlot& slot = board_.slot(report.match);
  for (game::Side side : game::kBothSides) {
    const PlayerAnswer* answer = answer_of(hearing, pairing.player(side));
    if (answer == nullptr) continue;
    const std::string match_id = report.match.id().str();
    const bool is_person = roster_.is_person(answer->player);
    WordFacts facts{
        .rules = *settings_.rules,
        .match_id = match_id,
        .player_id = events::AgentRef::player(answer->player).id(),
        .draw_commitment = game::draw_commitment(slot.seed, match_id),
        .attempt = slot.attempts,
        .play = report.replays,
        .join_limit = is_person ? settings_.seat_limits.invitation : hearing.join_limit,
        .choice_limit = is_person ? settings_.seat_limits.choice : hearing.choice_limit};
    // Only people have a limit that the manager itself has given to the referee.
    if (const auto& loss = found.losses[side]; loss && is_person && hearing.since_seat_call)
      facts.since_call = hearing.since_seat_call(
          {answer->player, report.match, facts.attempt, facts.play, loss->call});
    const auto opponent = events::AgentRef::player(pairing.player(game::other(side))).id();
    found.words.push_back(
        found.losses[side]
            ? word_of(*answer, *found.losses[side], facts)
            : word_on_play(*answer, reported_play(report, facts.player_id, opponent), facts));
    if (contradicts(found.words.back().word)) found.contradicted[side] = found.words.back();
  }
}

bool League::is_another_referee_active(int referee) const {
  for (int i = 0; i < roster_.count(events::AgentKind::kReferee); ++i) {
    if (i != referee && roster_.agent(events::AgentRef::referee(i)).lifecycle.state() ==
                            events::AgentState::kActive)
      return true;
  }
  return false;
}

std::optional<ReportDecision> League::release_contradicted(int referee, const MatchReport& report,
                                                           const Examination& found,
                                                           core::UtcTimestamp now) const {
  const MatchSlot& slot = board_.slot(report.match);
  const auto release = [&](std::string_view reason, Error refusal) {
    Draft draft(running(), now);
    if (!found.words.empty())
      draft.add(events::PlayersAsked{report.match, slot.attempts, referee, found.words});
    draft.add(events::MatchReleased{report.match, slot.attempts, std::string(reason), false});
    deal_matches(draft);
    ReportDecision decision;
    decision.events = std::move(draft).take();
    decision.refusal = std::move(refusal);
    return decision;
  };
  const std::string place = "report of " + report.match.id().str() + ": ";
  if (found.contradiction) {
    return release(
        events::kReasonReceiptContradicts,
        {ErrorCode::kInvalidResult, place + *found.contradiction, "/result/details/receipts"});
  }
  if (slot.is_loss_contradicted || !is_another_referee_active(referee)) return std::nullopt;
  for (game::Side side : game::kBothSides) {
    const auto& word = found.contradicted[side];
    const auto& loss = found.losses[side];
    if (!word || (loss && loss->phase == LossPhase::kUnknown)) continue;
    const auto overruled = overruled_.find(word->player);
    if (overruled != overruled_.end() && overruled->second >= kMostOverruled) continue;
    const std::string id = events::AgentRef::player(word->player).id();
    const std::string next = " (" + word->text + "), so another referee plays the match";
    if (loss) {
      return release(
          events::kReasonLossContradicted,
          {ErrorCode::kLossContradicted, place + id + " contradicts its technical loss" + next,
           "/result/details/failures"});
    }
    if (slot.contradicted_by_receipt > 0) continue;
    return release(events::kReasonReceiptContradicts, {ErrorCode::kInvalidResult,
                                                       place + "no receipt proves the answers of " +
                                                           id + ", which says otherwise" + next,
                                                       "/result/details/receipts"});
  }
  return std::nullopt;
}

void League::note_words(const events::PlayersAsked& event) {
  bool is_contradicted = false;
  for (const auto& word : event.words) {
    if (!contradicts(word.word)) continue;
    is_contradicted = true;
    ++quarrels_[{event.referee, word.player}];
  }
  if (is_contradicted) contradictions_[event.match].push_back(event);
}

void League::note_overruled(const events::MatchReported& event) {
  const MatchSlot& slot = board_.slot(event.match);
  if (!slot.is_loss_contradicted && slot.contradicted_by_receipt == 0) return;
  const Pairing pairing = schedule_.pairing(event.match);
  for (game::Side side : game::kBothSides) {
    const int player = pairing.player(side);
    const bool has_contradicted =
        std::ranges::find(slot.contradicting, player) != slot.contradicting.end();
    const bool is_doubted = event.receipts && is_doubtful((*event.receipts)[side]);
    if (has_contradicted && (is_doubted || has_lost_technically(event.result, side)))
      ++overruled_[player];
  }
}

}  // namespace league::league_manager
