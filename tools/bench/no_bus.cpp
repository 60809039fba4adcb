// `league bench` in a build without the folder bus/, or with -DLEAGUE_BUS=OFF.
#include "tools/bench/bench_echo_bus.h"

namespace league::tools::bench {

core::Result<std::unique_ptr<EchoBus>> EchoBus::join(transport::link::EventLoop& /*loop*/,
                                                     const std::string& /*url*/) {
  return core::Error{core::ErrorCode::kInvalidFieldValue, "this build has no message bus", {}};
}

}  // namespace league::tools::bench
