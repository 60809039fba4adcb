#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/transport/http/http_page.h"
#include "league_manager/files/ledger.h"
#include "league_manager/spectators/metrics.h"
#include "league_manager/spectators/spectator_feed.h"

namespace league::league_manager::spectators {

/// The live page: the files of web/ (`index.html` at `/`), the stream at `/live/events`, and each
/// match at `/live/match/R1M1` and player at `/live/player/P01`. None of them may load anything
/// from elsewhere (CSP).
[[nodiscard]] std::vector<transport::http::Page> spectator_pages(
    const std::shared_ptr<SpectatorFeed>& feed);

/// The data of the pages below; called for each request, from several threads at once.
struct HealthSource {
  std::function<MetricFigures()> figures;
  /// Why no new match may start (a full disk); empty: new matches may start.
  std::function<std::string()> trouble;
};

/// Pages for operators: `/healthz` answers 200 while the process serves; `/readyz` 503 with the
/// reason while no match may start; `/metrics` for Prometheus. `metrics` and `ledger` outlive the
/// pages.
[[nodiscard]] std::vector<transport::http::Page> health_pages(const Metrics& metrics,
                                                              const files::Ledger& ledger,
                                                              HealthSource source);

}  // namespace league::league_manager::spectators
