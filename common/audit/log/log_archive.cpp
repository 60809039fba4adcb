#include "common/audit/log/log_archive.h"

#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "common/audit/log/log_file.h"
#include "common/audit/log/log_lines.h"
#include "common/audit/log/log_reader.h"
#include "common/audit/log/packed_log.h"
#include "common/audit/record/record_writer.h"
#include "common/schema/fields.h"

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArchive = "archive";
constexpr std::size_t kShownOfKey = 8;

/// The files of the log at `path` that are there: segments in order, the open one, its seals.
std::vector<fs::path> files_of(const fs::path& path) {
  std::vector<fs::path> files;
  auto add = [&](const fs::path& file) {
    std::error_code error;
    if (fs::exists(file, error)) files.push_back(file);
  };
  for (int segment = 1, last = last_segment(path); segment <= last; ++segment)
    for (const fs::path& file :
         {segment_path(path, segment), packed_path(segment_path(path, segment))})
      add(file);
  add(path);
  add(seal_path(path));
  add(fs::path(seal_path(path)) += ".new");
  return files;
}

/// Of the log at `path`, whatever of it is there.
std::optional<LogLeague> league_at(const fs::path& path) {
  if (auto league = league_of_log(path)) return league;
  int last = last_segment(path);
  return last > 0 ? league_of_log(segment_path(path, last)) : std::nullopt;
}

bool is_same(const LogLeague& owner, const LogLeague& league) {
  if (!owner.key.empty() || league.is_new) return owner.key == league.key;
  return owner.id == league.id;
}

/// How a league's folder is called.
std::string folder_of(const LogLeague& league) {
  if (!league.key.empty()) return league.key.substr(0, kShownOfKey);
  return is_safe_name(league.id) ? league.id : "unknown";
}

core::Result<void> move_files(const std::vector<fs::path>& files, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  for (const fs::path& file : files) {
    if (!error) fs::rename(file, to / file.filename(), error);
    if (!error) continue;
    return core::Error{core::ErrorCode::kInternalError,
                       "conversation log " + file.string() + ": moving it to " + to.string() +
                           " failed: " + error.message(),
                       {}};
  }
  return {};
}

bool holds_any(const fs::path& directory, const std::vector<fs::path>& files) {
  std::error_code error;
  for (const fs::path& file : files) {
    if (fs::exists(directory / file.filename(), error)) return true;
  }
  return false;
}

}  // namespace

std::optional<LogLeague> league_of_log(const fs::path& path) {
  constexpr int kMostLines = 1000;  // an agent learns of its league soon after its start
  auto lines = LogLines::open(path);
  if (!lines) return std::nullopt;
  std::optional<LogLeague> found;
  std::string_view line;
  for (int i = 0; i < kMostLines && lines->next(line) == LogLines::Next::kLine; ++i) {
    if (!line.starts_with("{\"format\":")) continue;
    const auto document = nlohmann::json::parse(line, nullptr, false);
    const auto header = schema::read_loosely<LogHeader>(document);
    if (!header.league_id.empty()) found = LogLeague{header.league_id, header.league_key};
  }
  return found;
}

bool is_archive(const fs::directory_entry& entry, const fs::path& logs) {
  std::error_code error;
  return entry.path() == logs / kArchive && entry.is_directory(error);
}

core::Result<void> LogArchive::make_place(const fs::path& log, const LogLeague& league) const {
  if (logs_.empty()) return {};
  auto owner = league_at(log);
  if (owner && is_same(*owner, league)) return {};
  if (owner) {
    if (auto moved = put_aside(log, *owner); !moved) return moved;
  }
  return league.key.empty() ? core::Result<void>() : bring_back(log, league);
}

fs::path LogArchive::place_of(const std::string& league) const { return logs_ / kArchive / league; }

core::Result<void> LogArchive::put_aside(const fs::path& log, const LogLeague& owner) const {
  const auto files = files_of(log);
  const fs::path folder = log.parent_path().lexically_relative(logs_);
  const std::string name = folder_of(owner);
  fs::path place = place_of(name) / folder;
  for (int i = 2; holds_any(place, files); ++i)
    place = place_of(name + "-" + std::to_string(i)) / folder;
  return move_files(files, place);
}

core::Result<void> LogArchive::bring_back(const fs::path& log, const LogLeague& league) const {
  const fs::path folder = log.parent_path().lexically_relative(logs_);
  const fs::path kept = place_of(folder_of(league)) / folder / log.filename();
  auto owner = league_at(kept);
  if (!owner || owner->key != league.key || !files_of(log).empty()) return {};
  return move_files(files_of(kept), log.parent_path());
}

}  // namespace league::audit::log
