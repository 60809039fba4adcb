#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/core/result.h"

namespace league::journal {

/// An event to be stored: the name of its kind and its JSON text. The journal interprets neither.
struct EventRecord {
  std::string type;
  std::string payload;

  bool operator==(const EventRecord&) const = default;
};

/// A record in its place. Sequence numbers start at 1 and have no gaps.
struct Entry {
  std::uint64_t sequence = 0;
  EventRecord record;

  bool operator==(const Entry&) const = default;
};

/// The events of one league, in order, append-only. Implementations are thread-safe.
///
/// The order of calls to `append` is the order of the entries. Several appends may share one
/// commit. A caller may therefore append and continue, as long as nothing that follows from the
/// records (an answer, a call) leaves the process before their `durable` has been called. After a
/// failure nothing more is accepted, because the state in memory is then ahead of the stored one;
/// the process has to stop.
class Journal {
 public:
  using Durable = std::function<void(core::Result<void>)>;
  using Visitor = std::function<core::Result<void>(const Entry&)>;

  virtual ~Journal() = default;
  /// Stores all of `records` or none, and calls `durable` exactly once, on any thread, possibly
  /// before it returns.
  virtual void append(std::vector<EventRecord> records, Durable durable) = 0;
  /// Passes every stored entry to `visit` in order; stops at its first error.
  [[nodiscard]] virtual core::Result<void> replay(const Visitor& visit) const = 0;
};

/// Appends and blocks until the records are durable.
[[nodiscard]] core::Result<void> append_and_wait(Journal& journal,
                                                 std::vector<EventRecord> records);

}  // namespace league::journal
