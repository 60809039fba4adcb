#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bus/commands/bus_config.h"
#include "common/core/random_source.h"
#include "common/core/result.h"

namespace league::tools {

/// An agent that gets a user, before its password is made.
struct BusEntry {
  BusRole role = BusRole::kPlayer;
  std::string name;
  std::optional<transport::link::BusSession> session;  ///< nothing: one is made
  bool operator==(const BusEntry&) const = default;
};

/// `player NAME [SESSION]` or `referee NAME [SESSION]`, one a line; `#` begins a comment. Fails
/// with kInvalidFieldValue and the line for any other text, for a name that is not a valid file
/// name and for a repeated name.
[[nodiscard]] core::Result<std::vector<BusEntry>> parse_bus_agents(std::string_view text);
/// `player01`, `player02`, ... and `referee01`, ....
[[nodiscard]] std::vector<BusEntry> numbered_bus_agents(int players, int referees);

/// The entries with a manager and an operator in front, each with a session and new random
/// passwords, which the broker is to keep as bcrypt hashes where this system can make them.
[[nodiscard]] std::vector<BusUser> make_bus_agents(const std::vector<BusEntry>& entries,
                                                   core::RandomSource& random);

/// The password's bcrypt hash (`$2a$`, by crypt(3)), or nothing where the system cannot make one.
/// Uses the lowest cost: a random password of 128 bits needs no slow hash, and a restarted broker
/// has to check the passwords of all agents at once. Thread-safe.
[[nodiscard]] std::optional<std::string> bcrypt_hash(const std::string& password,
                                                     core::RandomSource& random);

}  // namespace league::tools
