#pragma once

#include <nlohmann/json.hpp>

#include "common/envelope/leniency.h"

namespace league::envelope {

/// Rewrites the forms that third-party referees use in MATCH_RESULT_REPORT into ours, and adds the
/// rewritten forms to `taken`: `winner_id` or `winner_player_id` for `winner`, `scores` or
/// `players` for `score`, a result whose fields are in the message itself or outside `details`,
/// missing `details`, `drawn_number` 0, and a draw of 0 : 0. Facts are moved, never invented;
/// judging the result is left to the manager. Pure. Source: docs/protocol.md, "Third-party
/// referees".
void read_report(nlohmann::json& message, Leniencies& taken);

}  // namespace league::envelope
