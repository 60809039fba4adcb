#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/random_source.h"
#include "common/core/result.h"
#include "player/history.h"

namespace league::player {

/// What a player knows when it has to choose. Lives as long as the call.
struct ChoiceContext {
  core::LeagueId league_id;
  core::MatchId match_id;
  int round_id = 0;  ///< 0 where the referee did not say
  core::PlayerId opponent_id;
  const MatchHistory& history;
  std::optional<Tally> standings = std::nullopt;  ///< our own, where the referee sent them
};

/// History in, choice out. Implementations hold nothing but the source of randomness, so a strategy
/// may be asked again and from any thread.
class Strategy {
 public:
  virtual ~Strategy() = default;
  [[nodiscard]] virtual Parity choose(const ChoiceContext& context) const = 0;
};

/// The strategy called `name`; an Error that lists the known names otherwise. `random` outlives it.
[[nodiscard]] core::Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name,
                                                                    core::RandomSource& random);

/// `random`, `even`, `odd`, `alternate`, `frequency`, `opposite`.
[[nodiscard]] std::vector<std::string_view> known_strategies();

/// What a player that chose `choices` will choose next: its constant choice, the next one of an
/// alternation, else what it chose more often; nothing where the choices do not say.
[[nodiscard]] std::optional<Parity> predict_next(const std::vector<Parity>& choices);

}  // namespace league::player
