#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "common/journal/journal.h"
#include "common/transport/bus/jet_stream.h"
#include "league_manager/standby/leadership.h"

namespace league::league_manager::standby {

/// The format of a league's journal in a stream of the broker, for stand-by managers. Pure, so safe
/// from any thread. Source: docs/distributed.md.

/// One message of the stream: consecutive entries. A message without records marks the beginning of
/// a term.
struct JournalPiece {
  int term = 0;  ///< of the manager that has written it
  std::uint64_t first_sequence = 1;  ///< of the first record
  std::vector<journal::EventRecord> records;
  /// The next piece continues this one: both are applied together, or neither if the next one is
  /// missing.
  bool has_more = false;
  /// It repeats earlier pieces, compressed, which can then be removed.
  bool is_packed = false;
  /// The rule of the manager that has written it, which its successor inherits; nothing: it is of
  /// an earlier version.
  std::optional<Replication> replication = std::nullopt;

  bool operator==(const JournalPiece&) const = default;
};

/// The piece as a message of the stream.
[[nodiscard]] transport::bus::BusMessage write_piece(const std::string& league,
                                                     const JournalPiece& piece);
/// Fails with kInvalidReply for any other message.
[[nodiscard]] core::Result<JournalPiece> read_piece(const transport::bus::BusMessage& message);

/// The position up to which a stand-by has made the journal durable.
struct FollowerPosition {
  int term = 0;  ///< the highest that it has read
  std::uint64_t sequence = 0;
};
[[nodiscard]] std::string write_follower_position(const FollowerPosition& had);
[[nodiscard]] core::Result<FollowerPosition> read_follower_position(std::string_view payload);

/// The stream of a league's journal, whose messages never expire. `max_mib`: 0 for no limit; a full
/// stream refuses new messages.
[[nodiscard]] transport::bus::StreamConfig journal_stream(const std::string& league,
                                                          long max_mib = 0);
/// The stream of a league's lease; its entries expire after `length`.
[[nodiscard]] transport::bus::StreamConfig lease_stream(const std::string& league,
                                                        std::chrono::milliseconds length);
/// `max_mib` in the form of StreamConfig::max_bytes.
[[nodiscard]] std::int64_t stream_bytes(long max_mib);

}  // namespace league::league_manager::standby
