#pragma once

#include <string>
#include <vector>

#include "tools/league/up/league_plan.h"

namespace league::tools {

/// Where the manager at `manager_url` shows its league to people: `http://localhost:8000/` for
/// `http://localhost:8000/mcp`; empty for a manager without HTTP.
[[nodiscard]] std::string live_page_of(const std::string& manager_url);

/// Where people take the seats of `options`, whose manager is at `manager_url`: lines for the
/// terminal, with a QR code if it `shows_blocks` and other devices reach the address.
[[nodiscard]] std::vector<std::string> invitation_to_play(const UpOptions& options,
                                                          const std::string& manager_url,
                                                          bool shows_blocks);

/// Whether stderr is a terminal with UTF-8.
[[nodiscard]] bool terminal_shows_blocks();

/// Opens `url` in the browser of the desktop (xdg-open), in the background. Does nothing if there
/// is none.
void open_in_browser(const std::string& url);

}  // namespace league::tools
