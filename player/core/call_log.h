#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "common/core/ids.h"
#include "common/core/timestamp.h"
#include "common/envelope/match_record.h"

namespace league::player {

/// The calls of a player's last matches, as it answers them to `get_match_record`. Only calls whose
/// credential was checked belong in it. Not thread-safe. Source: protocol §7, "Losses are heard on
/// both sides".
class CallLog {
 public:
  static constexpr std::size_t kMostMatches = 32;  ///< the oldest is forgotten
  static constexpr std::size_t kMostCalls = 32;  ///< of one match; further ones are not noted

  /// Notes that the calls of a match, if there are any, reach this player from now on: the record
  /// of the match is complete. Does nothing for a match that is known.
  void expect(const core::MatchId& match);
  void add(const core::MatchId& match, envelope::RecordedCall call);

  /// The record of a match; nothing if the calls of the match may have reached an earlier process
  /// of this player, or if the match is forgotten.
  [[nodiscard]] std::optional<envelope::MatchRecord> record_of(const core::MatchId& match,
                                                               const core::PlayerId& self) const;

 private:
  std::map<core::MatchId, std::vector<envelope::RecordedCall>> matches_;
  std::deque<core::MatchId> order_;
};

/// How long the player had for its answers.
struct AnswerLimits {
  std::chrono::milliseconds invitation{5000};
  std::chrono::milliseconds choice{30000};
};

/// Why a technical loss of the player contradicts its record: it got no call, it gave a valid
/// answer to the last one in time, or it refused a call for the call's own fault. Nothing if the
/// record does not contradict the loss.
[[nodiscard]] std::optional<std::string> contradiction_of_loss(const envelope::MatchRecord& record,
                                                               const AnswerLimits& limits);

}  // namespace league::player
