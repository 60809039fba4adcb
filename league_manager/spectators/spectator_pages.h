#pragma once

#include <memory>
#include <vector>

#include "common/transport/http/http_page.h"
#include "league_manager/spectators/spectator_feed.h"

namespace league::league_manager {

/// The live page: the files of web/ (`index.html` at `/`), the stream at `/live/events`, and each
/// match at `/live/match/R1M1`. None of them may load anything from elsewhere (CSP).
[[nodiscard]] std::vector<transport::Page> spectator_pages(
    const std::shared_ptr<SpectatorFeed>& feed);

}  // namespace league::league_manager
