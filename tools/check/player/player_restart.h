#pragma once

#include "tools/check/mock_manager.h"
#include "tools/check/player/player_checks.h"
#include "tools/check/started_bot.h"

namespace league::tools::check {

/// What restarting a bot needs; both outlive the checks.
struct RestartTools {
  MockManager& manager;
  StartedBot* bot = nullptr;  ///< null: the checker has not started it
};

/// Starts the bot again and takes its new address; false if it did not register.
[[nodiscard]] bool start_again(PlayerBench& bench, RestartTools& tools);

/// What a bot does when its program is killed and started again. `tools` is null, or has no bot,
/// where the checker cannot do that: the checks are skipped then.
void add_restart_checks(PlayerBench& bench, RestartTools* tools, Checks& out);

}  // namespace league::tools::check
