#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "common/journal/journal.h"
#include "league_manager/standby/journal_stream.h"

namespace league::league_manager {

/// Gathers what the stream of a journal has in single pieces, until there is so much that it is
/// worth packing: then it stands there once more, compressed, and the pieces are thrown away. Pure;
/// not thread-safe.
class JournalPacker {
 public:
  /// `worth`: bytes of records. Each packed piece holds about as much, or one record that is
  /// larger.
  explicit JournalPacker(std::size_t worth) : worth_(worth) {}

  /// The stream has the next record, which ends a group or not.
  void add(std::uint64_t sequence, journal::EventRecord record, bool ends_group);
  /// What is to be packed next; nothing while there is too little, or in the middle of a group.
  [[nodiscard]] std::optional<JournalPiece> next(int term);
  /// The stream has `piece`, which `next` gave, as its message `stream_sequence`. Returns the
  /// number of the stream's message before which all single pieces are packed; 0: not yet.
  [[nodiscard]] std::uint64_t on_stored(const JournalPiece& piece, std::uint64_t stream_sequence);

 private:
  const std::size_t worth_;
  std::uint64_t first_ = 0;  ///< sequence number of the first of `records_`
  std::deque<journal::EventRecord> records_;
  std::size_t size_ = 0;  ///< of records_, in bytes
  bool is_group_open_ = false;
  std::uint64_t run_began_ = 0;  ///< the stream's message that was the first packed one; 0: none
};

}  // namespace league::league_manager
