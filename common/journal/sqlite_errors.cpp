#include "common/journal/sqlite_errors.h"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

namespace league::journal {

namespace fs = std::filesystem;
using core::Error;

Error journal_error(const fs::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, "journal " + file.string() + ": " + why, ""};
}

Error damaged(const fs::path& file, const std::string& what) {
  return journal_error(
      file,
      "is damaged (" + what + "): restore a backup, or move the file away to start a new league");
}

Error explained(const fs::path& file, const SQLite::Exception& problem) {
  switch (problem.getErrorCode()) {
    case SQLITE_FULL:
      return journal_error(file,
                           "the disk is full; free some space and start again: nothing that was "
                           "acknowledged is lost");
    case SQLITE_CORRUPT:
      return damaged(file, problem.what());
    case SQLITE_NOTADB:
      return journal_error(file, "is not a journal: use another directory");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return journal_error(file, "another program has locked it: end that program first");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return journal_error(file, std::string("cannot be written (") + problem.what() +
                                     "): check the permissions of the directory and its files");
    default:
      return journal_error(file, std::string(problem.what()) + " (SQLite " +
                                     std::to_string(problem.getExtendedErrorCode()) + ")");
  }
}

}  // namespace league::journal
