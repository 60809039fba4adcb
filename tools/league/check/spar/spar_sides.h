#pragma once

#include <optional>
#include <string>

#include "tools/league/check/spar/spar.h"
#include "tools/league/check/started_bot.h"

namespace league::tools::check {

/// A bot to spar with, and its program where this process has started it.
struct OpenedSide {
  SparSide side;
  std::optional<StartedBot> program;
};

/// `word` is an endpoint, or a strategy or misbehaviour of the `player` program, which is started
/// from the folder of this program then. The bot is called with the id `id`. `wire` outlives it.
/// Fails where nobody is there.
[[nodiscard]] core::Result<OpenedSide> open_side(Wire& wire, const std::string& word,
                                                 const std::string& id, milliseconds limit);

}  // namespace league::tools::check
