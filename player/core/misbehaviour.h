#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::player {

/// Ways in which a player can break the rules, for tests of all other programs.
enum class MisbehaviourKind {
  kSlow,  ///< `slow:MS`: answers each game call MS milliseconds late
  kSilent,  ///< accepts a game call and never answers
  kCrash,  ///< ends its process at the first choice
  kGarbage,  ///< answers with bytes that are not JSON
  kInvalid,  ///< answers with an invalid choice
  kWrongMatch,  ///< names another match in its answer
  kNoToken,  ///< leaves its token out of its answers
  kHuge,  ///< answers with more bytes than any program accepts
  kBadCommitment,  ///< joins with a malformed commitment
  kBadNonce,  ///< opens its commitment with another nonce
  kNoNonce,  ///< does not open its commitment
  kOtherChoice,  ///< makes another choice than it has committed itself to
};

/// How a player misbehaves; if it makes a choice, the choice is random.
struct Misbehaviour {
  MisbehaviourKind kind = MisbehaviourKind::kSilent;
  std::chrono::milliseconds delay{0};  ///< of kSlow; else 0

  bool operator==(const Misbehaviour&) const = default;
};

/// Parses the value of `--strategy`: nothing for a name that is not a misbehaviour (it may be a
/// strategy), an Error for `slow` without its number (0 to 3600000) or another misbehaviour with
/// one.
[[nodiscard]] core::Result<std::optional<Misbehaviour>> parse_misbehaviour(std::string_view text);

/// `slow:MS`, `silent`, `crash`, `garbage`, `invalid`, `wrong-match`, `no-token`, `huge`,
/// `bad-commitment`, `bad-nonce`, `no-nonce`, `other-choice`.
[[nodiscard]] std::vector<std::string_view> known_misbehaviours();

}  // namespace league::player
