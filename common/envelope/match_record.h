#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/core/ids.h"
#include "common/core/result.h"

namespace league::envelope {

/// A call of a match as the called player remembers it. Source: protocol §7, "Losses are heard on
/// both sides".
struct RecordedCall {
  std::string message_type{};  ///< wire name
  int attempt = 0;  ///< that its credential proves; 0: it had no valid credential
  int play = 0;
  std::string at{};  ///< when it arrived, by the player's clock: UTC with microseconds
  std::optional<std::string> answered_at = std::nullopt;  ///< nothing: it has not been answered
  std::optional<int> answer_ms = std::nullopt;  ///< how long the answer took
  std::optional<bool> accept = std::nullopt;
  std::optional<std::string> choice_commitment = std::nullopt;
  std::optional<std::string> parity_choice = std::nullopt;
  std::optional<std::string> choice_nonce = std::nullopt;
  std::optional<std::string> opponent_commitment = std::nullopt;  ///< as the call showed it
  std::optional<std::string> receipt = std::nullopt;  ///< of the answer
  std::optional<std::string> refused = std::nullopt;  ///< the code, if the player refused the call
  std::optional<std::string> reason = std::nullopt;  ///< its text
  bool is_callers_fault = false;  ///< it was refused for a fault of the call itself

  bool operator==(const RecordedCall&) const = default;
};

/// What a player answers to `get_match_record`: the calls of one match, in the order in which they
/// came. Choices are in it only where they have been sent as an answer.
struct MatchRecord {
  core::MatchId match_id{};
  core::PlayerId player_id{};
  std::vector<RecordedCall> calls{};

  bool operator==(const MatchRecord&) const = default;
};

[[nodiscard]] nlohmann::json encode_match_record(const MatchRecord& record);
/// Fails with kMissingRequiredField, kInvalidFieldType or kInvalidFieldValue (more than 64 calls).
[[nodiscard]] core::Result<MatchRecord> decode_match_record(const nlohmann::json& record);

}  // namespace league::envelope
