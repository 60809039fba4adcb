#include "league_manager/admission/known_senders.h"

#include <string>

namespace league::league_manager::admission {

using transport::link::RequestSender;
using transport::link::Standing;

std::optional<RequestSender> KnownSenders::operator()(std::string_view member,
                                                      std::string_view shown,
                                                      std::string_view body) const {
  if (member == "auth_token") {
    if (auto agent = agent_with(shown)) return agent;
    // Not the budget of the referee, since the player can make this credential as well.
    const auto player = seat_admission_->holder_of(shown, body);
    return player ? std::optional(RequestSender{Standing::kPlayer, "the seat of " + *player})
                  : std::nullopt;
  }
  if (member == "session") {
    auto player = seats_->player_of(shown);
    return player ? std::optional(RequestSender{Standing::kPlayer, std::move(*player)})
                  : std::nullopt;
  }
  if (member == "operator_key") {
    const bool is_right = !operator_key_->empty() && operator_key_->matches(shown);
    return is_right ? std::optional(RequestSender{Standing::kStaff, "operator"}) : std::nullopt;
  }
  if (member == "admission_key") {
    return admission_->is_referee_key(shown)
               ? std::optional(RequestSender{Standing::kStaff, "referees to be"})
               : std::nullopt;
  }
  return std::nullopt;
}

std::optional<RequestSender> KnownSenders::agent_with(std::string_view token) const {
  constexpr std::string_view kPrefix = "tok_";
  if (!token.starts_with(kPrefix)) return std::nullopt;
  const std::string hash = core::AuthToken(std::string(token)).hash();
  return ledger_->read([&hash](const League& league) -> std::optional<RequestSender> {
    const Roster& roster = league.roster();
    const auto agent = roster.find_by_token_hash(hash);
    if (!agent || roster.agent(*agent).lifecycle.state() == events::AgentState::kShutdown)
      return std::nullopt;
    const bool is_referee = agent->kind == events::AgentKind::kReferee;
    return RequestSender{is_referee ? Standing::kStaff : Standing::kPlayer, agent->id()};
  });
}

}  // namespace league::league_manager::admission
