#pragma once

#include <nlohmann/json_fwd.hpp>

#include "league_manager/table/figures.h"

namespace league::league_manager::service {

/// Adds to each of `rows`, rows of the table as they are answered, what `figures` has of its
/// player: `rating`, `rating_error` and `p_first`. Null: nothing is known yet.
void add_figures(nlohmann::json& rows, const table::Figures* figures);

}  // namespace league::league_manager::service
