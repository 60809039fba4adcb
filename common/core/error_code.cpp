#include "common/core/error_code.h"

#include <algorithm>
#include <array>

namespace league::core {
namespace {

using enum ErrorCode;

constexpr auto kErrors = std::to_array<ErrorInfo>({
    {kTimeout, "E001", "TIMEOUT_ERROR", "no answer arrived within the time limit", true},
    {kMalformedMessage, "E002", "MALFORMED_MESSAGE",
     "the message is not a JSON object that the protocol knows", false},
    {kMissingRequiredField, "E003", "MISSING_REQUIRED_FIELD", "a required field is absent or null",
     false},
    {kInvalidParityChoice, "E004", "INVALID_PARITY_CHOICE",
     "parity_choice must be exactly \"even\" or \"odd\"", false},
    {kPlayerNotRegistered, "E005", "PLAYER_NOT_REGISTERED", "no such player in this league", false},
    {kUnknownMessageType, "E006", "UNKNOWN_MESSAGE_TYPE",
     "message_type is not a message of league.v2", false},
    {kUnexpectedMessage, "E007", "UNEXPECTED_MESSAGE",
     "this message may not be sent by this sender, to this receiver or by this method", false},
    {kLeagueIdMismatch, "E008", "LEAGUE_ID_MISMATCH", "league_id names another league", false},
    {kConnectionError, "E009", "CONNECTION_ERROR",
     "the peer could not be reached or closed the connection", true},
    {kInvalidReply, "E010", "INVALID_REPLY",
     "the answer is not the league message that the call expects", false},
    {kAuthTokenMissing, "E011", "AUTH_TOKEN_MISSING", "auth_token is required in this message",
     false},
    {kAuthTokenInvalid, "E012", "AUTH_TOKEN_INVALID",
     "auth_token is not the one that this sender was given", false},
    {kRefereeNotRegistered, "E013", "REFEREE_NOT_REGISTERED", "no such referee in this league",
     false},
    {kSenderMismatch, "E014", "SENDER_MISMATCH", "the sender's role or id does not fit the message",
     false},
    {kMatchIdMismatch, "E015", "MATCH_ID_MISMATCH", "match_id is not the match of this call",
     false},
    {kNotAuthorized, "E016", "NOT_AUTHORIZED", "the caller may not do this", false},
    {kLeagueFull, "E017", "LEAGUE_FULL", "the league takes no more agents of this kind", false},
    {kProtocolVersionMismatch, "E018", "PROTOCOL_VERSION_MISMATCH",
     "only league.v2 and protocol versions 2.x are supported", false},
    {kLateRegistration, "E019", "LATE_REGISTRATION", "the league has already started", false},
    {kDuplicateRegistration, "E020", "DUPLICATE_REGISTRATION",
     "this name or endpoint is registered already", false},
    {kInvalidTimestamp, "E021", "INVALID_TIMESTAMP",
     "timestamps are ISO 8601 in UTC, such as 2025-01-15T10:30:00Z", false},
    {kInvalidFieldType, "E022", "INVALID_FIELD_TYPE", "a field has the wrong JSON type", false},
    {kInvalidFieldValue, "E023", "INVALID_FIELD_VALUE",
     "a field has a value that the protocol does not allow", false},
    {kFieldTooLong, "E024", "FIELD_TOO_LONG",
     "a string or the nesting is longer than the protocol allows", false},
    {kInvalidSender, "E025", "INVALID_SENDER",
     "sender must be league_manager, referee:ID or player:ID", false},
    {kDuplicateKey, "E026", "DUPLICATE_KEY", "a JSON object names the same key twice", false},
    {kEndpointNotAllowed, "E027", "ENDPOINT_NOT_ALLOWED",
     "contact_endpoint is not an address that this league's policy allows", false},
    {kGameTypeNotSupported, "E028", "GAME_TYPE_NOT_SUPPORTED",
     "the game of this league is not among game_types", false},
    {kUnknownQuery, "E029", "UNKNOWN_QUERY", "query_type is not one that this league answers",
     false},
    {kMatchNotFound, "E030", "MATCH_NOT_FOUND", "no such match in this league", false},
    {kMatchNotOpen, "E031", "MATCH_NOT_OPEN",
     "the match has not been assigned or is already decided", false},
    {kNotAssignedReferee, "E032", "NOT_ASSIGNED_REFEREE",
     "the match is assigned to another referee", false},
    {kStaleAttempt, "E033", "STALE_ATTEMPT", "the report is for an attempt that was given up",
     false},
    {kResultConflict, "E034", "RESULT_CONFLICT",
     "the match already has another result, which stands", false},
    {kInvalidResult, "E035", "INVALID_RESULT",
     "the reported result contradicts itself, the match or the rules", false},
    {kCapacityExceeded, "E036", "CAPACITY_EXCEEDED",
     "the referee has no free place (max_concurrent_matches)", false},
    {kInvitationDeclined, "E037", "INVITATION_DECLINED",
     "the player answered the invitation with accept: false", false},
    {kPlayerUnavailable, "E038", "PLAYER_UNAVAILABLE",
     "the player is shut down, or was suspended and did not answer a ping", false},
    {kLeagueNotStartable, "E039", "LEAGUE_NOT_STARTABLE",
     "the league is running, over, or lacks players or referees", false},
    {kCommitmentMismatch, "E040", "COMMITMENT_MISMATCH",
     "choice and choice_nonce do not match the choice_commitment that the player gave", false},
    {kLossContradicted, "E041", "LOSS_CONTRADICTED",
     "the player contradicts the technical loss, so another referee plays the match", false},
    {kInternalError, "E090", "INTERNAL_ERROR", "an error in our program; its log has the details",
     false},
    {kOverloaded, "E091", "OVERLOADED", "too much work is waiting; try again later", false},
    {kShuttingDown, "E092", "SHUTTING_DOWN", "the program is being stopped", false},
    {kReplyTooLarge, "E093", "REPLY_TOO_LARGE", "the answer is larger than the limit", false},
    {kAgentStateChanged, "E094", "AGENT_STATE_CHANGED",
     "the league manager has given the agent another state", false},
});

}  // namespace

std::span<const ErrorInfo> all_errors() { return kErrors; }

const ErrorInfo& error_info(ErrorCode code) {
  const auto* row = std::ranges::find(kErrors, code, &ErrorInfo::code);
  return row != kErrors.end() ? *row : error_info(kInternalError);
}

std::string_view wire_code(ErrorCode code) { return error_info(code).wire_code; }

std::optional<ErrorCode> parse_error_code(std::string_view wire) {
  const auto* row = std::ranges::find(kErrors, wire, &ErrorInfo::wire_code);
  if (row == kErrors.end()) return std::nullopt;
  return row->code;
}

}  // namespace league::core
