#pragma once

#include <chrono>
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "league_manager/core/report_rules.h"
#include "league_manager/events/events.h"

namespace league::league_manager {

/// A call of a match as the called player remembers it, see envelope::RecordedCall.
struct PlayerCall {
  std::string message_type;
  int attempt = 0;  ///< that its credential proved; 0: none
  int play = 0;
  bool is_answered = false;
  std::optional<int> answer_ms = std::nullopt;
  std::optional<bool> accept = std::nullopt;
  std::optional<std::string> choice_commitment = std::nullopt;
  std::optional<std::string> choice = std::nullopt;
  std::optional<std::string> nonce = std::nullopt;
  std::optional<std::string> opponent_commitment = std::nullopt;
  std::optional<std::string> receipt = std::nullopt;
  std::optional<std::string> refused = std::nullopt;  ///< code
  bool is_callers_fault = false;
};

/// What a player answers when the manager asks what it was called for. Unchecked: it is the
/// player's word.
struct PlayerRecord {
  std::vector<PlayerCall> calls;
};

/// A call for an answer that came to a player's seat.
struct SeatedCall {
  int player = 0;
  events::MatchKey match;
  int attempt = 0;
  int play = 0;  ///< as its referee says
  std::string message_type;  ///< wire name

  auto operator<=>(const SeatedCall&) const = default;
};

/// How a question to a player ended.
struct PlayerAnswer {
  int player = 0;
  std::optional<PlayerRecord> record;  ///< nothing: no word
  std::string why_none = {};  ///< for people
};

/// How far the call got that a player lost by; see envelope::CallFailure.
enum class LossPhase : std::uint8_t {
  kConnect,  ///< it was not written to the player
  kSent,  ///< written, without an answer
  kAnswered,
  kUnknown,  ///< a third-party referee names no failed call
};

/// A technical loss as its referee reports it.
struct ReportedLoss {
  LossPhase phase = LossPhase::kUnknown;
  std::string call;  ///< that failed last; empty: not known
  bool is_decline = false;
  bool is_timeout = false;
};

/// How `player_id` lost, by its last failure in `report`. Where a failure has no phase, its error
/// code says how far the call came.
[[nodiscard]] ReportedLoss loss_of(const MatchReport& report, const std::string& player_id);

/// What a player's word is measured by.
struct WordFacts {
  const game::Definition& rules;
  std::string match_id;
  std::string player_id;
  std::string draw_commitment;
  int attempt = 1;
  int play = 0;
  std::chrono::milliseconds join_limit{5000};
  std::chrono::milliseconds choice_limit{30000};
  /// How long before the report its seat got the call that failed; nothing: not known.
  std::optional<std::chrono::milliseconds> since_call = std::nullopt;
};

/// What `answer` says to `loss`. It never contradicts a loss at `connect`: the player cannot know
/// of a call that did not reach it. But the manager contradicts a time-out whose time cannot be
/// over. Pure. Source: protocol §7, item 9.
[[nodiscard]] events::HeardPlayer word_of(const PlayerAnswer& answer, const ReportedLoss& loss,
                                          const WordFacts& facts);

/// What a report says that a player answered and was shown, where no valid receipt proves it.
struct ReportedPlay {
  std::string choice;
  std::optional<std::string> nonce;
  std::optional<std::string> opponent_commitment;
};

/// What `answer` says to that; `reported` is empty where the report lists no choice of the player.
/// Pure. Source: protocol §7, item 8.
[[nodiscard]] events::HeardPlayer word_on_play(const PlayerAnswer& answer,
                                               const std::optional<ReportedPlay>& reported,
                                               const WordFacts& facts);

/// Whether the word contradicts the report: `no_call`, `answered`, `call_at_fault` or `still_open`.
[[nodiscard]] bool contradicts(events::PlayerWord word);

}  // namespace league::league_manager
