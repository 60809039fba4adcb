#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace league::core {

/// Every fault that a league message can name. The value is the number after the `E`.
/// Source: protocol §5; ranges: protocol 2-10, authentication and version 11-20, validation 21-29,
/// game 30-39, system 90-99.
enum class ErrorCode {
  kTimeout = 1,
  kMalformedMessage = 2,
  kMissingRequiredField = 3,
  kInvalidParityChoice = 4,
  kPlayerNotRegistered = 5,
  kUnknownMessageType = 6,
  kUnexpectedMessage = 7,
  kLeagueIdMismatch = 8,
  kConnectionError = 9,
  kInvalidReply = 10,
  kAuthTokenMissing = 11,
  kAuthTokenInvalid = 12,
  kRefereeNotRegistered = 13,
  kSenderMismatch = 14,
  kMatchIdMismatch = 15,
  kNotAuthorized = 16,
  kLeagueFull = 17,
  kProtocolVersionMismatch = 18,
  kLateRegistration = 19,
  kDuplicateRegistration = 20,
  kInvalidTimestamp = 21,
  kInvalidFieldType = 22,
  kInvalidFieldValue = 23,
  kFieldTooLong = 24,
  kInvalidSender = 25,
  kDuplicateKey = 26,
  kEndpointNotAllowed = 27,
  kGameTypeNotSupported = 28,
  kUnknownQuery = 29,
  kMatchNotFound = 30,
  kMatchNotOpen = 31,
  kNotAssignedReferee = 32,
  kStaleAttempt = 33,
  kResultConflict = 34,
  kInvalidResult = 35,
  kCapacityExceeded = 36,
  kInvitationDeclined = 37,
  kPlayerUnavailable = 38,
  kLeagueNotStartable = 39,
  kCommitmentMismatch = 40,
  kLossContradicted = 41,
  kInternalError = 90,
  kOverloaded = 91,
  kShuttingDown = 92,
  kReplyTooLarge = 93,
  kAgentStateChanged = 94,
};

/// One row of the table of errors.
struct ErrorInfo {
  ErrorCode code;
  std::string_view wire_code;  ///< `E001`
  std::string_view name;  ///< `TIMEOUT_ERROR`
  std::string_view description;  ///< one sentence for a person
  bool retryable;  ///< only after these may the same call be tried again (protocol §6)
};

/// The project's one table of errors, by code. Immutable, so safe from any thread.
[[nodiscard]] std::span<const ErrorInfo> all_errors();

/// The row of `code`.
[[nodiscard]] const ErrorInfo& error_info(ErrorCode code);

/// `E001` for kTimeout.
[[nodiscard]] std::string_view wire_code(ErrorCode code);

/// The code that is written `wire`, such as `E012`; nothing for one that is not in the table.
[[nodiscard]] std::optional<ErrorCode> parse_error_code(std::string_view wire);

}  // namespace league::core
