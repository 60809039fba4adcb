#include "league_manager/draw_commitment.h"

#include "common/core/crypto.h"

namespace league::league_manager {

std::string draw_commitment(const DrawSeed& seed, const core::MatchId& match) {
  std::string text(seed.begin(), seed.end());
  return core::to_hex(core::sha256(text + match.str()));
}

}  // namespace league::league_manager
