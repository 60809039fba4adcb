#pragma once

#include <string>

#include "bus/transport/jet_stream.h"
#include "common/core/clock.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::league_manager::stream {

/// Removes all streams of an earlier league of this name, for a new one. Blocks for two seconds and
/// until the broker answers, or until `stop`. Fails if a manager leads that league, which its
/// heartbeats say, and if the broker refuses.
[[nodiscard]] core::Result<void> remove_streams(const std::string& league, transport::bus::Bus& bus,
                                                transport::bus::JetStream& streams,
                                                const core::Clock& clock,
                                                transport::link::StopSignal& stop);

}  // namespace league::league_manager::stream
