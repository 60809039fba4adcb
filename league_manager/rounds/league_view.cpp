#include "league_manager/rounds/league_view.h"

#include <algorithm>

#include "common/agent/identity/match_credential.h"
#include "common/core/crypto.h"
#include "common/rpc/seat_address.h"
#include "league_manager/files/league_files.h"

namespace league::league_manager::rounds {
namespace {

core::PlayerId player_id(int index) { return core::PlayerId(events::AgentRef::player(index).id()); }

const events::Agent& player(const League& league, int index) {
  return league.roster().agent(events::AgentRef::player(index));
}

std::string referee_endpoint(const League& league, int referee) {
  return referee < 0 ? std::string()
                     : league.roster().agent(events::AgentRef::referee(referee)).profile.endpoint;
}

std::optional<core::RefereeId> referee_id(int referee) {
  if (referee < 0) return std::nullopt;
  return core::RefereeId(events::AgentRef::referee(referee).id());
}

envelope::StandingsRow row_of(const League& league, const RankedPlayer& ranked) {
  return {.rank = ranked.rank,
          .player_id = player_id(ranked.player),
          .display_name = player(league, ranked.player).profile.display_name,
          .played = ranked.tally.played,
          .wins = ranked.tally.wins,
          .draws = ranked.tally.draws,
          .losses = ranked.tally.losses,
          .points = ranked.tally.points};
}

envelope::WinLossDraw tally_of(const League& league, int index) {
  const auto& tally = league.standings().tally(index);
  return {.wins = tally.wins, .losses = tally.losses, .draws = tally.draws};
}

}  // namespace

std::vector<envelope::StandingsRow> standings_rows(const League& league) {
  std::vector<envelope::StandingsRow> rows;
  for (const auto& ranked : league.standings().table()) rows.push_back(row_of(league, ranked));
  return rows;
}

std::vector<envelope::StandingsRow> standings_page(const League& league, std::size_t offset,
                                                   std::size_t limit) {
  const auto table = league.table();
  std::vector<envelope::StandingsRow> rows;
  for (std::size_t i = offset; i < table.size() && rows.size() < limit; ++i)
    rows.push_back(row_of(league, table[i]));
  return rows;
}

std::optional<std::string> referee_credential(const League& league, int referee) {
  if (referee < 0) return std::nullopt;
  const events::Agent& agent = league.roster().agent(events::AgentRef::referee(referee));
  const bool is_foreign = !agent.profile.match_credentials &&
                          league.settings().may_be_unproven(agent.profile.is_from_loopback);
  if (!is_foreign) return "match";
  if (league.settings().unproven_referees == events::UnprovenReferees::kTokenless) return "none";
  return "token:" + agent.credential.token_hash;
}

envelope::AnnouncedMatch announced_match(const League& league, events::MatchKey match) {
  const MatchSlot& slot = league.board().slot(match);
  const int referee = slot.attempts > 0 ? slot.referee() : slot.planned_referee;
  const Pairing pairing = league.schedule().pairing(match);
  const auto original = league.schedule().replay_of(match);
  return {.match_id = match.id(),
          .game_type = league.settings().rules->game_type(),
          .player_a_id = player_id(pairing.player_a),
          .player_b_id = player_id(pairing.player_b),
          .referee_endpoint = referee_endpoint(league, referee),
          .referee_id = referee_id(referee),
          .draw_commitment = game::draw_commitment(slot.seed, match.id().str()),
          .referee_credential = referee_credential(league, referee),
          .replay_of = original ? std::optional(original->id()) : std::nullopt};
}

std::vector<envelope::AnnouncedMatch> announced_matches(const League& league) {
  std::vector<envelope::AnnouncedMatch> matches;
  const RoundBoard& board = league.board();
  for (int number = 1; board.round() > 0 && number <= board.matches(); ++number)
    matches.push_back(announced_match(league, {board.round(), number}));
  return matches;
}

std::string called_at(const std::string& endpoint, const events::AgentProfile& referee,
                      const SeatsAt& seats_at) {
  const auto player = rpc::player_at_seat(endpoint);
  if (!player || !seats_at) return endpoint;
  return seats_at(referee.manager_url).append(rpc::kSeatsPath).append(*player);
}

/// What the two players of `match` chose when they met before, the oldest first.
std::vector<envelope::EarlierChoices> history_of(const League& league, events::MatchKey match) {
  std::vector<MatchView> earlier = league.earlier_meetings(match);
  constexpr std::size_t kLongest = envelope::MatchAssignment::kLongestHistory;
  if (earlier.size() > kLongest)
    earlier.erase(earlier.begin(), earlier.end() - static_cast<std::ptrdiff_t>(kLongest));
  const auto& words = league.settings().rules->choices();
  const int player_a = league.schedule().pairing(match).player_a;
  std::vector<envelope::EarlierChoices> history;
  for (const MatchView& one : earlier) {
    const auto chosen = [&](game::Side side) {
      const std::size_t place = one.result->choices[side];
      return place > 0 ? std::optional(words[place - 1]) : std::nullopt;
    };
    const game::Side of_a = one.pairing.player_a == player_a ? game::Side::kA : game::Side::kB;
    history.push_back({chosen(of_a), chosen(game::other(of_a))});
  }
  return history;
}

std::optional<envelope::MatchAssignment> match_assignment(
    const League& league, events::MatchKey match, const admission::TokenIssuer& token_issuer,
    const SeatsAt& seats_at) {
  const RoundBoard& board = league.board();
  if (!board.contains(match) || board.slot(match).status != MatchStatus::kAssigned)
    return std::nullopt;
  const MatchSlot& slot = board.slot(match);
  Pairing pairing = league.schedule().pairing(match);
  const events::Agent& a = player(league, pairing.player_a);
  const events::Agent& b = player(league, pairing.player_b);
  auto token_of = [&](int index, const events::Agent& agent) {
    return token_issuer.token(events::AgentRef::player(index).id(), agent.credential.nonce);
  };
  const core::AuthToken token_a = token_of(pairing.player_a, a);
  const core::AuthToken token_b = token_of(pairing.player_b, b);
  auto credential = [&](const core::AuthToken& token) {
    return agent::identity::match_credential(token, match.id(), slot.attempts);
  };
  auto answer_hash = [&](const core::AuthToken& token) {
    return agent::identity::answer_credential(token, match.id(), slot.attempts).hash();
  };
  envelope::MatchAssignment assignment;
  assignment.match_id = match.id();
  assignment.game_type = league.settings().rules->game_type();
  assignment.player_a_id = player_id(pairing.player_a);
  assignment.player_b_id = player_id(pairing.player_b);
  assignment.referee_endpoint = referee_endpoint(league, slot.referee());
  assignment.referee_id = core::RefereeId(events::AgentRef::referee(slot.referee()).id());
  assignment.draw_commitment = game::draw_commitment(slot.seed, match.id().str());
  assignment.attempt = slot.attempts;
  assignment.conversation_id = events::match_conversation(match, slot.attempts);
  const auto& referee = league.roster().agent(events::AgentRef::referee(slot.referee()));
  assignment.player_a_endpoint = called_at(a.profile.endpoint, referee.profile, seats_at);
  assignment.player_b_endpoint = called_at(b.profile.endpoint, referee.profile, seats_at);
  assignment.player_a_credential = credential(token_a);
  assignment.player_b_credential = credential(token_b);
  assignment.player_a_token_hash = a.credential.token_hash;
  assignment.player_b_token_hash = b.credential.token_hash;
  assignment.player_a_answer_hash = answer_hash(token_a);
  assignment.player_b_answer_hash = answer_hash(token_b);
  assignment.player_a_receipts = a.profile.receipts;
  assignment.player_b_receipts = b.profile.receipts;
  assignment.draw_seed = core::to_hex(slot.seed);
  assignment.player_a_standings = tally_of(league, pairing.player_a);
  assignment.player_b_standings = tally_of(league, pairing.player_b);
  // As they were when the match was assigned: the report is judged by that.
  assignment.player_a_suspended = slot.suspended[game::index(game::Side::kA)];
  assignment.player_b_suspended = slot.suspended[game::index(game::Side::kB)];
  if (league.roster().has_people(pairing)) {
    const auto limits_of = [&league](int index) -> std::optional<envelope::AnswerLimits> {
      if (!league.roster().is_person(index)) return std::nullopt;
      const events::SeatLimits& limits = league.settings().seat_limits;
      return envelope::AnswerLimits{.game_invitation = static_cast<int>(limits.invitation.count()),
                                    .choose_parity_call = static_cast<int>(limits.choice.count())};
    };
    assignment.limits_ms = {.player_a = limits_of(pairing.player_a),
                            .player_b = limits_of(pairing.player_b)};
  }
  assignment.meetings = league.schedule().meetings();
  assignment.meeting = league.schedule().meeting_of(match);
  if (assignment.meeting > 1) assignment.history = history_of(league, match);
  return assignment;
}

envelope::ScheduledMatch scheduled_match(const League& league, const MatchView& view) {
  const int winner = view.result ? files::winner_of(view.pairing, *view.result) : -1;
  const Schedule& schedule = league.schedule();
  return {.round_id = view.match.round,
          .match_id = view.match.id(),
          .game_type = league.settings().rules->game_type(),
          .player_a_id = player_id(view.pairing.player_a),
          .player_b_id = player_id(view.pairing.player_b),
          .referee_id = referee_id(view.referee),
          .status = std::string(
              view.result && view.result->is_voided ? "VOID" : files::match_status(view.status)),
          .winner = winner < 0 ? std::nullopt : std::optional(player_id(winner)),
          .meeting = schedule.meetings() > 1 ? std::optional(schedule.meeting_of(view.match))
                                             : std::nullopt};
}

std::optional<envelope::NextMatch> next_match(const League& league, int player) {
  auto view = league.next_match(player);
  if (!view) return std::nullopt;
  int opponent = view->pairing.player_a == player ? view->pairing.player_b : view->pairing.player_a;
  return envelope::NextMatch{.match_id = view->match.id(),
                             .round_id = view->match.round,
                             .opponent_id = player_id(opponent),
                             .referee_endpoint = referee_endpoint(league, view->referee)};
}

std::optional<envelope::StandingsRow> player_row(const League& league, int player) {
  auto table = league.table();
  auto found = std::ranges::find(table, player, &RankedPlayer::player);
  if (found == table.end()) return std::nullopt;
  return row_of(league, *found);
}

std::vector<envelope::PlayedMatchRow> played_matches(const League& league, int player,
                                                     std::size_t offset, std::size_t limit) {
  std::vector<envelope::PlayedMatchRow> rows;
  const auto finished = league.finished_matches(player);
  for (std::size_t i = offset; i < finished.size() && rows.size() < limit; ++i) {
    const MatchView& view = finished[i];
    const int winner = files::winner_of(view.pairing, *view.result);
    const bool is_draw = view.result->outcome == game::Outcome::kDraw;
    const std::string reason = league.technical_reason(view.match);
    rows.push_back({.match_id = view.match.id(),
                    .result = is_draw ? "DRAW" : (winner == player ? "WIN" : "LOSS"),
                    .termination = reason.empty() ? "NORMAL" : reason});
  }
  return rows;
}

std::vector<std::string> shared_first_place(const League& league) {
  std::vector<std::string> ids;
  if (!league.champion()) return ids;
  for (const auto& row : league.standings().table()) {
    if (row.rank != 1) break;
    ids.push_back(events::AgentRef::player(row.player).id());
  }
  return ids;
}

envelope::LeagueCompleted league_completed(const League& league) {
  envelope::LeagueCompleted message;
  message.total_rounds = league.board().round();
  message.total_matches = league.status().finished.total_matches;
  message.meetings = league.meetings();
  message.is_ended_early = league.is_ended_early();
  for (const auto& [match, replay] : league.voided()) message.voided_matches.push_back(match.id());
  message.final_standings = standings_rows(league);
  if (auto champion = league.champion()) {
    message.champion =
        envelope::Champion{.player_id = player_id(*champion),
                           .display_name = player(league, *champion).profile.display_name,
                           .points = league.standings().tally(*champion).points,
                           .is_shared = shared_first_place(league).size() > 1};
  }
  return message;
}

envelope::RoundCompleted round_completed(const League& league, int round) {
  envelope::RoundCompleted message;
  auto summary = league.round_summary(round).value_or(events::MatchSummary{});
  message.matches_completed = summary.total_matches;
  message.summary = {.total_matches = summary.total_matches,
                     .wins = summary.wins,
                     .draws = summary.draws,
                     .technical_losses = summary.technical_losses};
  if (round < league.schedule().rounds() && !league.is_ended_early())
    message.next_round_id = round + 1;
  return message;
}

}  // namespace league::league_manager::rounds
