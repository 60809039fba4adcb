#pragma once

#include <functional>
#include <variant>

#include "common/agent/host/agent_host.h"
#include "common/core/timer.h"
#include "common/transport/link/signals.h"
#include "league_manager/program/program.h"
#include "league_manager/rounds/operator_log.h"

namespace league::league_manager {

/// At SIGHUP a manager reads its options and limits again. Budgets of senders and the level of the
/// log change at once; for other limits the operator is told that they need a restart. An invalid
/// file changes nothing. Source: docs/settings.md, "One file".
class ManagerReload {
 public:
  /// Reads the options again; returns an exit code if they are wrong.
  using Read = std::function<std::variant<ProgramOptions, int>()>;

  /// Create it at the beginning of main, before any thread (see HangUpSignal).
  explicit ManagerReload(Read read) : read_(std::move(read)) {}

  /// Waits for the signal as long as `timer` lives. `now` are the settings in force; all arguments
  /// must outlive the last check; there is none after `timer` is destroyed.
  void follow(core::Timer& timer, agent::runtime::Settings now, agent::host::AgentPort& port,
              rounds::OperatorLog& log);

 private:
  void run(core::Timer& timer, agent::host::AgentPort& port, rounds::OperatorLog& log);
  void reload(agent::host::AgentPort& port, rounds::OperatorLog& log);

  transport::link::HangUpSignal signal_;
  const Read read_;
  agent::runtime::Settings now_;
};

}  // namespace league::league_manager
