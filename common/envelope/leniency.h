#pragma once

#include <bitset>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/ids.h"
#include "common/core/result.h"
#include "common/core/timestamp.h"
#include "common/envelope/message_type.h"
#include "common/envelope/mode.h"
#include "common/schema/json_tree.h"

namespace league::envelope {

/// Every deviation by bots in the wild that `open` mode accepts. Source: protocol §9.
enum class Leniency {
  // Which JSON-RPC method was used (noted by common/agent).
  kMethodMessageType,  ///< the message type itself as the method
  kMethodLowerCaseType,  ///< the message type in lower case
  kMethodAlias,  ///< another known name (`parity_choose`, `receive_*`)
  kMethodGeneric,  ///< `mcp_message`, `handle_message`
  kMethodToolsCall,  ///< MCP `tools/call` with the tool's name
  kMethodUnknownRouted,  ///< an unknown method, routed by message_type
  // Where in the frame the message was (noted by common/agent).
  kParamsMessage,  ///< request in `params.message`
  kParamsArguments,  ///< request in `params.arguments`
  kBareRequestBody,  ///< request without a JSON-RPC frame
  kResultResponse,  ///< reply in `result.response`
  kResultStructuredContent,  ///< reply in `result.structuredContent`
  kResultContentText,  ///< reply as JSON text in `result.content[0].text`
  kReplyAsRequest,  ///< reply in `params` of a JSON-RPC request
  kBareReplyBody,  ///< reply without a JSON-RPC frame
  // Deviations of the JSON-RPC frame (noted by common/agent).
  kNullErrorBesideResult,
  kNullResultBesideError,
  kIdNotEchoed,
  kIdTypeChanged,  ///< the id in another JSON type: "17" for 17
  kForeignId,  ///< another id than the request's
  kReplyWithErrorStatus,  ///< a good reply with an HTTP status of 4xx or 5xx
  kAckMethodNotFound,  ///< -32601 to a notification
  kAckWithoutJson,  ///< a 2xx answer to a notification that is no JSON-RPC
  // Field names and values (noted by normalise).
  kChoiceField,  ///< `choice` for `parity_choice`
  kAcceptedField,  ///< `accepted` for `accept`
  kStatusForAccept,  ///< `status: "ACCEPTED"` for `accept`
  kStatusAck,  ///< `status: "ACK"` or `"OK"` beside the invitation's `match_id` for `accept`
  kBareAcknowledgement,  ///< the same without `match_id`, in reply to the invitation itself
  kStatusRegistered,  ///< `REGISTERED` for `ACCEPTED`
  kPlayedField,  ///< `games_played` or `matches_played` for `played`
  kNullOptionalField,  ///< an optional envelope field that is null
  kEmptyOptionalField,  ///< an optional envelope field that is ""
  kRoundIdText,  ///< `round_id` as `"R1"` or `"ROUND_1"`
  kSenderManagerWithId,  ///< `league_manager:LM01`
  kSenderPluralRole,  ///< `players:P01`
  kSenderUnregistered,  ///< `referee:UNREGISTERED`
  kMissingProtocol,
  kMissingMessageType,
  kMissingSender,
  kMissingTimestamp,
  kMissingConversationId,
  kMissingLeagueId,
  kMissingPlayerId,
  kMissingMatchId,
  kMissingArrivalTimestamp,
  // Forms that third-party managers and referees use towards their guests (noted by normalise).
  kTimestampZoneTwice,  ///< `…+00:00Z`
  kRoleInMatchCase,  ///< `player_a` for `PLAYER_A`
  kMissingRank,  ///< a row of the standings without `rank`
  kMissingDraws,  ///< a row of the standings without `draws`
  // How such a manager answers a registration (noted by common/agent).
  kAcceptedWithoutToken,  ///< no `auth_token`
  // Ids in a reply that differ from the call's (noted by common/agent).
  kForeignConversationId,  ///< a `conversation_id` that differs from the call's
  kForeignLeagueId,  ///< a `league_id` that differs from the call's
  kForeignRoundId,  ///< a `round_id` that differs from the call's
  // Who called (noted by common/agent and by the agents, which know the valid tokens).
  kMissingCallToken,  ///< a call without `auth_token`
  kForeignCallToken,  ///< a call with a token that nobody checks or could check
  kForeignRefereeToken,  ///< the token of a foreign referee that the announcement names
  kMissingVersion,  ///< a registration without the agent's `version`
  kProtocolVersionText,  ///< `protocol_version: "league.v2"`
  kReportForm,  ///< a result in another shape: `winner_id`, `players`, no `details`
  kDrawnNumberZero,  ///< `drawn_number: 0` where nothing was drawn
  kDrawScoreZero,  ///< a draw reported as 0 : 0
  // What does not bind a player (noted by the referee in both modes, because it is ignored).
  kCommitmentIgnored,  ///< `choice_commitment` where no `draw_commitment` was announced
  kNonceIgnored,  ///< `choice_nonce` of a player whose commitment does not count
  // Who answered (noted by common/agent and the referee, which know whom they called).
  kMissingReplyToken,  ///< a reply without `auth_token`
  kForeignReplyToken,  ///< a reply with a token that is not the player's
  kForeignReplySender,  ///< a reply whose sender is not the agent that was called
  kForeignReplyPlayer,  ///< a reply whose `player_id` is not that of the player that was called
  kAnswerPostedBack,  ///< an answer that came as a call of its own
};

/// How many there are.
inline constexpr std::size_t kLeniencies =
    static_cast<std::size_t>(Leniency::kAnswerPostedBack) + 1;

/// The stable name in conversation logs, such as `choice_field`. Static storage.
[[nodiscard]] std::string_view leniency_name(Leniency leniency);
/// All of them, in the order of the enumeration.
[[nodiscard]] const std::vector<Leniency>& all_leniencies();

/// The set of leniencies that one message needed. Not thread-safe: it belongs to one message.
class Leniencies {
 public:
  void add(Leniency leniency);
  void add(const Leniencies& others);
  [[nodiscard]] bool contains(Leniency leniency) const;
  [[nodiscard]] bool empty() const { return bits_.none(); }
  /// Names in the order of the enumeration; static storage.
  [[nodiscard]] std::vector<std::string_view> names() const;

