#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/envelope/round_messages.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/files/league_projector.h"
#include "league_manager/files/ledger.h"

namespace league::league_manager::service {

/// What binds a finished league: the result, signed with the league's key, and the keys with which
/// everybody can then recompute the players' receipts. Thread-safe. Source: protocol §7 and §8.
class LeagueEnd {
 public:
  /// Observes `ledger`, which must not be open yet. All arguments outlive this object.
  LeagueEnd(files::Ledger& ledger, files::LeagueProjector& projector);

  /// The signed result of the completed league. Nothing before its end, for a league without a key
  /// (from an old journal), or if the files of a large league are still being written after half a
  /// minute.
  [[nodiscard]] std::optional<envelope::Attestation> attestation(
      const admission::TokenIssuer& issuer) const;
  /// `{"keys":{"P01":["HEX",…],…}}`: every receipt key that each player's seat ever had, the first
  /// one first. Not to be published before the league is completed.
  [[nodiscard]] nlohmann::json receipt_keys(const admission::TokenIssuer& issuer) const;

 private:
  void on_events(const events::Events& events);

  const files::Ledger& ledger_;
  files::LeagueProjector& projector_;
  mutable std::mutex mutex_;
  std::map<events::AgentRef, std::vector<std::string>> nonces_;  // of the seats' credentials
};

}  // namespace league::league_manager::service
