#include "common/agent/bus_agent.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "common/transport/bus/bus_discovery.h"
#include "common/transport/bus/bus_listener.h"
#include "common/transport/bus/dead_man_switch.h"

namespace league::agent {
namespace {

/// How long one search for the manager goes on before the log says so.
constexpr std::chrono::seconds kSearch{30};

std::string league_of(const std::string& manager_url) {
  constexpr std::string_view kOfLeague = "nats:manager/";
  return manager_url.starts_with(kOfLeague) ? manager_url.substr(kOfLeague.size()) : std::string();
}

}  // namespace

/// Shared with the bus and the timer.
class BusAgent::State : public std::enable_shared_from_this<State> {
 public:
  State(transport::Bus& bus, const transport::BusSession& session, const std::string& manager_url,
        const Context& context)
      : bus_(bus),
        session_(session),
        league_(league_of(manager_url)),
        clock_(context.clock),
        timer_(context.timer),
        discovery_(std::make_unique<transport::BusDiscovery>(bus, session, context.clock,
                                                             context.timer, context.random)) {}

  core::Result<void> begin(transport::MessageHandler& handler) {
    transport::BusListenerOptions options;
    options.side = transport::BusSide::kAgent;
    options.on_sign_of_life = [weak = weak_from_this()](bool is_keep_alive) {
      auto self = weak.lock();
      if (self && is_keep_alive) self->on_keep_alive();
    };
    auto listener =
        transport::BusListener::start(bus_, session_, handler, clock_, std::move(options));
    if (!listener) return listener.error();
    listener_ = std::move(*listener);
    attach();
    return {};
  }
  void begin_stop() {
    std::unique_ptr<transport::BusDiscovery> discovery;
    std::unique_ptr<transport::DeadManSwitch> watch;
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
    std::lock_guard lock(mutex_);
    if (!discovery_ || is_searching_) return;
    is_searching_ = true;
    discovery_->attach(league_, clock_.steady_now() + kSearch,
                       [weak = weak_from_this()](const auto& attachment) {
                         if (auto self = weak.lock()) self->on_attached(attachment);
                       });
  }
  void on_attached(const core::Result<transport::BusAttachment>& attachment) {
    bool is_first = false;
    {
      std::lock_guard lock(mutex_);
      is_searching_ = false;
      if (is_stopping_) return;
      if (attachment && !switch_ && attachment->keep_alive.count() > 0) {
        is_first = true;
        interval_ = std::max(attachment->keep_alive, std::chrono::milliseconds(50));
        switch_ = std::make_unique<transport::DeadManSwitch>(clock_, timer_, interval_,
                                                             [weak = weak_from_this()] {
                                                               if (auto self = weak.lock())
                                                                 self->on_silence();
                                                             });
      }
    }
    if (!attachment) {
      spdlog::warn("{}; still looking", attachment.error().message);
      // Not within the discovery's own call.
      timer_.schedule(std::chrono::milliseconds(0), [weak = weak_from_this()] {
        if (auto self = weak.lock()) self->attach();
      });
      return;
    }
    if (is_first) pulse();
  }
  void on_silence() {
    if (bus_.is_connected())
      spdlog::warn("the manager is silent; attaching to it again");
    else
      spdlog::warn("the bus at {} is lost; looking for it", bus_.url());
    attach();
  }
  void on_keep_alive() {
    bool is_back = false;
    {
      std::lock_guard lock(mutex_);
      if (switch_) is_back = switch_->beat();
    }
    if (is_back) spdlog::info("the manager is back");
  }
  void pulse() {
    {
      std::lock_guard lock(mutex_);
      if (is_stopping_) return;
    }
    listener_->send_keep_alive();
    timer_.schedule(interval_, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->pulse();
    });
  }

  transport::Bus& bus_;
  const transport::BusSession session_;
  const std::string league_;
  const core::Clock& clock_;
  core::Timer& timer_;
  std::unique_ptr<transport::BusListener> listener_;
  std::chrono::milliseconds interval_{0};
  std::mutex mutex_;  // guards the rest
  std::unique_ptr<transport::BusDiscovery> discovery_;
  std::unique_ptr<transport::DeadManSwitch> switch_;
  bool is_searching_ = false;
  bool is_stopping_ = false;
};

BusAgent::BusAgent(std::shared_ptr<State> state) : state_(std::move(state)) {}

core::Result<std::unique_ptr<BusAgent>> BusAgent::start(transport::Bus& bus,
                                                        const transport::BusSession& session,
                                                        const std::string& manager_url,
                                                        transport::MessageHandler& handler,
                                                        const Context& context) {
  auto state = std::make_shared<State>(bus, session, manager_url, context);
  if (auto begun = state->begin(handler); !begun) return begun.error();
  return std::unique_ptr<BusAgent>(new BusAgent(std::move(state)));
}

BusAgent::~BusAgent() { stop(std::chrono::milliseconds(0)); }

void BusAgent::begin_stop() { state_->begin_stop(); }
void BusAgent::stop(std::chrono::milliseconds grace) { state_->stop(grace); }

}  // namespace league::agent
