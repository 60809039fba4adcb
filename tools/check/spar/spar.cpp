#include "tools/check/spar/spar.h"

#include <algorithm>
#include <cmath>

#include "common/core/counted.h"

namespace league::tools::check {

namespace {

/// The round of all matches. PlayerBench::settle uses lower rounds, whose invitations a bot may
/// still remember.
constexpr int kRound = 100;

/// What a player chose and what it gets for that.
std::string told_of(const envelope::MatchResult& result, const std::string& player) {
  std::string text = ": ";
  for (const auto& [id, choice] : result.details.choices)
    if (id.str() == player && choice) text += "chose " + *choice + ", ";
  for (const auto& [id, points] : result.score)
    if (id.str() == player) text += core::counted(points, "point");
  return text;
}

}  // namespace

void Sparring::note_calls(const TrialMatch& match, SparMatch& outcome) {
  for (const TrialCall& call : match.calls) {
    const auto side = std::ranges::find(
        sides_, call.endpoint, [](const SparSide& one) { return one.seat.endpoint.url(); });
    if (side == sides_.end()) continue;
    const bool is_refused = call.notes && call.notes->verdict;
    if (call.budget == transport::link::Budget::kGame) {
      outcome.story.push_back(call.type + " to " + side->name);
      if (call.exchange.trouble.empty()) side->latencies.push_back(call.exchange.elapsed);
      if (is_refused) outcome.story.push_back(side->name + ": " + call.notes->fault);
    } else if (is_refused && call.type == "GAME_OVER") {
      outcome.story.push_back(side->name + " disputes the result: " + call.notes->fault);
    }
  }
  if (!match.reason.empty()) outcome.story.push_back(match.reason);
}

SparMatch Sparring::play() {
  first_ = 1 - first_;
  game::PerSide<TrialSeat> seats;
  seats[game::Side::kA] = sides_.at(first_).seat;
  seats[game::Side::kB] = sides_.at(1 - first_).seat;
  const TrialMatch match = league_->play(seats, kRound, ++number_);
  SparMatch outcome;
  note_calls(match, outcome);
  for (std::size_t at = 0; at < sides_.size(); ++at) {
    SparSide& side = sides_.at(at);
    if (match.result) outcome.story.push_back(side.name + told_of(*match.result, side.seat.id));
    if (match.result && match.result->winner && match.result->winner->str() == side.seat.id)
      outcome.winner = at;
    const auto lost = match.lost_by(side.seat.id);
    outcome.is_technical.at(at) = lost.has_value();
    if (!lost) continue;
    SparLosses& losses = side.losses[std::string(referee::termination_name(*lost))];
    ++losses.count;
    if (const TrialCall* call = match.refused_call(side.seat.id)) losses.last = call->notes->fault;
  }
  outcome.is_draw = !outcome.winner && !outcome.is_technical[0] && !outcome.is_technical[1];
  return outcome;
}

std::pair<double, double> wilson_interval(double points, std::size_t matches) {
  if (matches == 0) return {0.0, 1.0};
  constexpr double kZ = 1.959964;  // 97.5 % of the normal distribution lie below
  const auto n = static_cast<double>(matches);
  const double share = points / n;
  const double middle = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half =
      kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / (1 + kZ * kZ / n);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace league::tools::check
