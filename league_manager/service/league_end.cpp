#include "league_manager/service/league_end.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "league_manager/files/attestation.h"

namespace league::league_manager::service {
namespace {

constexpr std::chrono::seconds kPatienceWithFiles{30};

}  // namespace

LeagueEnd::LeagueEnd(files::Ledger& ledger, files::LeagueProjector& projector)
    : ledger_(ledger), projector_(projector) {
  ledger.observe([this](const events::Events& events) { on_events(events); });
}

void LeagueEnd::on_events(const events::Events& events) {
  std::lock_guard lock(mutex_);
  const auto note = [this](events::AgentRef agent, const events::Credential& credential) {
    if (agent.kind != events::AgentKind::kPlayer) return;
    auto& nonces = nonces_[agent];
    if (std::ranges::find(nonces, credential.nonce) == nonces.end())
      nonces.push_back(credential.nonce);
  };
  for (const auto& event : events) {
    if (const auto* one = std::get_if<events::AgentRegistered>(&event.body))
      note(one->agent, one->credential);
    if (const auto* one = std::get_if<events::AgentReregistered>(&event.body))
      note(one->agent, one->credential);
  }
}

std::optional<envelope::Attestation> LeagueEnd::attestation(
    const admission::TokenIssuer& issuer) const {
  const auto end = ledger_.completion();
  if (!end) return std::nullopt;
  std::optional<envelope::Attestation> signed_result;
  (void)projector_.read(
      [&](const files::LeagueBook& book) {
        if (book.league().settings().league_key.empty()) return;
        auto statement = files::attestation_statement(book, *end);
        const auto signature = issuer.league_key().sign(statement);
        signed_result.emplace(envelope::Attestation{std::move(statement), core::to_hex(signature)});
      },
      kPatienceWithFiles);
  return signed_result;
}

nlohmann::json LeagueEnd::receipt_keys(const admission::TokenIssuer& issuer) const {
  auto keys = nlohmann::json::object();
  std::lock_guard lock(mutex_);
  for (const auto& [agent, nonces] : nonces_) {
    auto& of_seat = keys[agent.id()] = nlohmann::json::array();
    for (const auto& nonce : nonces) of_seat.push_back(issuer.receipt_key(agent.id(), nonce));
  }
  return {{"keys", std::move(keys)}};
}

}  // namespace league::league_manager::service
