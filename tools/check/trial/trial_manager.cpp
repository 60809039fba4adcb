// What the manager of a trial league tells its players.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/envelope/codec.h"
#include "common/envelope/round_messages.h"
#include "common/rpc/json_text.h"
#include "tools/check/trial/trial_league.h"

namespace league::tools::check {

using envelope::MessageType;
using game::Side;

namespace {

std::vector<envelope::StandingsRow> table_of(const game::PerSide<TrialSeat>& seats, int played) {
  std::vector<envelope::StandingsRow> rows;
  for (Side side : game::kBothSides) {
    const std::string& id = seats[side].id;
    rows.push_back({.rank = static_cast<int>(rows.size()) + 1,
                    .player_id = core::PlayerId(id),
                    .display_name = "bot " + id,
                    .played = played,
                    .draws = played,
                    .points = played});
  }
  return rows;
}

}  // namespace

template <typename Message>
void TrialLeague::broadcast(const game::PerSide<TrialSeat>& seats, int round,
                            const Message& message) {
  const envelope::EnvelopeBuilder envelopes(envelope::Sender::league_manager(),
                                            core::LeagueId(options_.league_id),
                                            manager_->host->clock());
  for (Side side : game::kBothSides) {
    const TrialSeat& seat = seats[side];
    if (seat.endpoint.url() == kStandInUrl) continue;
    const auto envelope = envelopes.make(
        Message::kType,
        {.conversation_id = envelope::round_conversation(round, Message::kType),
         .auth_token = seat.token.empty() ? core::AuthToken(kWithoutToken) : seat.token,
         .round_id = round});
    auto call = agent::peers::call_with({seat.endpoint, "player:" + seat.id}, envelope,
                                        rpc::to_json_text(envelope::encode(envelope, message)),
                                        settings_.time_limit(Message::kType));
    call.budget = transport::link::Budget::kBroadcast;
    manager_->peers->call(std::move(call), [](const agent::peers::PeerReply&) {});
  }
}

void TrialLeague::wait_for_players(std::chrono::milliseconds limit) const {
  (void)manager_->recorder.wait(limit, [](const Recorder::Calls& calls) {
    return std::ranges::all_of(calls, [](const auto& call) { return call->is_done; });
  });
}

void TrialLeague::announce(const game::PerSide<TrialSeat>& seats, int round, int number) {
  for (Side side : game::kBothSides) {
    const auto style = seats[side].dialect ? agent::dialects::parse_call_style(*seats[side].dialect)
                                           : std::nullopt;
    if (style) manager_->peers->remember_style(seats[side].endpoint, *style);
  }
  const envelope::MatchAssignment match = assignment(seats, round, number);
  envelope::RoundAnnouncement announcement;
  announcement.matches.push_back({.match_id = match.match_id,
                                  .game_type = match.game_type,
                                  .player_a_id = match.player_a_id,
                                  .player_b_id = match.player_b_id,
                                  .referee_endpoint = match.referee_endpoint,
                                  .referee_id = match.referee_id,
                                  .draw_commitment = match.draw_commitment,
                                  .referee_credential = "match"});
  broadcast(seats, round, announcement);
  wait_for_players(settings_.league.announcement_grace);
}

void TrialLeague::tell_results(const game::PerSide<TrialSeat>& seats, int round) {
  broadcast(seats, round, envelope::LeagueStandingsUpdate{.standings = table_of(seats, round)});
  // The table comes before the end of its round (protocol section 4, message 12); two calls at once
  // travel on two connections, which keep no order.
  wait_for_players(settings_.league.announcement_grace);
  broadcast(seats, round,
            envelope::RoundCompleted{.matches_completed = 1,
                                     .next_round_id = round + 1,
                                     .summary = {.total_matches = 1, .draws = 1}});
  wait_for_players(settings_.league.announcement_grace);
}

}  // namespace league::tools::check
