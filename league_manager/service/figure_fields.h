#pragma once

#include <nlohmann/json_fwd.hpp>

#include "league_manager/table/figures.h"

namespace league::league_manager::service {

/// Adds what `figures` has of the player of `row`, a row of the table as it is answered: `rating`,
/// `rating_error` and `p_first`.
void add_rating(nlohmann::json& row, const table::Figures& figures);

/// Adds that to all rows of `answer`'s `standings`, and beside them `luck` and `rated_matches`, the
/// number of matches that the figures come from. Null: nothing is known yet.
void add_figures(nlohmann::json& answer, const table::Figures* figures);

}  // namespace league::league_manager::service
