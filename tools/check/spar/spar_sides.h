#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/transport/front/http_server.h"
#include "tools/check/mock_manager.h"
#include "tools/check/spar/spar.h"
#include "tools/check/started_bot.h"
#include "tools/check/wire.h"

namespace league::tools::check {

/// The league that sparring bots register for.
inline constexpr auto kSparLeague = "league_spar";

/// A bot to spar with, its program if this process has started it, and the manager at which that
/// program has registered. The program is declared last, so that it ends first.
struct OpenedSide {
  SparSide side;
  std::unique_ptr<transport::front::HttpRuntime> runtime;
  std::unique_ptr<MockManager> manager;
  std::optional<StartedBot> program;
};

/// `word` is an endpoint, or a strategy or misbehaviour of the `player` program, which is then
/// started from the folder of this program, or a command for the shell with `{manager}` in it. The
/// command's bot registers at a mock manager, so it gets a token and is called with credentials.
/// The bot is called with the id `id`. `wire` outlives it. Fails if the bot cannot be reached, does
/// not register, or registers so that a league in `mode` refuses it.
[[nodiscard]] core::Result<OpenedSide> open_side(Wire& wire, const std::string& word,
                                                 const std::string& id, envelope::Mode mode);

}  // namespace league::tools::check
