#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/core/auth_token.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "tools/league/up/manager_client.h"

namespace league::tools {

/// A player that cannot register itself, such as a child process on standard streams or a plain MCP
/// server.
struct Entrant {
  std::string display_name;
  std::string endpoint;  ///< any contact_endpoint that the manager's policy allows
  std::vector<std::string> game_types = {"even_odd"};
  core::AuthToken registration_code = {};  ///< empty: the league requires none
  /// The nonce of this registration: a repetition with the same nonce gets the same identity;
  /// empty: a new one is made.
  std::string nonce = {};
};

/// The identity that the manager gave to the player.
struct Entry {
  std::string player_id;
  std::string league_id;
  core::AuthToken token;  ///< empty: a third-party manager gave none
  nlohmann::json answer = {};  ///< all of it
};

/// Registers `entrant` at the manager on its behalf (protocol §4, messages 3 and 4). Fails like
/// ManagerClient::call, and with the manager's text if it rejects the player.
[[nodiscard]] core::Result<Entry> enter_player(ManagerClient& manager, const Entrant& entrant,
                                               const core::Clock& clock,
                                               core::RandomSource& random);

/// Reads the answer of any manager to the registration of `display_name`. Only its status decides
/// about success, not its envelope. The token may be empty. Fails with the manager's text, or with
/// what was received if there is no status.
[[nodiscard]] core::Result<Entry> read_entry(nlohmann::json message,
                                             const std::string& display_name);

}  // namespace league::tools
