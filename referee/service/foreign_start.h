#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/ids.h"
#include "common/core/result.h"
#include "referee/core/match_types.h"

namespace league::referee::service {

/// A match as a third-party manager gives it to a referee. Members that it may omit are empty.
struct ForeignMatch {
  core::MatchId match_id;
  int round_id = 1;
  std::string game_type;
  PerSide<core::PlayerId> players;
  PerSide<std::string> endpoints;  ///< URLs
  std::string referee_id;
  std::string referee_endpoint;
  std::string status;  ///< such as `PENDING`, if the referee polls for its matches
};

/// URLs of players by id.
using PlayerAddresses = std::map<core::PlayerId, std::string>;

/// The matches that a message starts: those in `matches`, or the one that the message itself is
/// (START_MATCH, `start_match`, `assign_match`). Reads every spelling of the table in
/// docs/protocol.md, clause 8.34. Fails with kMissingRequiredField, naming the field and what was
/// received, if a match lacks its id or a player.
[[nodiscard]] core::Result<std::vector<ForeignMatch>> read_foreign_start(
    const nlohmann::json& message);

/// Whether `match` is for this referee: by id if it names one, otherwise by address; a match that
/// names no referee is for its recipient.
[[nodiscard]] bool is_for(const ForeignMatch& match, std::string_view referee_id,
                          std::string_view contact_endpoint);

/// The addresses in the answer to GET_REGISTRATIONS (`players`, also inside `data` or `result`: an
/// array of objects with an id and an address) or in a file of the operator (the same, or an object
/// of URLs by id). Skips what it cannot read.
[[nodiscard]] PlayerAddresses read_addresses(const nlohmann::json& answer);

/// The tool that `name`, a method or message type of another dialect, means; empty for none.
[[nodiscard]] std::string_view start_tool_alias(std::string_view name);

/// Adds to MATCH_RESULT_REPORT `report` the other spellings under which managers look for a result
/// (flat fields, `winner_id`, `players`, `game_result`). Unknown fields are ignored everywhere.
void add_usual_spellings(nlohmann::json& report);

}  // namespace league::referee::service
