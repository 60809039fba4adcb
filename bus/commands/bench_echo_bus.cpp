#include "tools/bench/bench_echo_bus.h"

#include <vector>

#include "bus/transport/bus_connection.h"
#include "bus/transport/bus_listener.h"
#include "bus/transport/nats_bus.h"
#include "common/core/timer.h"
#include "common/transport/caller/link_caller.h"

namespace league::tools::bench {
namespace {

class NatsEchoBus final : public EchoBus {
 public:
  NatsEchoBus(transport::link::EventLoop& loop, std::shared_ptr<transport::bus::Bus> bus)
      : bus_(std::move(bus)),
        connector_(loop,
                   {*bus_, transport::link::BusSession::make(random_), clock_, timer_, random_}),
        caller_(connector_, clock_, timer_) {}

  transport::link::Caller& caller() override { return caller_; }
  core::Result<std::string> serve(transport::link::MessageHandler& handler) override {
    auto session = transport::link::BusSession::make(random_);
    auto listener = transport::bus::BusListener::start(*bus_, session, handler, clock_, {});
    if (!listener) return listener.error();
    listeners_.push_back(std::move(*listener));
    return "nats:" + session.str();
  }

 private:
  core::SystemClock clock_;
  core::CryptoRandom random_;
  core::ThreadTimer timer_;
  const std::shared_ptr<transport::bus::Bus> bus_;
  transport::bus::BusConnector connector_;
  transport::caller::LinkCaller caller_;
  std::vector<std::shared_ptr<transport::bus::BusListener>> listeners_;
};

}  // namespace

core::Result<std::unique_ptr<EchoBus>> EchoBus::join(transport::link::EventLoop& loop,
                                                     const std::string& url) {
  transport::bus::NatsBusOptions options;
  options.urls = url;
  auto bus = transport::bus::connect_nats(options);
  if (!bus) return bus.error();
  return std::unique_ptr<EchoBus>(std::make_unique<NatsEchoBus>(loop, std::move(*bus)));
}

}  // namespace league::tools::bench
