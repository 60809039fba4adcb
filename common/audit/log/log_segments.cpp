#include "common/audit/log/log_segments.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/audit/log/packed_log.h"

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSealEnding = ".seal.json";

/// `P01.log.jsonl` of `P01.log.000001.jsonl`; nothing for a file that is no log.
std::optional<fs::path> log_of(const fs::path& file) {
  std::string name = file.filename().string();
  const bool is_packed = name.ends_with(".jsonl.gz");
  if (is_packed) name.resize(name.size() - 3);
  if (name.ends_with(kSealEnding)) {
    name.resize(name.size() - kSealEnding.size());
    return file.parent_path() / (name + std::string(kLogEnding));
  }
  if (name.ends_with(kLogEnding)) return is_packed ? std::nullopt : std::optional(file);
  std::size_t dot = name.size() < 13 ? 0 : name.size() - 13;  // ".000001.jsonl"
  std::string_view digits = std::string_view(name).substr(dot + 1, 6);
  if (!name.ends_with(".jsonl") || name[dot] != '.' ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  name.erase(dot, 7);
  if (!name.ends_with(kLogEnding)) return std::nullopt;
  return file.parent_path() / name;
}

}  // namespace

std::vector<LogSegments> find_log_segments(const std::filesystem::path& directory) {
  std::map<fs::path, std::vector<fs::path>> logs;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    auto log = log_of(entry->path());
    if (!log) continue;
    auto& files = logs[*log];
    if (!entry->path().string().ends_with(kSealEnding)) files.push_back(entry->path());
  }
  std::vector<LogSegments> found;
  for (auto& [path, files] : logs) {
    std::sort(files.begin(), files.end());  // numbers before `jsonl`, and that before `jsonl.gz`
    auto is_twin = [](const fs::path& one, const fs::path& next) {
      return packed_path(one) == next;
    };
    files.erase(std::unique(files.begin(), files.end(), is_twin), files.end());
    found.push_back({path, std::move(files)});
  }
  return found;
}

}  // namespace league::audit::log
