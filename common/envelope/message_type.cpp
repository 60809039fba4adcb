#include "common/envelope/message_type.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/core/text.h"

namespace league::envelope {
namespace {

using enum MessageType;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Names = std::span<const std::string_view>;

constexpr Roles kManager = Role::kLeagueManager;
constexpr Roles kReferees = Role::kReferee;
constexpr Roles kPlayers = Role::kPlayer;
constexpr Roles kAgents = kReferees | kPlayers;

constexpr auto kRefereeRegisterAliases =
    std::to_array<std::string_view>({"referee_register", "receive_referee_registration"});
constexpr auto kPlayerRegisterAliases = std::to_array<std::string_view>(
    {"league_register", "player_register", "receive_player_registration"});
constexpr auto kRoundAliases = std::to_array<std::string_view>(
    {"announce_round", "handle_round_announcement", "receive_round"});
constexpr auto kInvitationAliases =
    std::to_array<std::string_view>({"receive_invitation", "handle_invitation"});
constexpr auto kChoiceAliases = std::to_array<std::string_view>(
    {"parity_choose", "handle_choose_parity", "receive_choose_parity"});
constexpr auto kGameOverAliases =
    std::to_array<std::string_view>({"receive_match_result", "handle_match_result"});
constexpr auto kReportAliases =
    std::to_array<std::string_view>({"report_result", "receive_match_report"});
constexpr auto kStandingsAliases =
    std::to_array<std::string_view>({"notify_standings", "receive_standings", "standings_update"});
constexpr auto kQueryAliases = std::to_array<std::string_view>({"query_league"});

constexpr auto kMessages = std::to_array<MessageSpec>({
    // type, wire name, method, aliases, senders, receivers, token, reply, limit, best effort
    {kRefereeRegisterRequest, "REFEREE_REGISTER_REQUEST", "register_referee",
     kRefereeRegisterAliases, kReferees, kManager, false, kRefereeRegisterResponse, seconds(10),
     false},
    {kRefereeRegisterResponse, "REFEREE_REGISTER_RESPONSE", "", Names(), kManager, kReferees, false,
     std::nullopt, milliseconds(0), false},
    {kLeagueRegisterRequest, "LEAGUE_REGISTER_REQUEST", "register_player", kPlayerRegisterAliases,
     kPlayers, kManager, false, kLeagueRegisterResponse, seconds(10), false},
    {kLeagueRegisterResponse, "LEAGUE_REGISTER_RESPONSE", "notify_registration", Names(), kManager,
     kPlayers, false, std::nullopt, milliseconds(0), false},
    {kRoundAnnouncement, "ROUND_ANNOUNCEMENT", "notify_round", kRoundAliases, kManager, kAgents,
     true, std::nullopt, seconds(10), false},
    {kGameInvitation, "GAME_INVITATION", "handle_game_invitation", kInvitationAliases, kReferees,
     kPlayers, true, kGameJoinAck, seconds(5), false},
    {kGameJoinAck, "GAME_JOIN_ACK", "", Names(), kPlayers, kReferees, true, std::nullopt,
     milliseconds(0), false},
    {kChooseParityCall, "CHOOSE_PARITY_CALL", "choose_parity", kChoiceAliases, kReferees, kPlayers,
     true, kChooseParityResponse, seconds(30), false},
    {kChooseParityResponse, "CHOOSE_PARITY_RESPONSE", "", Names(), kPlayers, kReferees, true,
     std::nullopt, milliseconds(0), false},
    {kGameOver, "GAME_OVER", "notify_match_result", kGameOverAliases, kReferees, kPlayers, true,
     std::nullopt, seconds(5), true},
    {kMatchResultReport, "MATCH_RESULT_REPORT", "report_match_result", kReportAliases, kReferees,
     kManager, true, std::nullopt, seconds(10), false},
    {kLeagueStandingsUpdate, "LEAGUE_STANDINGS_UPDATE", "update_standings", kStandingsAliases,
     kManager, kPlayers, true, std::nullopt, seconds(10), true},
    {kRoundCompleted, "ROUND_COMPLETED", "notify_round_completed", Names(), kManager, kAgents, true,
     std::nullopt, seconds(10), true},
    {kLeagueCompleted, "LEAGUE_COMPLETED", "notify_league_completed", Names(), kManager, kAgents,
     true, std::nullopt, seconds(10), true},
    {kLeagueQuery, "LEAGUE_QUERY", "league_query", kQueryAliases, kAgents, kManager, true,
     kLeagueQueryResponse, seconds(10), false},
    {kLeagueQueryResponse, "LEAGUE_QUERY_RESPONSE", "", Names(), kManager, kAgents, false,
     std::nullopt, milliseconds(0), false},
    {kLeagueError, "LEAGUE_ERROR", "notify_league_error", Names(), kManager, kAgents, false,
     std::nullopt, milliseconds(0), false},
    {kGameError, "GAME_ERROR", "notify_game_error", Names(), kReferees, kPlayers, true,
     std::nullopt, seconds(5), true},
});
static_assert(
    [] {
      int number = 0;
      return std::ranges::all_of(kMessages, [&](const MessageSpec& row) {
        return static_cast<int>(row.type) == ++number;
      });
    }(),
    "spec() finds a row by its number");

/// True if `method` is the message type in upper or lower case, with or without `receive_` before
/// it.
bool names_type(std::string_view method, std::string_view wire_name) {
  constexpr std::size_t kLongestMethod = 64;
  if (method.size() > kLongestMethod) return false;
  constexpr std::string_view kReceive = "receive_";
  if (method.starts_with(kReceive)) method.remove_prefix(kReceive.size());
  if (method == wire_name) return true;
  bool is_lower = std::ranges::none_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
  return is_lower && core::upper_case(method) == wire_name;
}

}  // namespace

std::span<const MessageSpec> all_messages() { return kMessages; }

const MessageSpec& spec(MessageType type) { return kMessages[static_cast<std::size_t>(type) - 1]; }

std::string_view wire_name(MessageType type) { return spec(type).wire_name; }

std::optional<MessageType> message_type_from_wire(std::string_view name) {
  const auto* row = std::ranges::find(kMessages, name, &MessageSpec::wire_name);
  if (row == kMessages.end()) return std::nullopt;
  return row->type;
}

std::optional<MethodMatch> message_type_from_method(std::string_view method, Role receiver) {
  auto is_carried = [&](const MessageSpec& row) {
    return !row.method.empty() && row.receivers.contains(receiver);
  };
  for (const auto& row : kMessages) {
    if (is_carried(row) && row.method == method) return MethodMatch{row.type, false};
  }
  for (const auto& row : kMessages) {
    if (!is_carried(row)) continue;
    if (names_type(method, row.wire_name) ||
        std::ranges::find(row.aliases, method) != row.aliases.end()) {
      return MethodMatch{row.type, true};
    }
  }
  return std::nullopt;
}

}  // namespace league::envelope
