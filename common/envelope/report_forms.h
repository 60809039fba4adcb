#pragma once

#include <nlohmann/json.hpp>

#include "common/envelope/leniency.h"

namespace league::envelope {

/// Rewrites the shapes in which third-party referees write MATCH_RESULT_REPORT into ours, and
/// adds to `taken` what it rewrote: `winner_id` or `winner_player_id` for `winner`, `scores` or
/// `players` for `score`, a result whose fields lie in the message itself or outside `details`, no
/// `details`, `drawn_number` 0, a draw of 0 : 0. Facts are moved, never made up; what is judged is
/// left to the manager. Pure. Source: docs/protocol.md, "Third-party referees".
void read_report(nlohmann::json& message, Leniencies& taken);

}  // namespace league::envelope
