#pragma once

#include <functional>

#include "common/agent/host/option_table.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::tools::check {

// The commands of league-check. If one of them is given, `chosen` is set to a function that runs it
// and returns the exit code.

/// `league check`: checks a bot and tells its author what is wrong.
void add_check_command(CLI::App& app, std::function<int()>& chosen);
/// `league spar BOT --against BOT` and `league play BOT BOT`: matches without a league.
void add_spar_commands(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools::check
