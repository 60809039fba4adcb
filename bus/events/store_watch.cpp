#include "bus/events/store_watch.h"

#include <utility>

#include "common/agent/runtime/exception_guard.h"

namespace league::league_manager::bus {
namespace {

constexpr std::chrono::seconds kFirstLook{2};
constexpr std::chrono::seconds kBetweenLooks{30};
constexpr std::chrono::seconds kLookLimit{5};
constexpr std::uint64_t kWarnPercent = 70;
constexpr std::uint64_t kRestPercent = 60;

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

StoreWatch::StoreWatch(transport::bus::JetStream& streams, const core::Clock& clock,
                       core::Timer& timer, std::vector<WatchedStore> stores,
                       std::function<void(std::string)> say)
    : streams_(streams),
      clock_(clock),
      timer_(timer),
      say_(std::move(say)),
      tasks_(task::Executor(), agent::runtime::failures_logged("watching the broker's streams")) {
  for (auto& store : stores) stores_.push_back({std::move(store)});
  tasks_.spawn(watch());
}

task::Task<void> StoreWatch::watch() {
  for (auto pause = kFirstLook;; pause = kBetweenLooks) {
    co_await task::sleep_for(timer_, pause);
    for (Watched& watched : stores_) {
      const std::string stream = watched.store.stream();
      if (stream.empty()) continue;
      const auto state = co_await streams_.stream_state(stream, clock_.steady_now() + kLookLimit);
      if (state) check(watched, *state);
    }
  }
}

void StoreWatch::check_room(Watched& watched, const transport::bus::StreamState& state) {
  const bool has_less = state.max_bytes <= 0 || state.max_bytes < watched.store.wanted_bytes;
  if (watched.store.wanted_bytes <= 0 || !has_less || std::exchange(watched.is_room_said, true))
    return;
  const std::string got =
      state.max_bytes > 0
          ? "it has a limit of " + std::to_string(state.max_bytes >> 10) + " KiB instead"
          : "it has no limit of its own, so nobody is warned before the broker's store is full";
  say_("the broker has no room to reserve " +
       mebibytes(static_cast<std::uint64_t>(watched.store.wanted_bytes)) + " for the stream " +
       watched.store.stream() + ": " + got + "; " + watched.store.when_full +
       ". Raise max_file_store in the broker's configuration, or lower that setting");
}

void StoreWatch::check(Watched& watched, const transport::bus::StreamState& state) {
  check_room(watched, state);
  if (state.max_bytes <= 0) return;
  const auto most = static_cast<std::uint64_t>(state.max_bytes);
  const auto percent = state.bytes * 100 / most;
  if (percent < kRestPercent) watched.is_said = false;
  if (percent < kWarnPercent || std::exchange(watched.is_said, true)) return;
  say_("the broker's stream " + watched.store.stream() + " is " + std::to_string(percent) +
       " % full (" + mebibytes(state.bytes) + " of " + mebibytes(most) +
       "): " + watched.store.when_full);
}

}  // namespace league::league_manager::bus
