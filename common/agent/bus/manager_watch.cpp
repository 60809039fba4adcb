#include "common/agent/bus/manager_watch.h"

#include <mutex>
#include <utility>

#include "common/agent/runtime/log.h"

namespace league::agent::bus {

struct ManagerWatch::State {
  std::mutex mutex;
  bool has_ended = false;
  bool has_complained = false;
  std::string agent;
  std::string manager;
  Say say;
};

ManagerWatch::ManagerWatch(core::Timer& timer, const std::string& agent, const std::string& manager,
                           LostBus lost_bus)
    : ManagerWatch(
          timer, agent, manager, std::move(lost_bus), [](bool is_warning, const std::string& text) {
            runtime::log::write(
                is_warning ? runtime::log::Level::kWarning : runtime::log::Level::kInfo, text, {});
          }) {}

ManagerWatch::ManagerWatch(core::Timer& timer, const std::string& agent, const std::string& manager,
                           LostBus lost_bus, Say say)
    : state_(std::make_shared<State>()) {
  state_->agent = agent;
  state_->manager = manager;
  state_->say = std::move(say);
  timer.schedule(kPatience, [state = state_, lost_bus = std::move(lost_bus)] {
    std::lock_guard lock(state->mutex);
    if (std::exchange(state->has_complained, true) || state->has_ended) return;
    const std::string lost = lost_bus();
    const std::string why = !lost.empty() ? "the bus at " + lost + " cannot be reached."
                                          : "the league manager at " + state->manager +
                                                " does not answer. Is it running, and is that its "
                                                "address?";
    state->say(true, state->agent + " is not registered: " + why + " Still trying.");
  });
}

void ManagerWatch::ended(bool has_answered) const {
  std::lock_guard lock(state_->mutex);
  if (std::exchange(state_->has_ended, true) || !has_answered || !state_->has_complained) return;
  state_->say(false, "the league manager at " + state_->manager + " has answered " + state_->agent);
}

}  // namespace league::agent::bus
