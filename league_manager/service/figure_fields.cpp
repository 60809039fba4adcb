#include "league_manager/service/figure_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"

namespace league::league_manager::service {
namespace {

/// Without digits that mean nothing.
double shortened(double value) { return std::round(value * 1e7) / 1e7; }

}  // namespace

void add_rating(nlohmann::json& row, const table::Figures& figures) {
  const auto* rating = table::rating_of(figures, schema::text_at(row, "player_id"));
  if (rating == nullptr) return;
  row["rating"] = shortened(rating->rating);
  if (rating->error) row["rating_error"] = shortened(*rating->error);
  if (rating->p_first) row["p_first"] = *rating->p_first;
}

void add_figures(nlohmann::json& answer, const table::Figures* figures) {
  if (figures == nullptr) return;
  for (nlohmann::json& row : answer["standings"]) add_rating(row, *figures);
  if (figures->luck) answer["luck"] = *figures->luck;
  answer["rated_matches"] = figures->matches;
}

}  // namespace league::league_manager::service
