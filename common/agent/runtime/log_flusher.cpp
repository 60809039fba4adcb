#include "common/agent/runtime/log_flusher.h"

#include <spdlog/spdlog.h>

namespace league::agent {

void LogFlusher::run() {
  constexpr std::chrono::seconds kInterval{1};
  spdlog::default_logger()->flush();
  timer_.schedule(kInterval, [this] { run(); });
}

}  // namespace league::agent
