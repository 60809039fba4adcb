#include "common/transport/caller/link_caller.h"

#include "common/transport/caller/link_pool.h"

namespace league::transport {

LinkCaller::LinkCaller(Connector& connector, const core::Clock& clock, core::Timer& timer,
                       const LinkCallerOptions& options)
    : pool_(std::make_shared<Pool>(connector, clock, timer, options)) {}

LinkCaller::~LinkCaller() { pool_->stop(); }

void LinkCaller::call(OutboundCall call, Completion completion) {
  pool_->call(std::move(call), std::move(completion));
}

std::size_t LinkCaller::connections() const { return pool_->connections(); }

}  // namespace league::transport
