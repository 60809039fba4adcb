#include "referee/service/players.h"

#include "common/core/crypto.h"

namespace league::referee::service {

namespace {

core::Result<transport::link::Endpoint> endpoint_of(const std::string& url,
                                                    const transport::link::EndpointPolicy& policy) {
  auto endpoint = transport::link::parse_endpoint(url);
  bool is_on_this_machine = endpoint && (endpoint->scheme == "unix" || endpoint->scheme == "stdio");
  return is_on_this_machine ? policy.admit(std::move(*endpoint)) : std::move(endpoint);
}

}  // namespace

core::Result<PerSide<PlayerSeat>> seats_of(const envelope::MatchAssignment& assignment,
                                           const transport::link::EndpointPolicy& policy) {
  auto endpoint_a = endpoint_of(assignment.player_a_endpoint, policy);
  if (!endpoint_a) return endpoint_a.error();
  auto endpoint_b = endpoint_of(assignment.player_b_endpoint, policy);
  if (!endpoint_b) return endpoint_b.error();
  auto style = [](const std::optional<std::string>& name) {
    return name ? agent::dialects::parse_call_style(*name) : std::nullopt;
  };
  const auto limits = assignment.limits_ms.value_or(envelope::PlayerLimits{});
  PerSide<PlayerSeat> seats;
  seats[Side::kA] = {.id = assignment.player_a_id,
                     .endpoint = std::move(*endpoint_a),
                     .credential = assignment.player_a_credential,
                     .token_hash = assignment.player_a_token_hash,
                     .answer_hash = assignment.player_a_answer_hash.value_or(std::string()),
                     .has_receipts = assignment.player_a_receipts,
                     .style = style(assignment.player_a_dialect),
                     .standings = assignment.player_a_standings.value_or(envelope::WinLossDraw{}),
                     .is_suspended = assignment.player_a_suspended,
                     .limits = limits.player_a};
  seats[Side::kB] = {.id = assignment.player_b_id,
                     .endpoint = std::move(*endpoint_b),
                     .credential = assignment.player_b_credential,
                     .token_hash = assignment.player_b_token_hash,
                     .answer_hash = assignment.player_b_answer_hash.value_or(std::string()),
                     .has_receipts = assignment.player_b_receipts,
                     .style = style(assignment.player_b_dialect),
                     .standings = assignment.player_b_standings.value_or(envelope::WinLossDraw{}),
                     .is_suspended = assignment.player_b_suspended,
                     .limits = limits.player_b};
  return seats;
}

bool is_credential_of(const PlayerSeat& seat, const core::AuthToken& shown) {
  const std::string hash = shown.hash();
  return core::constant_time_equal(hash, seat.token_hash) ||
         (!seat.answer_hash.empty() && core::constant_time_equal(hash, seat.answer_hash));
}

core::Result<void> check_reply_token(const PlayerSeat& seat,
                                     const std::optional<core::AuthToken>& shown,
                                     envelope::Mode mode, rpc::MessageNotes& notes) {
  // A third-party manager sends no token hashes.
  if (seat.token_hash.empty()) return {};
  const bool missing = !shown || shown->empty();
  if (!missing && is_credential_of(seat, *shown)) {
    notes.said_by = "player:" + seat.id.str();
    return {};
  }
  auto leniency =
      missing ? envelope::Leniency::kMissingReplyToken : envelope::Leniency::kForeignReplyToken;
  if (mode == envelope::Mode::kOpen) {
    notes.leniencies.push_back(envelope::leniency_name(leniency));
    return {};
  }
  return core::Error{
      missing ? core::ErrorCode::kAuthTokenMissing : core::ErrorCode::kAuthTokenInvalid,
      missing ? "strict mode: put the token of your registration into auth_token of every reply"
              : "auth_token is not the one that " + seat.id.str() + " was given",
      "/auth_token"};
}

}  // namespace league::referee::service
