#include "league_manager/events/agent.h"

namespace league::league_manager::events {

std::vector<std::string> Agent::credential_nonces(core::UtcTimestamp from) const {
  std::vector<std::string> nonces = {credential.nonce};
  for (auto past = past_credentials.rbegin(); past != past_credentials.rend(); ++past) {
    if (past->until >= from) nonces.push_back(past->nonce);
  }
  return nonces;
}

}  // namespace league::league_manager::events
