#include "common/agent/runtime/log_flusher.h"

#include "common/agent/runtime/log.h"

namespace league::agent {

void LogFlusher::run() {
  constexpr std::chrono::seconds kInterval{1};
  log::flush();
  timer_.schedule(kInterval, [this] { run(); });
}

}  // namespace league::agent
