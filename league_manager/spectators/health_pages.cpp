#include "league_manager/spectators/health_pages.h"

#include <utility>

namespace league::league_manager {

std::vector<transport::Page> health_pages(const Metrics& metrics, const Ledger& ledger,
                                          HealthSource source) {
  using transport::HttpPage;
  return {{"/healthz", [](const auto&) { return HttpPage{.body = "ok\n"}; }},
          {"/readyz",
           [trouble = std::move(source.trouble)](const auto&) {
             const std::string why = trouble();
             return why.empty() ? HttpPage{.body = "ready\n"}
                                : HttpPage{.status = 503, .body = why + "\n"};
           }},
          {"/metrics", [&metrics, &ledger, figures = std::move(source.figures)](const auto&) {
             const MetricFigures now = figures();
             return HttpPage{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                             .body = ledger.read(
                                 [&](const League& league) { return metrics.text(league, now); })};
           }}};
}

}  // namespace league::league_manager
