#pragma once

#include <functional>

#include "common/agent/host/option_table.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::tools::auditor {

// The commands of league-audit. If one of them is given, `chosen` is set to a function that runs it
// and returns the exit code.

/// `league audit`, which explains what happened from the conversation logs.
void add_audit_command(CLI::App& app, std::function<int()>& chosen);
/// `league backup`, which copies the state of a league, also while it is running.
void add_backup_command(CLI::App& app, std::function<int()>& chosen);
/// `league export`, which recreates the files of a league from its journal and its logs.
void add_export_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace league::tools::auditor
