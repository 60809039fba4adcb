#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "common/journal/journal.h"
#include "league_manager/standby/journal_stream.h"

namespace league::league_manager::standby {

/// Collects the records that a journal's stream has in single pieces, until there are enough to be
/// worth packing. Then they are added to the stream again, compressed, and the single pieces are
/// removed. Pure; not thread-safe.
class JournalPacker {
 public:
  /// `worth`: the size in bytes of records at which packing begins; a packed piece holds about as
  /// much, or one larger record.
  explicit JournalPacker(std::size_t worth) : worth_(worth) {}

  /// Adds the next record that the stream has.
  void add(std::uint64_t sequence, journal::EventRecord record, bool ends_group);
  /// The piece to publish next; nothing while there are too few records, or in the middle of a
  /// group.
  [[nodiscard]] std::optional<JournalPiece> next(int term);
  /// `piece`, which `next` returned, is now the stream's message `stream_sequence`. Returns the
  /// sequence number of the stream before which all single pieces can be removed; 0: none yet.
  [[nodiscard]] std::uint64_t on_stored(const JournalPiece& piece, std::uint64_t stream_sequence);

 private:
  const std::size_t worth_;
  std::uint64_t first_ = 0;  ///< sequence number of the first of `records_`
  std::deque<journal::EventRecord> records_;
  std::size_t size_ = 0;  ///< of records_, in bytes
  bool is_group_open_ = false;
  std::uint64_t run_began_ = 0;  ///< sequence number of the first packed piece of this run; 0: no
                                 ///< run
};

}  // namespace league::league_manager::standby
