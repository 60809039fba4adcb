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

namespace league::agent {

/// A process's connections to the message bus. Thread-safe once it is made.
class HostBus {
 public:
  /// Connects; goes on looking where there is no broker yet. Fails as connect_bus, and where the
  /// program was built without a bus.
  [[nodiscard]] static core::Result<std::unique_ptr<HostBus>> join(const BusAccess& access);

  [[nodiscard]] transport::Bus& bus() { return *bus_; }
  /// By which streams are asked, and what they keep is published.
  [[nodiscard]] transport::Bus& streams_bus() { return streams_bus_ ? *streams_bus_ : *bus_; }
  /// See BusAccess.
  [[nodiscard]] bool has_streams() const { return has_streams_; }
  /// Null where no sessions are served first.
  [[nodiscard]] transport::Bus* first_bus() { return first_bus_.get(); }
  [[nodiscard]] const std::set<transport::BusSession>& served_first() const {
    return served_first_;
  }
  [[nodiscard]] const std::optional<transport::BusSession>& session() const { return session_; }

  /// The credentials' session, else that of `file`: see open_bus_session.
  [[nodiscard]] core::Result<transport::BusSession> open_session(const std::filesystem::path& file,
                                                                 core::RandomSource& random) const;
  /// What calls are made with; all outlive the caller.
  struct Calling {
    transport::EventLoop& loop;
    const core::Clock& clock;
    core::Timer& timer;
    core::RandomSource& random;
    const Settings& settings;
  };
  /// The calls of one session: by the bus where the endpoint is on it, else by `others`. This
  /// outlives it, and the session as well.
  [[nodiscard]] std::unique_ptr<transport::Caller> caller_for(const transport::BusSession& session,
                                                              const Calling& calling,
                                                              transport::Caller& others);

 private:
  HostBus() = default;

  std::unique_ptr<transport::Bus> bus_;
  std::unique_ptr<transport::Bus::Subscription> watch_;  ///< of bus_
  std::unique_ptr<transport::Bus> streams_bus_;  ///< null where `bus_` reaches streams as well
  std::unique_ptr<transport::Bus> first_bus_;
  std::set<transport::BusSession> served_first_;
  bool has_streams_ = true;
  std::optional<transport::BusSession> session_;
};

}  // namespace league::agent
