#pragma once

#include "tools/check/mock_manager.h"
#include "tools/check/player/player_checks.h"
#include "tools/check/started_bot.h"

namespace league::tools::check {

/// The objects for restarting a bot; both must outlive the checks.
struct RestartTools {
  MockManager& manager;
  StartedBot* bot = nullptr;  ///< null: the checker has not started it
};

/// Restarts the bot and uses its new address; false if it did not register.
[[nodiscard]] bool start_again(PlayerBench& bench, RestartTools& tools);

/// Checks of a bot whose program is killed and restarted. They are skipped if the checker cannot do
/// that: `tools` is null or has no bot.
void add_restart_checks(PlayerBench& bench, RestartTools* tools, Checks& out);

/// What a bot that comes to the checker does when another program takes its seat. It has stopped
/// then, so this is the last of all checks.
void add_take_over_check(PlayerBench& bench, RestartTools* tools, Checks& out);

}  // namespace league::tools::check
