#include "tests/games/registry.h"

#include "game/even_odd/even_odd.h"
#include "tests/games/matching_pennies/matching_pennies.h"

namespace league::testing {

const game::Registry& games_with_tests() {
  static const game::even_odd::EvenOdd even_odd;
  static const MatchingPennies matching_pennies;
  static const game::Registry games({&even_odd, &matching_pennies});
  return games;
}

}  // namespace league::testing
