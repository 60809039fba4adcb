#include "league_manager/events/events.h"

#include <algorithm>

#include "common/core/enum_names.h"
#include "common/core/error_code.h"

namespace league::league_manager::events {

namespace {
constexpr core::EnumNames<Recognition, 4> kRecognitions{
    {"TOKEN", "REGISTRATION_NONCE", "ENDPOINT_AND_NAME", "OPERATOR"}};
constexpr core::EnumNames<NotificationKind, 3> kNotificationKinds{
    {"ROUND_ANNOUNCED", "ROUND_COMPLETED", "LEAGUE_COMPLETED"}};
constexpr core::EnumNames<OperatorAct, 6> kActs{
    {"PAUSE", "RESUME", "EXTEND_ROUND", "ANNOUNCE", "VOID_MATCH", "END_LEAGUE"}};
constexpr core::EnumNames<ReceiptState, 4> kReceiptStates{
    {"not_declared", "valid", "absent", "invalid"}};
constexpr core::EnumNames<PlayerWord, 6> kPlayerWords{
    {"none", "confirms", "no_call", "answered", "call_at_fault", "still_open"}};

void add(MatchSummary& summary, const CompactResult& result, int matches) {
  summary.total_matches += matches;
  if (result.is_technical()) {
    summary.technical_losses += matches;
  } else if (result.outcome == game::Outcome::kDraw) {
    summary.draws += matches;
  } else {
    summary.wins += matches;
  }
}
}  // namespace

std::string_view recognition_name(Recognition recognition) { return kRecognitions.of(recognition); }
std::optional<Recognition> parse_recognition(std::string_view text) {
  return kRecognitions.parse(text);
}

std::string_view notification_kind_name(NotificationKind kind) {
  return kNotificationKinds.of(kind);
}
std::optional<NotificationKind> parse_notification_kind(std::string_view text) {
  return kNotificationKinds.parse(text);
}

std::string_view operator_act_name(OperatorAct act) { return kActs.of(act); }
std::optional<OperatorAct> parse_operator_act(std::string_view text) { return kActs.parse(text); }

std::string_view receipt_state_name(ReceiptState state) { return kReceiptStates.of(state); }
std::optional<ReceiptState> parse_receipt_state(std::string_view text) {
  return kReceiptStates.parse(text);
}

std::string_view player_word_name(PlayerWord word) { return kPlayerWords.of(word); }
std::optional<PlayerWord> parse_player_word(std::string_view text) {
  return kPlayerWords.parse(text);
}

std::string FailureCause::str() const {
  const auto code = core::parse_error_code(error_code);
  std::string line = call + ": " + error_code;
  return code ? line + " " + std::string(core::error_info(*code).name) : line;
}

std::string_view FailureCause::fault() const {
  return std::string_view(text).substr(0, text.find("; received: "));
}

bool FailureCause::is_same_fault(const FailureCause& other) const {
  if (call != other.call || error_code != other.error_code || field != other.field) return false;
  return !field.empty() || fault() == other.fault();
}

core::Result<game::SharedDefinition> game_of(const LeagueCreated& creation) {
  if (creation.game && creation.game->game_type() == creation.game_type)
    return std::make_shared<const game::Definition>(*creation.game);
  return game::Games::standard().find(creation.game_type);
}

void MatchSummary::count(const CompactResult& result) { add(*this, result, 1); }

void MatchSummary::discount(const CompactResult& result) { add(*this, result, -1); }

bool counts_failure(const Events& events, AgentRef agent) {
  return std::ranges::any_of(events, [agent](const Event& event) {
    const auto* failure = std::get_if<FailureCounted>(&event.body);
    return failure != nullptr && failure->agent == agent;
  });
}

}  // namespace league::league_manager::events
