#include "league_manager/files/data_directory.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "common/core/private_file.h"
#include "common/journal/lock_file.h"

namespace league::league_manager::files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJournal = "journal";

/// The names that are archived, in this order: files that can be recreated first, the journal last,
/// since moving it completes the archiving. The keys are moved before it, so that a new league
/// never gets the identity of an old one.
constexpr std::array<std::string_view, 9> kOfALeague = {
    "leagues",      "matches", "league_up.json", "league_up.limits.json",
    "journal.mark", "log.key", "secret.key",     "replication.json",
    kJournal};

core::Error directory_error(const fs::path& path, const std::error_code& why) {
  return {core::ErrorCode::kInternalError, "data directory " + path.string() + ": " + why.message(),
          ""};
}

/// A directory in `archive` that a manager had begun to fill when it was killed; empty if there is
/// none.
fs::path unfinished_place(const fs::path& archive, const fs::path& root) {
  std::error_code failed;
  for (fs::directory_iterator entry(archive, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    bool has_room = std::ranges::none_of(kOfALeague, [&](std::string_view name) {
      return fs::exists(entry->path() / name) && (name == kJournal || fs::exists(root / name));
    });
    if (entry->is_directory() && has_room) return entry->path();
  }
  return {};
}

/// `archive/20261121T150000Z`, or with the first suffix (`_2`, `_3`, …) that is free.
fs::path free_place(const fs::path& archive, core::UtcTimestamp now) {
  std::string name = now.to_wire();
  std::erase_if(name, [](char c) { return c == '-' || c == ':'; });
  fs::path place = archive / name;
  for (int i = 2; fs::exists(place); ++i) place = archive / (name + "_" + std::to_string(i));
  return place;
}

}  // namespace

fs::path DataDirectory::journal() const { return root_ / "journal" / "journal.sqlite"; }

core::Result<void> DataDirectory::prepare() const {
  std::error_code failed;
  fs::path directory = journal().parent_path();
  bool is_new = fs::create_directories(directory, failed);
  // Owner only: the journal contains the seeds of future draws.
  if (!failed && is_new) fs::permissions(directory, fs::perms::owner_all, failed);
  if (failed) return directory_error(directory, failed);
  return is_new ? core::flush_directory(root_) : core::Result<void>();
}

core::Result<fs::path> DataDirectory::archive(core::UtcTimestamp now) const {
  std::error_code failed;
  auto is_here = [&](std::string_view name) { return fs::exists(root_ / name, failed); };
  if (std::ranges::none_of(kOfALeague, is_here)) return fs::path();
  if (auto prepared = prepare(); !prepared) return prepared.error();
  auto lock = journal::LockFile::acquire(journal().string() + ".lock");
  if (!lock) return lock.error();
  fs::path place = unfinished_place(root_ / "archive", root_);
  if (place.empty()) place = free_place(root_ / "archive", now);
  fs::create_directories(place, failed);
  if (failed) return directory_error(place, failed);
  // The operator's key stays here, too; with its copy the archive is a complete data directory.
  auto operators = core::read_private_file(operator_key());
  if (!operators) return operators.error();
  if (*operators) {
    auto copied = core::write_private_file(place / "operator.key", **operators);
    if (!copied) return copied.error();
  }
  for (std::string_view name : kOfALeague) {
    if (!fs::exists(root_ / name, failed)) continue;
    fs::rename(root_ / name, place / name, failed);
    if (failed) return directory_error(root_ / name, failed);
  }
  if (auto flushed = core::flush_directory(place); !flushed) return flushed.error();
  if (auto flushed = core::flush_directory(root_); !flushed) return flushed.error();
  return place;
}

}  // namespace league::league_manager::files
