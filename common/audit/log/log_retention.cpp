#include "common/audit/log/log_retention.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLeaving = ".removed-";  // a league that is being removed

/// One earlier league.
struct Archived {
  fs::path folder;
  fs::file_time_type last_written = fs::file_time_type::min();
  std::uint64_t bytes = 0;
};

Archived look_at(const fs::path& folder) {
  Archived found{.folder = folder};
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (entry->symlink_status(gone).type() != fs::file_type::regular) continue;
    auto size = entry->file_size(gone);
    if (!gone) found.bytes += size;
    auto time = entry->last_write_time(gone);
    if (!gone) found.last_written = std::max(found.last_written, time);
  }
  return found;
}

/// Under another name first: a program that is killed meanwhile leaves no half of a league.
bool remove_league(const fs::path& folder) {
  std::error_code failed;
  fs::path leaving = folder.parent_path() / (std::string(kLeaving) + folder.filename().string());
  fs::rename(folder, leaving, failed);
  if (failed) return false;
  fs::remove_all(leaving, failed);
  return true;
}

std::optional<std::uint64_t> unit_of(std::string_view suffix) {
  if (suffix.ends_with("iB")) {
    suffix.remove_suffix(2);
  } else if (suffix.ends_with("B")) {
    suffix.remove_suffix(1);
  }
  if (suffix == "K") return std::uint64_t{1} << 10;
  if (suffix == "M") return std::uint64_t{1} << 20;
  if (suffix == "G") return std::uint64_t{1} << 30;
  if (suffix == "T") return std::uint64_t{1} << 40;
  return std::nullopt;
}

}  // namespace

core::Result<LogRetention> parse_retention(std::string_view text) {
  constexpr std::uint64_t kMostDays = 36500;
  std::uint64_t number = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  LogRetention retention;
  if (failed == std::errc{} && number > 0) {
    if ((suffix.empty() || suffix == "d") && number <= kMostDays) {
      retention.age = std::chrono::hours(24 * static_cast<std::int64_t>(number));
      return retention;
    }
    auto unit = unit_of(suffix);
    if (unit && number <= std::numeric_limits<std::uint64_t>::max() / *unit) {
      retention.bytes = number * *unit;
      return retention;
    }
  }
  return core::Error{
      core::ErrorCode::kInvalidFieldValue,
      "\"" + std::string(text.substr(0, 40)) + "\" is neither days (30d) nor a size (500M, 20G)",
      {}};
}

std::vector<std::string> remove_old_leagues(const fs::path& logs, const LogRetention& retention,
                                            fs::file_time_type now) {
  if (!retention.age && !retention.bytes) return {};
  std::vector<Archived> leagues;
  std::uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator entry(logs / "archive", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->symlink_status(ignored).type() != fs::file_type::directory) continue;
    if (entry->path().filename().string().starts_with(kLeaving)) {
      fs::remove_all(entry->path(), ignored);
      continue;
    }
    leagues.push_back(look_at(entry->path()));
    total += leagues.back().bytes;
  }
  std::ranges::sort(leagues, {}, &Archived::last_written);
  std::vector<std::string> gone;
  for (const Archived& league : leagues) {
    bool is_too_old = retention.age && league.last_written < now - *retention.age;
    bool is_too_much = retention.bytes && total > *retention.bytes;
    if ((!is_too_old && !is_too_much) || !remove_league(league.folder)) continue;
    total -= league.bytes;
    gone.push_back(league.folder.filename().string());
  }
  return gone;
}

}  // namespace league::audit::log
