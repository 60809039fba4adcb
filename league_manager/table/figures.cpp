#include "league_manager/table/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "common/core/crypto.h"
#include "league_manager/table/davidson.h"
#include "league_manager/table/luck.h"

namespace league::league_manager::table {
namespace {

constexpr double kMean = 1500;
constexpr double kScale = 400 / std::numbers::ln10;

/// The first eight bytes of the digest, the most significant first.
std::uint64_t seed_of(std::string_view what, std::string_view league_id) {
  const core::Digest digest = core::sha256(std::string(what) + " " + std::string(league_id));
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < 8; ++i) seed = seed << 8U | digest[i];
  return seed;
}

/// Numbers the players that have a match from 0, in the order of their indices: by index, the
/// number; -1 for the others.
std::vector<int> numbers_of(int players, std::span<const CountedMatch> matches) {
  std::vector<int> numbers(static_cast<std::size_t>(players), -1);
  for (const CountedMatch& match : matches) {
    for (int player : {match.player_a, match.player_b})
      numbers[static_cast<std::size_t>(player)] = 0;
  }
  int next = 0;
  for (int& number : numbers)
    if (number == 0) number = next++;
  return numbers;
}

}  // namespace

std::vector<CountedMatch> counted_matches(const League& league) {
  std::vector<CountedMatch> matches;
  if (league.status().finished.total_matches > kMostRated) return matches;
  const Schedule& schedule = league.schedule();
  for (int round = 1; round <= league.board().round(); ++round) {
    for (int number = 1; number <= schedule.matches_in(round); ++number) {
      const auto view = league.match({round, number});
      if (!view || !view->result || view->result->is_voided || view->result->is_technical())
        continue;
      matches.push_back({view->pairing.player_a, view->pairing.player_b, view->result->outcome});
    }
  }
  return matches;
}

std::optional<Figures> figures_of(int players, std::span<const CountedMatch> matches,
                                  std::string_view league_id, const std::stop_token& stop) {
  Figures figures{.players = {}, .luck = std::nullopt, .matches = matches.size()};
  figures.players.resize(static_cast<std::size_t>(players));
  const std::vector<int> numbers = numbers_of(players, matches);
  std::vector<CountedMatch> numbered(matches.begin(), matches.end());
  for (CountedMatch& match : numbered) {
    match.player_a = numbers[static_cast<std::size_t>(match.player_a)];
    match.player_b = numbers[static_cast<std::size_t>(match.player_b)];
  }
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(numbers, [](int number) { return number >= 0; }));
  if (count == 0) return figures;
  const Davidson model(count, numbered);
  std::vector<double> errors;
  std::vector<double> first;
  if (count <= kMostWithErrors) {
    const std::vector<double> factor = model.factor(stop);
    if (factor.empty()) return std::nullopt;
    errors = model.errors(factor, stop);
    if (!errors.empty()) first = model.first_places(factor, seed_of("p_first", league_id), stop);
    if (first.empty()) return std::nullopt;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0) continue;
    const auto number = static_cast<std::size_t>(numbers[i]);
    Rating rating{.rating = kMean + kScale * model.strengths()[number]};
    if (!errors.empty()) {
      rating.error = kScale * errors[number];
      rating.p_first = first[number] / static_cast<double>(kSamples);
    }
    figures.players[i] = rating;
  }
  figures.luck = luck_of(count, numbered, seed_of("luck", league_id), stop);
  if (stop.stop_requested()) return std::nullopt;
  return figures;
}

Figures figures_of(const League& league) {
  const auto matches = counted_matches(league);
  return *figures_of(league.roster().count(events::AgentKind::kPlayer), matches,
                     league.settings().league_id.str());
}

std::string luck_sentence(const std::optional<double>& luck) {
  if (!luck) return {};
  const auto of = [](double part, int all) {
    return std::to_string(std::lround(part * all)) + " of " + (all == 100 ? "100" : "1,000") +
           " leagues";
  };
  std::string often = "in fewer than 1 of 1,000 leagues";
  if (*luck >= 0.001) often = "in " + of(*luck, 1000);
  if (*luck >= 0.01) often = "in " + of(*luck, 100);
  if (*luck > 0.995) often = "in nearly every league";
  const std::string equal = "equal players would give a table at least this uneven " + often + ".";
  if (*luck >= 0.05) return "This table may be luck: " + equal;
  return "This table is hardly luck: " + equal;
}

const Rating* rating_of(const Figures& figures, std::string_view player_id) {
  const auto player = events::AgentRef::parse(player_id);
  if (!player || static_cast<std::size_t>(player->index) >= figures.players.size()) return nullptr;
  const auto& rating = figures.players[static_cast<std::size_t>(player->index)];
  return rating ? &*rating : nullptr;
}

bool is_decided(const Rating* champion) {
  return champion != nullptr && champion->p_first.value_or(1) >= kDecided;
}

}  // namespace league::league_manager::table
