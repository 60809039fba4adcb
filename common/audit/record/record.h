#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/rpc/delivery.h"
#include "common/transport/link/log_meter.h"

namespace league::audit::record {

/// Seen from the agent that writes the log.
enum class Direction { kIn, kOut };

/// The kind of a record. A failure takes the place of a missing reply. A note is no message: it is
/// a line of its own, without a number, that says something about the log or the league.
enum class Kind { kRequest, kReply, kFailure, kNote };

/// `in`, `out`.
[[nodiscard]] std::string_view direction_name(Direction direction);
/// `request`, `reply`, `failure`, `note`.
[[nodiscard]] std::string_view kind_name(Kind kind);

/// One message that was sent or received, before it is masked and written. Movable; belongs to one
/// thread at a time.
struct Record {
  Direction direction = Direction::kIn;
  Kind kind = Kind::kRequest;
  /// RecordSink::next_call(): the same in a request and in its reply or failure. 0: unknown.
  std::uint64_t call = 0;
  core::UtcTimestamp time;  ///< when the bytes came or went
  core::Clock::Steady mono;  ///< the same instant on the monotonic clock
  rpc::TransportContext context;  ///< how it came or goes, without headers
  std::optional<rpc::SessionId> session;
  int http_status = 0;  ///< 0 where there is none
  /// Reply and failure: since the request. Inbound request: how long it was worked on.
  std::optional<std::chrono::nanoseconds> elapsed;
  rpc::MessageNotes notes;  ///< peer, type, ids, leniencies, verdict and its text
  rpc::SharedText body;  ///< the bytes of the wire, not masked; empty: none
  /// The body recurs with only a few bytes changed: a broadcast, or an answer that is worth
  /// referring to. See RecordWriter.
  bool broadcast = false;
  std::shared_ptr<transport::link::LogMeter>
      meter;  ///< of the sender that caused this record; null: its bytes are not counted
};

/// Whether a later answer may refer to one of this size.
[[nodiscard]] inline bool is_worth_referring(std::size_t answer_bytes) {
  constexpr std::size_t kWorthReferring = 2048;
  return answer_bytes >= kWorthReferring;
}

/// A record of `message`, without its notes, which are not complete yet: bytes, time and way, the
/// transport without its headers.
[[nodiscard]] Record record_of(const rpc::Delivery& message, Direction direction, Kind kind);

/// A note called `name`, made now. `content` is a JSON object in one line; it is
/// written as it is, so it must not contain a secret. Source: docs/audit.md, "Notes".
[[nodiscard]] Record note_of(std::string name, std::string content, const core::Clock& clock);

/// What a record costs in the queue, in bytes.
[[nodiscard]] std::size_t memory_of(const Record& record);

/// Where decorators put their records. Implementations are thread-safe.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void append(Record record) = 0;
  /// The number of a new call, from 1: it ties an answer to its request, whatever the answer itself
  /// says.
  [[nodiscard]] std::uint64_t next_call() {
    return calls_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

 private:
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace league::audit::record
