// `league bench` in a build with -DLEAGUE_BUS=OFF.
#include <iostream>

#include "tools/bench/bench_bots.h"
#include "tools/bench/bench_echo_bus.h"

namespace league::tools::bench {

core::Result<std::unique_ptr<EchoBus>> EchoBus::join(transport::link::EventLoop& /*loop*/,
                                                     const std::string& /*url*/) {
  return core::Error{core::ErrorCode::kInvalidFieldValue, "this build has no message bus", {}};
}

int run_bench_bots(const BenchBotsOptions& /*options*/, transport::link::StopSignal& /*stop*/) {
  std::cerr << "error: this build has no message bus\n";
  return 2;
}

}  // namespace league::tools::bench
