#include <array>
#include <cstddef>

#include "common/envelope/leniency.h"

namespace league::envelope {
namespace {

using enum Leniency;

struct Named {
  Leniency leniency;
  std::string_view name;
};

/// In the order of the enumeration. The names are stored in logs, so they must never be changed.
constexpr auto kNames = std::to_array<Named>({
    {kMethodMessageType, "method_message_type"},
    {kMethodLowerCaseType, "method_lower_case_type"},
    {kMethodAlias, "method_alias"},
    {kMethodGeneric, "method_generic"},
    {kMethodToolsCall, "method_tools_call"},
    {kMethodUnknownRouted, "method_unknown_routed"},
    {kParamsMessage, "params_message"},
    {kParamsArguments, "params_arguments"},
    {kBareRequestBody, "bare_request_body"},
    {kResultResponse, "result_response"},
    {kResultStructuredContent, "result_structured_content"},
    {kResultContentText, "result_content_text"},
    {kReplyAsRequest, "reply_as_request"},
    {kBareReplyBody, "bare_reply_body"},
    {kNullErrorBesideResult, "null_error_beside_result"},
    {kNullResultBesideError, "null_result_beside_error"},
    {kIdNotEchoed, "id_not_echoed"},
    {kIdTypeChanged, "id_type_changed"},
    {kForeignId, "foreign_id"},
    {kReplyWithErrorStatus, "reply_with_error_status"},
    {kAckMethodNotFound, "ack_method_not_found"},
    {kAckWithoutJson, "ack_without_json"},
    {kChoiceField, "choice_field"},
    {kAcceptedField, "accepted_field"},
    {kStatusForAccept, "status_for_accept"},
    {kStatusAck, "status_ack"},
    {kBareAcknowledgement, "bare_acknowledgement"},
    {kStatusRegistered, "status_registered"},
    {kPlayedField, "played_field"},
    {kNullOptionalField, "null_optional_field"},
    {kEmptyOptionalField, "empty_optional_field"},
    {kRoundIdText, "round_id_text"},
    {kSenderManagerWithId, "sender_manager_with_id"},
    {kSenderPluralRole, "sender_plural_role"},
    {kSenderUnregistered, "sender_unregistered"},
    {kMissingProtocol, "missing_protocol"},
    {kMissingMessageType, "missing_message_type"},
    {kMissingSender, "missing_sender"},
    {kMissingTimestamp, "missing_timestamp"},
    {kMissingConversationId, "missing_conversation_id"},
    {kMissingLeagueId, "missing_league_id"},
    {kMissingPlayerId, "missing_player_id"},
    {kMissingMatchId, "missing_match_id"},
    {kMissingArrivalTimestamp, "missing_arrival_timestamp"},
    {kTimestampZoneTwice, "timestamp_zone_twice"},
    {kRoleInMatchCase, "role_in_match_case"},
    {kMissingRank, "missing_rank"},
    {kMissingDraws, "missing_draws"},
    {kAcceptedWithoutToken, "accepted_without_token"},
    {kForeignConversationId, "foreign_conversation_id"},
    {kForeignLeagueId, "foreign_league_id"},
    {kForeignRoundId, "foreign_round_id"},
    {kMissingCallToken, "missing_call_token"},
    {kForeignCallToken, "foreign_call_token"},
    {kForeignRefereeToken, "foreign_referee_token"},
    {kMissingVersion, "missing_version"},
    {kProtocolVersionText, "protocol_version_text"},
    {kReportForm, "report_form"},
    {kDrawnNumberZero, "drawn_number_zero"},
    {kDrawScoreZero, "draw_score_zero"},
    {kCommitmentIgnored, "commitment_ignored"},
    {kNonceIgnored, "nonce_ignored"},
    {kMissingReplyToken, "missing_reply_token"},
    {kForeignReplyToken, "foreign_reply_token"},
    {kForeignReplySender, "foreign_reply_sender"},
    {kForeignReplyPlayer, "foreign_reply_player"},
    {kAnswerPostedBack, "answer_posted_back"},
});

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (static_cast<std::size_t>(kNames[i].leniency) != i) return false;
  }
  return kNames.size() == kLeniencies;
}
static_assert(is_in_order());

std::size_t bit(Leniency leniency) { return static_cast<std::size_t>(leniency); }

std::vector<Leniency> listed() {
  std::vector<Leniency> all;
  for (const auto& row : kNames) all.push_back(row.leniency);
  return all;
}

}  // namespace

std::string_view leniency_name(Leniency leniency) {
  return kNames[static_cast<std::size_t>(leniency)].name;
}

const std::vector<Leniency>& all_leniencies() {
  static const std::vector<Leniency> kAll = listed();
  return kAll;
}

void Leniencies::add(Leniency leniency) { bits_.set(bit(leniency)); }
void Leniencies::add(const Leniencies& others) { bits_ |= others.bits_; }
bool Leniencies::contains(Leniency leniency) const { return bits_.test(bit(leniency)); }

std::vector<std::string_view> Leniencies::names() const {
  std::vector<std::string_view> names;
  for (const auto& row : kNames) {
    if (contains(row.leniency)) names.push_back(row.name);
  }
  return names;
}

}  // namespace league::envelope
