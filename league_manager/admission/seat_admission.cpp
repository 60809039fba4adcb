#include "league_manager/admission/seat_admission.h"

#include <array>

#include "common/agent/identity/match_credential.h"
#include "common/rpc/seat_address.h"
#include "common/transport/link/rate_limiter.h"

namespace league::league_manager::admission {
namespace {

using agent::seats::no_entry;
using core::Error;
using core::ErrorCode;

bool is_seated(const events::AgentProfile& profile) {
  return rpc::player_at_seat(profile.endpoint).has_value();
}

/// A match that a referee has, or had in this round or the one before: results arrive late.
std::optional<MatchView> current_match(const League& league, events::MatchKey match) {
  if (match.round + 1 < league.board().round()) return std::nullopt;
  auto view = league.match(match);
  const bool is_known = view && view->attempt > 0 && view->referee >= 0;
  return is_known ? view : std::nullopt;
}

/// A message that is of use after the match, too.
bool is_news(envelope::MessageType type) {
  return type == envelope::MessageType::kGameOver || type == envelope::MessageType::kGameError;
}

}  // namespace

bool SeatAdmission::is_credential(const League& league, int player, events::MatchKey match,
                                  int attempt, std::string_view shown) const {
  const auto ref = events::AgentRef::player(player);
  const auto token = issuer_->token(ref.id(), league.roster().agent(ref).credential.nonce);
  return agent::identity::match_credential(token, match.id(), attempt).matches(shown);
}

core::Result<agent::seats::SeatVisitor> SeatAdmission::admit(
    const agent::seats::SeatClaim& claim) const {
  const auto match = events::MatchKey::parse(claim.match_id);
  if (!match) return no_entry();
  return ledger_->read([&](const League& league) -> core::Result<agent::seats::SeatVisitor> {
    const auto player = league.roster().find(claim.player);
    const auto view = current_match(league, *match);
    if (!player || player->kind != events::AgentKind::kPlayer || !view ||
        !is_seated(league.roster().agent(*player).profile))
      return no_entry();
    const Pairing& pairing = view->pairing;
    if (pairing.player_a != player->index && pairing.player_b != player->index) return no_entry();
    const auto caller = events::AgentRef::referee(view->referee);
    const auto announced = announced_(league, view->referee);
    const bool is_own_token = announced && announced->starts_with("token:") &&
                              core::constant_time_equal(*announced, "token:" + claim.shown.hash());
    const bool needs_none = announced == "none";
    if (!is_own_token && !needs_none &&
        !is_credential(league, player->index, *match, view->attempt, claim.shown.reveal()))
      return no_entry();
    if (view->status != MatchStatus::kAssigned && !is_news(claim.type)) {
      return Error{ErrorCode::kMatchNotOpen, claim.match_id + " is not being played any more",
                   "/match_id"};
    }
    if (!is_news(claim.type)) {
      calls_->note({player->index, *match, view->attempt, claim.play,
                    std::string(envelope::wire_name(claim.type))});
    }
    return agent::seats::SeatVisitor{caller.sender(), is_own_token};
  });
}

std::optional<std::string> SeatAdmission::holder_of(std::string_view shown,
                                                    std::string_view body) const {
  constexpr std::size_t kCredential = 64;  // hexadecimal digits
  if (shown.size() != kCredential) return std::nullopt;
  const auto match = events::MatchKey::parse(transport::link::text_member(body, "match_id"));
  if (!match) return std::nullopt;
  return ledger_->read([&](const League& league) -> std::optional<std::string> {
    const auto view = current_match(league, *match);
    if (!view) return std::nullopt;
    for (const int player : {view->pairing.player_a, view->pairing.player_b}) {
      const auto& profile = league.roster().agent(events::AgentRef::player(player)).profile;
      if (is_seated(profile) && is_credential(league, player, *match, view->attempt, shown))
        return events::AgentRef::player(player).id();
    }
    return std::nullopt;
  });
}

}  // namespace league::league_manager::admission
