#include "league_manager/files/journal_book.h"

#include "common/journal/sqlite_journal.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager::files {
namespace {

namespace fs = std::filesystem;

fs::path journal_of(const fs::path& data) { return data / "journal" / "journal.sqlite"; }

}  // namespace

core::Result<LeagueBook> read_book(const fs::path& data) {
  LeagueBook book;
  auto read = journal::read_journal(journal_of(data),
                                    [&book](const journal::Entry& entry) -> core::Result<void> {
                                      auto event = events::from_record(entry.record);
                                      if (!event) return event.error();
                                      return book.apply(*event);
                                    });
  if (!read) return read.error();
  if (!book.is_open()) {
    return core::Error{core::ErrorCode::kInternalError,
                       journal_of(data).string() + " holds no event yet: there is no league", ""};
  }
  return book;
}

std::optional<fs::path> find_data(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& data : {directory / "data", directory}) {
    if (fs::exists(journal_of(data), ignored)) return data;
  }
  return std::nullopt;
}

}  // namespace league::league_manager::files
