#include "league_manager/spectators/pages.h"

#include <string>
#include <utility>

#include "league_manager/spectators/play_files.h"
#include "league_manager/view/web_files.h"

namespace league::league_manager::spectators {
namespace {

std::string content_type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

transport::http::HttpPage file_page(const view::EmbeddedFile& file) {
  return {.content_type = content_type_of(file.name),
          .body = std::string(file.text),
          .headers = {{"Content-Security-Policy",
                       "default-src 'self'; base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'none'"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "no-cache"}}};
}

}  // namespace

std::vector<transport::http::Page> spectator_pages(const std::shared_ptr<SpectatorFeed>& feed) {
  std::vector<transport::http::Page> pages;
  for (const view::EmbeddedFile& file : view::web_files()) {
    std::string path = "/";
    if (file.name != "index.html") path += file.name;
    pages.push_back({std::move(path), [&file](const auto&) { return file_page(file); }});
  }
  for (const EmbeddedFile& file : play_files()) {
    const bool is_page = file.name == "play.html";
    pages.push_back({is_page ? "/play" : "/" + std::string(file.name),
                     [&file](const auto&) { return file_page(file); }});
  }
  pages.push_back({"/live/events", [feed](const auto& request) { return feed->open(request); }});
  pages.push_back({"/live/match/", [feed](const auto& request) { return feed->match(request); }});
  pages.push_back({"/live/player/", [feed](const auto& request) { return feed->player(request); }});
  return pages;
}

std::vector<transport::http::Page> health_pages(const Metrics& metrics, const files::Ledger& ledger,
                                                HealthSource source) {
  using transport::http::HttpPage;
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

}  // namespace league::league_manager::spectators
