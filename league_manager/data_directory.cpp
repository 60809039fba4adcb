#include "league_manager/data_directory.h"

#include <algorithm>
#include <system_error>

#include "common/core/private_file.h"
#include "common/journal/lock_file.h"

namespace league::league_manager {
namespace {

namespace fs = std::filesystem;

core::Error directory_error(const fs::path& path, const std::error_code& why) {
  return {core::ErrorCode::kInternalError, "data directory " + path.string() + ": " + why.message(),
          ""};
}

/// `archive/20261121T150000Z`, or the first of its kind that is free.
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
  // The seeds of draws to come stand in the journal.
  if (!failed && is_new) fs::permissions(directory, fs::perms::owner_all, failed);
  if (failed) return directory_error(directory, failed);
  return is_new ? core::flush_directory(root_) : core::Result<void>();
}

core::Result<fs::path> DataDirectory::archive(core::UtcTimestamp now) const {
  std::error_code failed;
  if (!fs::exists(journal(), failed)) return fs::path();
  auto lock = journal::LockFile::acquire(journal().string() + ".lock");
  if (!lock) return lock.error();
  fs::path place = free_place(root_ / "archive", now);
  fs::create_directories(place, failed);
  if (failed) return directory_error(place, failed);
  // What can be made again goes first and the journal last: the moment of its move is the moment
  // from which the league is no longer here.
  for (const char* name : {"leagues", "matches"}) {
    if (!fs::exists(root_ / name, failed)) continue;
    fs::rename(root_ / name, place / name, failed);
    if (failed) return directory_error(root_ / name, failed);
  }
  auto key = core::read_private_file(secret_key());
  if (!key) return key.error();
  if (*key) {
    if (auto copied = core::write_private_file(place / "secret.key", **key); !copied)
      return copied.error();
  }
  fs::rename(journal().parent_path(), place / "journal", failed);
  if (failed) return directory_error(journal().parent_path(), failed);
  fs::remove(secret_key(), failed);  // a new league has tokens of its own
  if (auto flushed = core::flush_directory(place); !flushed) return flushed.error();
  if (auto flushed = core::flush_directory(root_); !flushed) return flushed.error();
  return place;
}

}  // namespace league::league_manager