  bool operator==(const Leniencies&) const = default;

 private:
  std::bitset<kLeniencies> bits_;
};

/// Values for missing fields of an envelope: for a reply those known from the call, for a
/// registration those known from the connection. Absent values fill nothing.
struct NormaliseDefaults {
  core::UtcTimestamp now{};
  std::optional<std::string> sender = std::nullopt;  ///< `player:P01`
  std::optional<core::ConversationId> conversation_id = std::nullopt;
  std::optional<core::PlayerId> player_id = std::nullopt;
  std::optional<core::MatchId> match_id = std::nullopt;
  /// The receiver is, or may be, the guest of a third-party manager: forms that such managers and
  /// referees use are rewritten too (protocol §8).
  bool is_guest = false;
  /// For a query without an envelope, together with `sender`: the league of the token's owner.
  std::optional<core::LeagueId> league_id = std::nullopt;
};

/// Rewrites the tolerated deviations in `message` into the exact form and adds each to `taken`;
/// must be called before the schema is checked. In strict mode nothing is rewritten, so that the
/// schema refuses deviations; the few that a schema would accept are refused here. Fails only for
/// these, and if `message` is not an object.
[[nodiscard]] core::Result<void> normalise(nlohmann::json& message, MessageType expected, Mode mode,
                                           const NormaliseDefaults& defaults, Leniencies& taken);

/// False for a message that its schema may accept and that normalise would still rewrite or refuse
/// for its values alone. (Everything else that it rewrites breaks the schema, or is a member that
/// the schema does not name.) For receivers that are no guests.
[[nodiscard]] bool is_in_own_form(MessageType type, schema::JsonNode message);

}  // namespace league::envelope
