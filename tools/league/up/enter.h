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

/// A player that cannot register itself: a child that speaks on its standard streams, a plain MCP
/// server.
struct Entrant {
  std::string display_name;
  std::string endpoint;  ///< any contact_endpoint that the manager's policy allows
  std::vector<std::string> game_types = {"even_odd"};
  core::AuthToken registration_code = {};  ///< empty where the league asks for none
  /// Of this registration: repeated, it brings the same identity; empty: made here.
  std::string nonce = {};
};

/// What the manager gave it.
struct Entry {
  std::string player_id;
  std::string league_id;
  core::AuthToken token;  ///< empty where a third-party manager gave none
};

/// Registers `entrant` at the manager, in its place (protocol §4, messages 3 and 4). Fails as
/// ManagerClient::call, and with the manager's own words when it rejects the player.
[[nodiscard]] core::Result<Entry> enter_player(ManagerClient& manager, const Entrant& entrant,
                                               const core::Clock& clock,
                                               core::RandomSource& random);

/// What `message`, the answer of any manager, says of the registration of `display_name`: success
/// and failure by its status, whatever its envelope is like. The token may be empty. Fails with the
/// manager's own words, or with what was received where there is no status.
[[nodiscard]] core::Result<Entry> read_entry(nlohmann::json message,
                                             const std::string& display_name);

}  // namespace league::tools
