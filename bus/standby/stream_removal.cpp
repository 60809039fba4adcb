#include "bus/standby/stream_removal.h"

#include <mutex>
#include <vector>

#include "bus/standby/stream_format.h"
#include "common/core/await.h"
#include "common/transport/link/signals.h"
#include "common/transport/link/subject.h"

namespace league::league_manager::stream {
namespace {

using namespace std::chrono_literals;
using transport::bus::StreamListing;

constexpr std::chrono::milliseconds kListen = 2s;
constexpr std::chrono::milliseconds kAnswerWithin = 2s;

/// The name of the manager that leads; empty: nobody says that it does.
core::Result<std::string> leader_of(const std::string& league, transport::bus::Bus& bus,
                                    transport::link::StopSignal& stop) {
  std::mutex mutex;
  std::string leader;
  auto heard = bus.subscribe(transport::link::journal_beat_subject(league), "",
                             [&](const transport::bus::BusMessage& message) {
                               auto beat = read_heartbeat(message.payload);
                               if (!beat || !beat->is_leading) return;
                               std::lock_guard lock(mutex);
                               leader = beat->name;
                             });
  if (!heard) return heard.error();
  (void)stop.wait_for(kListen);
  heard->reset();
  return leader;
}

core::Result<void> remove_now(const std::string& league, transport::bus::JetStream& streams,
                              const core::Clock& clock) {
  auto found = core::await<core::Result<std::vector<StreamListing>>>([&](auto done) {
    streams.list_streams(transport::link::journal_subjects(league),
                         clock.steady_now() + kAnswerWithin, done);
  });
  if (!found) return found.error();
  for (const StreamListing& each : *found) {
    auto removed = core::await<core::Result<void>>([&](auto done) {
      streams.delete_stream(each.name, clock.steady_now() + kAnswerWithin, done);
    });
    if (!removed) return removed;
  }
  return {};
}

}  // namespace

core::Result<void> remove_streams(const std::string& league, transport::bus::Bus& bus,
                                  transport::bus::JetStream& streams, const core::Clock& clock,
                                  transport::link::StopSignal& stop) {
  auto leader = leader_of(league, bus, stop);
  if (!leader) return leader.error();
  if (!leader->empty())
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "--new would remove league " + league + ", which '" + *leader +
                           "' leads: end that manager first, or choose another --league",
                       ""};
  for (;;) {
    auto removed = remove_now(league, streams, clock);
    const bool is_silent =
        !removed && removed.error().code == core::ErrorCode::kConnectionError;  // or starting
    if (!is_silent || stop.wait_for(0ms) >= 0) return removed;
  }
}

}  // namespace league::league_manager::stream
