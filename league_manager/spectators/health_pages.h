#pragma once

#include <functional>
#include <vector>

#include "common/transport/http/http_page.h"
#include "league_manager/files/ledger.h"
#include "league_manager/spectators/metrics.h"

namespace league::league_manager {

/// The data of the pages below; called for each request, from several threads at once.
struct HealthSource {
  std::function<MetricFigures()> figures;
  /// Why no new match may start (a full disk); empty: new matches may start.
  std::function<std::string()> trouble;
};

/// Pages for operators: `/healthz` answers 200 while the process serves; `/readyz` 503 with the
/// reason while no match may start; `/metrics` for Prometheus. `metrics` and `ledger` outlive the
/// pages.
[[nodiscard]] std::vector<transport::Page> health_pages(const Metrics& metrics,
                                                        const Ledger& ledger, HealthSource source);

}  // namespace league::league_manager
