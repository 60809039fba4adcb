#include "common/agent/bus/bus_agent.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "common/agent/bus/bus_options.h"
#include "common/agent/runtime/log.h"
#include "common/transport/bus/bus_discovery.h"
#include "common/transport/bus/bus_listener.h"
#include "common/transport/bus/keep_alive_monitor.h"

namespace league::agent::bus {
namespace {

/// How long a search for the manager runs before the log reports that it is still unanswered.
constexpr std::chrono::seconds kSearch{30};
/// Lower limit for the keep-alive interval that a manager asks for, so that it cannot cause a
/// flood.
constexpr std::chrono::milliseconds kShortestInterval{50};

}  // namespace

/// Shared with the bus and the timer.
class BusAgent::State : public std::enable_shared_from_this<State> {
 public:
  State(transport::bus::Bus& bus, const transport::link::BusSession& session,
        const std::string& manager_url, const Context& context)
      : bus_(bus),
        session_(session),
        league_(league_of(manager_url)),
        clock_(context.clock),
        timer_(context.timer),
        discovery_(std::make_shared<transport::bus::BusDiscovery>(bus, session, context.clock,
                                                                  context.timer, context.random)) {}

  core::Result<void> begin(transport::link::MessageHandler& handler) {
    transport::bus::BusListenerOptions options;
    options.side = transport::bus::BusSide::kAgent;
    options.on_sign_of_life = [weak = weak_from_this()](bool is_keep_alive) {
      auto self = weak.lock();
      if (self && is_keep_alive) self->on_keep_alive();
    };
    auto listener =
        transport::bus::BusListener::start(bus_, session_, handler, clock_, std::move(options));
    if (!listener) return listener.error();
    listener_ = std::move(*listener);
    attach();
    return {};
  }
  void begin_stop() {
    std::shared_ptr<transport::bus::BusDiscovery> discovery;
    std::unique_ptr<transport::bus::KeepAliveMonitor> watch;
    {
      std::lock_guard lock(mutex_);
      is_stopping_ = true;
      discovery.swap(discovery_);
      watch.swap(switch_);
    }
    if (listener_) listener_->begin_stop();
  }
  void stop(std::chrono::milliseconds grace) {
    begin_stop();
    if (listener_) listener_->stop(grace);
  }

 private:
  void attach() {
    std::shared_ptr<transport::bus::BusDiscovery> discovery;
    {
      std::lock_guard lock(mutex_);
      if (!discovery_ || is_searching_) return;
      is_searching_ = true;
      discovery = discovery_;
    }
    discovery->attach(league_, clock_.steady_now() + kSearch,
                      [weak = weak_from_this()](const auto& attachment) {
                        if (auto self = weak.lock()) self->on_attached(attachment);
                      });
  }
  void on_attached(const core::Result<transport::bus::BusAttachment>& attachment) {
    if (attachment) return on_found(attachment->keep_alive);
    {
      std::lock_guard lock(mutex_);
      is_searching_ = false;
      if (is_stopping_) return;
    }
    runtime::log::warn("{}; still looking", attachment.error().message);
    // Scheduled, because `attach` must not be called from within the discovery's own callback.
    timer_.schedule(std::chrono::milliseconds(0), [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->attach();
    });
  }
  /// A manager now listens to the session. It can be a new one with another keep-alive interval.
  void on_found(std::chrono::milliseconds keep_alive) {
    if (keep_alive.count() > 0) keep_alive = std::max(keep_alive, kShortestInterval);
    bool is_back = false;
    std::uint64_t pace = 0;
    std::shared_ptr<transport::bus::KeepAliveMonitor> ended;
    {
      std::lock_guard lock(mutex_);
      is_searching_ = false;
      if (is_stopping_) return;
      if (keep_alive == interval_) {
        is_back = switch_ && switch_->beat();
      } else {
        interval_ = keep_alive;
        pace = ++pace_;
        ended = std::exchange(switch_, keep_alive.count() > 0 ? new_switch(keep_alive) : nullptr);
        is_back = ended && ended->is_silent();
      }
    }
    if (is_back) runtime::log::info("the manager is back");
    // The monitor is destroyed on the timer's thread, where its callback runs. Its destructor waits
    // for that callback; here, on a thread of the bus, that could deadlock, since the callback can
    // hold the last reference to the discovery.
    if (ended) timer_.schedule(std::chrono::milliseconds(0), [ended] {});
    ended.reset();
    if (pace > 0) pulse(pace);
  }
  std::unique_ptr<transport::bus::KeepAliveMonitor> new_switch(std::chrono::milliseconds interval) {
    return std::make_unique<transport::bus::KeepAliveMonitor>(clock_, timer_, interval,
                                                              [weak = weak_from_this()] {
                                                                if (auto self = weak.lock())
                                                                  self->on_silence();
                                                              });
  }
  void on_silence() {
    if (bus_.is_connected())
      runtime::log::warn("the manager is silent; attaching to it again");
    else
      runtime::log::warn("the connection to the bus at {} is lost; reconnecting", bus_.url());
    attach();
  }
  void on_keep_alive() {
    bool is_back = false;
    {
      std::lock_guard lock(mutex_);
      if (switch_) is_back = switch_->beat();
    }
    if (is_back) runtime::log::info("the manager is back");
  }
  /// Sends keep-alives until the interval changes (`pace` is then out of date) or the agent stops.
  void pulse(std::uint64_t pace) {
    std::chrono::milliseconds interval{0};
    {
      std::lock_guard lock(mutex_);
      if (is_stopping_ || pace != pace_) return;
      interval = interval_;
    }
    if (interval.count() == 0) return;
    listener_->send_keep_alive();
    timer_.schedule(interval, [weak = weak_from_this(), pace] {
      if (auto self = weak.lock()) self->pulse(pace);
    });
  }

  transport::bus::Bus& bus_;
  const transport::link::BusSession session_;
  const std::string league_;
  const core::Clock& clock_;
  core::Timer& timer_;
  std::shared_ptr<transport::bus::BusListener> listener_;
  std::mutex mutex_;  // guards the rest; while it is held, only `switch_` may be called
  std::shared_ptr<transport::bus::BusDiscovery> discovery_;
  std::unique_ptr<transport::bus::KeepAliveMonitor> switch_;
  std::chrono::milliseconds interval_{0};  ///< 0: no keep-alives are sent
  std::uint64_t pace_ = 0;  ///< number of interval changes so far; identifies the current `pulse`
  bool is_searching_ = false;
  bool is_stopping_ = false;
};

BusAgent::BusAgent(std::shared_ptr<State> state) : state_(std::move(state)) {}

core::Result<std::unique_ptr<BusAgent>> BusAgent::start(transport::bus::Bus& bus,
                                                        const transport::link::BusSession& session,
                                                        const std::string& manager_url,
                                                        transport::link::MessageHandler& handler,
                                                        const Context& context) {
  auto state = std::make_shared<State>(bus, session, manager_url, context);
  if (auto begun = state->begin(handler); !begun) return begun.error();
  return std::unique_ptr<BusAgent>(new BusAgent(std::move(state)));
}

BusAgent::~BusAgent() { stop(std::chrono::milliseconds(0)); }

void BusAgent::begin_stop() { state_->begin_stop(); }
void BusAgent::stop(std::chrono::milliseconds grace) { state_->stop(grace); }

}  // namespace league::agent::bus
