#include "tools/check/checker_bus.h"

#include <utility>

namespace league::tools::check {

core::Result<std::unique_ptr<CheckerBus>> CheckerBus::join(const agent::bus::BusOptions& options) {
  auto loop = transport::link::EventLoop::start();
  if (!loop) return loop.error();
  std::unique_ptr<CheckerBus> bus(new CheckerBus(std::move(*loop)));
  auto link = BusLink::join(options, bus->context());
  if (!link) return link.error();
  bus->link_ = std::move(*link);
  bus->caller_ = std::make_unique<transport::caller::LinkCaller>(*bus->link_->connector(),
                                                                 bus->clock_, bus->timer_);
  return bus;
}

core::Result<std::shared_ptr<void>> CheckerBus::serve_league(
    transport::link::MessageHandler& handler, const std::string& league_id) {
  return link_->serve_league(handler, league_id, context());
}

}  // namespace league::tools::check
