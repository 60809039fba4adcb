#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/journal/journal.h"
#include "league_manager/spectators/replication_figures.h"

namespace league::league_manager {

/// The lead of a manager that other managers can replace. Thread-safe, except for `finish`.
class Leadership {
 public:
  virtual ~Leadership() = default;
  /// Of the events that follow.
  [[nodiscard]] virtual int term() const = 0;
  /// Whether other managers wrote entries before, of which files of this directory know nothing.
  [[nodiscard]] virtual bool has_followed() const = 0;
  /// What the operator gave up so that the league could go on; nothing: no entries are lost.
  [[nodiscard]] virtual std::optional<std::string> given_up() const = 0;
  /// Its records are durable when every manager that could lead after this one has them.
  [[nodiscard]] virtual journal::Journal& journal() = 0;
  /// False while the stream takes nothing more: matches that begin now could not be recorded.
  [[nodiscard]] virtual bool may_start() const = 0;
  /// Runs `send` when it is certain that no other manager leads: at once, later, or never.
  virtual void when_sure(std::function<void()> send) = 0;
  [[nodiscard]] virtual spectators::ReplicationFigures figures() const = 0;
  /// Name of the stream in use, empty if none is.
  [[nodiscard]] virtual std::string stream() const = 0;
  /// Waits until the last entries are with the others, and ends; `journal` refuses later records.
  /// Call it once, before the timer and the local journal end.
  virtual void finish() = 0;
};

}  // namespace league::league_manager
