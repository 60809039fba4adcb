#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/agent/bus/bus_options.h"
#include "common/agent/runtime/settings.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/subject.h"

namespace league::agent::host {

/// A process's connections to the message bus. Thread-safe once it is made.
class HostBus {
 public:
  /// Connects; if no broker is available yet, keeps looking for one. Fails as connect_bus, and if
  /// the program was built without a bus.
  [[nodiscard]] static core::Result<std::unique_ptr<HostBus>> join(const bus::BusAccess& access);

  [[nodiscard]] transport::bus::Bus& bus() { return *bus_; }
  /// The bus for requests to streams and for publishing what streams store.
  [[nodiscard]] transport::bus::Bus& streams_bus() { return streams_bus_ ? *streams_bus_ : *bus_; }
  /// See BusAccess.
  [[nodiscard]] bool has_streams() const { return has_streams_; }
  /// Null if no sessions are served first.
  [[nodiscard]] transport::bus::Bus* first_bus() { return first_bus_.get(); }
  [[nodiscard]] const std::set<transport::link::BusSession>& served_first() const {
    return served_first_;
  }
  [[nodiscard]] const std::optional<transport::link::BusSession>& session() const {
    return session_;
  }

  /// The session in the credentials if they have one, else the session in `file`; see
  /// open_bus_session.
  [[nodiscard]] core::Result<transport::link::BusSession> open_session(
      const std::filesystem::path& file, core::RandomSource& random) const;
  /// What a caller needs; all references must outlive it.
  struct Calling {
    transport::link::EventLoop& loop;
    const core::Clock& clock;
    core::Timer& timer;
    core::RandomSource& random;
    const runtime::Settings& settings;
  };
  /// A caller for one session: uses the bus for endpoints on it and `others` for all other
  /// endpoints. Both this object and `session` must outlive the caller.
  [[nodiscard]] std::unique_ptr<transport::link::Caller> caller_for(
      const transport::link::BusSession& session, const Calling& calling,
      transport::link::Caller& others);

 private:
  HostBus() = default;

  std::unique_ptr<transport::bus::Bus> bus_;
  std::unique_ptr<transport::bus::Bus::Subscription> watch_;  ///< of bus_
  std::unique_ptr<transport::bus::Bus> streams_bus_;  ///< null if `bus_` reaches streams as well
  std::unique_ptr<transport::bus::Bus> first_bus_;
  std::set<transport::link::BusSession> served_first_;
  bool has_streams_ = true;
  std::optional<transport::link::BusSession> session_;
};

}  // namespace league::agent::host
