#include "league_manager/files/remedies.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/core/error_code.h"

namespace league::league_manager::files {
namespace {

using core::ErrorCode;

struct Row {
  ErrorCode code;
  Remedy remedy;
};

constexpr auto kRemedies = std::to_array<Row>({
    {ErrorCode::kTimeout,
     {"6.2", "", "Answer within the time limit, and handle several calls at the same time."}},
    {ErrorCode::kConnectionError,
     {"6.2", "",
      "Keep the program running and listening at its registered address; if the address changes, "
      "register again with its token."}},
    {ErrorCode::kPlayerUnavailable, {"6.14", "", "Answer `ping`; any answer will do."}},
    {ErrorCode::kInvitationDeclined, {"4.7.5", "", "Answer an invitation with accept: true."}},
    {ErrorCode::kInvalidReply,
     {"1.2", "",
      "Answer with a JSON-RPC response whose result is the league message that the call expects; "
      "look for an exception in the program's own output at that time."}},
    {ErrorCode::kMalformedMessage, {"1.2", "", "Send the message as one JSON object."}},
    {ErrorCode::kMissingRequiredField, {"4.7", "4.9", "Send the field that the text names."}},
    {ErrorCode::kInvalidParityChoice,
     {"4.9.1", "", "Send parity_choice as the string \"even\" or \"odd\", in lower case."}},
    {ErrorCode::kMatchIdMismatch,
     {"4.7.1", "4.9.2",
      "Copy match_id from the call that you answer, even when several matches are open."}},
    {ErrorCode::kCommitmentMismatch,
     {"7.25", "",
      "Store the choice and the nonce of each commitment until the match is over, and send exactly "
      "these."}},
    {ErrorCode::kAuthTokenMissing,
     {"8.2", "", "Send the token of the registration in auth_token."}},
    {ErrorCode::kAuthTokenInvalid,
     {"8.2", "", "Send the token of the registration in auth_token."}},
    {ErrorCode::kSenderMismatch,
     {"2.4", "", "Send the id from the answer to the registration, in sender and in player_id."}},
    {ErrorCode::kInvalidSender,
     {"2.3", "", "Set sender to player: followed by your id, such as player:P01."}},
    {ErrorCode::kProtocolVersionMismatch, {"2.1", "", "Set protocol to league.v2."}},
    {ErrorCode::kUnknownMessageType, {"2.2", "", "Send one of the message types of section 4."}},
    {ErrorCode::kUnexpectedMessage, {"2.2", "", "Answer with the message that the call expects."}},
    {ErrorCode::kInvalidTimestamp,
     {"3.2", "", "Send the time in UTC with a Z at the end, such as 2026-01-15T10:30:00Z."}},
    {ErrorCode::kInvalidFieldType, {"2.14", "", "Give the field the type that the text names."}},
    {ErrorCode::kInvalidFieldValue, {"2.14", "", "Give the field a value that the text allows."}},
    {ErrorCode::kFieldTooLong, {"2.13", "", "Shorten the text, or nest less deeply."}},
    {ErrorCode::kDuplicateKey, {"1.8", "", "Use each key of an object only once."}},
});
constexpr Remedy kOther{"5", "", "Look the code up in section 5."};

}  // namespace

std::string_view Remedy::clause_of(std::string_view call) const {
  return call == "CHOOSE_PARITY_CALL" && !clause_of_choice.empty() ? clause_of_choice : clause;
}

const Remedy& remedy_of(std::string_view code) {
  const auto parsed = core::parse_error_code(code);
  const auto* found =
      std::ranges::find(kRemedies, parsed, [](const Row& one) { return std::optional(one.code); });
  return found == kRemedies.end() ? kOther : found->remedy;
}

}  // namespace league::league_manager::files
