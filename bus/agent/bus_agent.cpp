#include "bus/agent/bus_agent.h"

#include <algorithm>
#include <utility>

#include "bus/transport/bus_discovery.h"
#include "common/agent/bus/bus_options.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/agent/runtime/log.h"

namespace league::agent::bus {
namespace {

/// How long a search for the manager runs before the log reports that it is still unanswered.
constexpr std::chrono::seconds kSearch{30};
/// Lower limit for the keep-alive interval that a manager asks for, so that it cannot cause a
/// flood.
constexpr std::chrono::milliseconds kShortestInterval{50};

}  // namespace

core::Result<std::unique_ptr<BusAgent>> BusAgent::start(transport::bus::SessionOnBus on,
                                                        const std::string& manager_url,
                                                        transport::link::MessageHandler& handler) {
  std::unique_ptr<BusAgent> agent(new BusAgent(std::move(on), manager_url));
  if (auto begun = agent->begin(handler); !begun) return begun.error();
  return agent;
}

BusAgent::BusAgent(transport::bus::SessionOnBus on, const std::string& manager_url)
    : on_(std::move(on)),
      league_(league_of(manager_url)),
      monitor_(on_.clock, on_.timer),
      tasks_(task::Executor(), runtime::failures_logged("the session on the bus")) {}

core::Result<void> BusAgent::begin(transport::link::MessageHandler& handler) {
  transport::bus::BusListenerOptions options;
  options.side = transport::bus::BusSide::kAgent;
  options.on_sign_of_life = [this](bool is_keep_alive) {
    if (is_keep_alive) tasks_.spawn(hear_keep_alive());
  };
  auto listener = transport::bus::BusListener::start(on_.bus, on_.session, handler, on_.clock,
                                                     std::move(options));
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  tasks_.spawn(keep_attached());
  return {};
}

void BusAgent::begin_stop() {
  tasks_.stop();
  if (listener_) listener_->begin_stop();
}

void BusAgent::stop(std::chrono::milliseconds grace) {
  begin_stop();
  if (listener_) listener_->stop(grace);
}

task::Task<void> BusAgent::keep_attached() {
  transport::bus::BusDiscovery discovery(on_);
  for (;;) {
    const auto found = co_await discovery.attach(league_, on_.clock.steady_now() + kSearch);
    if (!found) {
      runtime::log::warn("{}; still looking", found.error().message);
      continue;
    }
    on_found(found->keep_alive);
    co_await silence_.wait();
  }
}

/// A manager now listens to the session. It can be a new one with another keep-alive interval.
void BusAgent::on_found(std::chrono::milliseconds keep_alive) {
  if (keep_alive.count() > 0) keep_alive = std::max(keep_alive, kShortestInterval);
  on_alive();
  if (std::exchange(interval_, keep_alive) == keep_alive) return;
  sending_.cancel();
  watching_.cancel();
  if (keep_alive.count() == 0) return;
  sending_ = tasks_.spawn(send_keep_alives(keep_alive));
  watching_ = tasks_.spawn(watch_manager(keep_alive));
}

void BusAgent::on_alive() {
  if (monitor_.beat()) runtime::log::info("the manager is back");
}

task::Task<void> BusAgent::hear_keep_alive() {
  on_alive();
  co_return;
}

task::Task<void> BusAgent::send_keep_alives(std::chrono::milliseconds interval) {
  for (;;) {
    listener_->send_keep_alive();
    co_await task::sleep_for(on_.timer, interval);
  }
}

task::Task<void> BusAgent::watch_manager(std::chrono::milliseconds interval) {
  for (;;) {
    co_await monitor_.silence(interval);
    if (on_.bus.is_connected())
      runtime::log::warn("the manager is silent; attaching to it again");
    else
      runtime::log::warn("the connection to the bus at {} is lost; reconnecting", on_.bus.url());
    silence_.open(true);
  }
}

}  // namespace league::agent::bus
