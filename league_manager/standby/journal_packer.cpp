#include "league_manager/standby/journal_packer.h"

#include <utility>

namespace league::league_manager::standby {
namespace {

std::size_t size_of(const journal::EventRecord& record) {
  return record.type.size() + record.payload.size();
}

}  // namespace

void JournalPacker::add(std::uint64_t sequence, journal::EventRecord record, bool ends_group) {
  if (records_.empty()) first_ = sequence;
  size_ += size_of(record);
  is_group_open_ = !ends_group;
  records_.push_back(std::move(record));
}

std::optional<JournalPiece> JournalPacker::next(int term) {
  // A run of packing continues to the last record: only then can the single pieces be removed.
  const bool is_due = run_began_ != 0 || (size_ >= worth_ && !is_group_open_);
  if (!is_due || records_.empty()) return std::nullopt;
  JournalPiece piece{term, first_, {}, false, true};
  std::size_t size = 0;
  for (const auto& record : records_) {
    size += size_of(record);
    if (size > worth_ && !piece.records.empty()) break;
    piece.records.push_back(record);
  }
  return piece;
}

std::uint64_t JournalPacker::on_stored(const JournalPiece& piece, std::uint64_t stream_sequence) {
  if (run_began_ == 0) run_began_ = stream_sequence;
  for (std::size_t i = 0; i < piece.records.size(); ++i) {
    size_ -= size_of(records_.front());
    records_.pop_front();
    ++first_;
  }
  return records_.empty() ? std::exchange(run_began_, 0) : 0;
}

}  // namespace league::league_manager::standby
