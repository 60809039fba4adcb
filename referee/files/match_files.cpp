#include "referee/files/match_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/audit/log/log_file.h"
#include "common/schema/parse_json.h"

namespace league::referee::files {
namespace {

namespace fs = std::filesystem;
using agent::runtime::ProjectionWriter;
using core::Result;

core::Error file_error(const fs::path& file) {
  return {core::ErrorCode::kInternalError, file.string() + ": " + std::strerror(errno), ""};
}

/// Appends whole lines. A line that a killed program or a full disk has cut off stays alone.
Result<void> append_lines(const fs::path& file, const std::string& lines) {
  std::error_code ignored;  // opening reports the error
  fs::create_directories(file.parent_path(), ignored);
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out | std::ios::app);
  if (!out) return file_error(file);
  out.seekg(0, std::ios::end);
  if (out.tellg() > 0) {
    out.seekg(-1, std::ios::end);
    if (out.get() != '\n') out << '\n';
  }
  out << lines << std::flush;
  return out ? Result<void>() : file_error(file);
}

/// Writes the record `line` to the file of its match, unless that has a later attempt, which
/// belongs to another referee.
Result<void> write_match(const fs::path& directory, std::string line,
                         const ProjectionWriter& writer) {
  const auto record = schema::parse_json(line);
  if (!record || !record->is_object()) return {};  // cut off
  const auto id = record->find("match_id");
  const auto attempt = record->find("attempt");
  const bool is_record = id != record->end() && id->is_string() && attempt != record->end() &&
                         attempt->is_number_integer();
  if (!is_record || !audit::log::is_safe_name(id->get<std::string>())) return {};  // not ours
  const fs::path file = directory / (id->get<std::string>() + ".json");
  if (has_later_attempt(file, attempt->get<int>())) return {};
  std::ranges::replace(line, '\t', '\n');
  return writer.write(file, core::Flush::kLater,
                      [&](core::DraftFile& draft) { return draft.write(line + '\n'); });
}

}  // namespace

Result<std::unique_ptr<MatchFiles>> MatchFiles::open(fs::path data, ProjectionWriter& writer) {
  std::error_code ignored;  // the draft reports the error
  fs::create_directories(data / "matches", ignored);
  auto draft = core::DraftFile::create(data / "matches" / "referee");
  if (!draft) return draft.error();
  return std::unique_ptr<MatchFiles>(new MatchFiles(std::move(data), writer));
}

MatchFiles::~MatchFiles() { writer_.stop(); }

void MatchFiles::publish(const std::shared_ptr<const MatchRecord>& record) {
  {
    std::lock_guard lock(mutex_);
    ended_.push_back(record);
    if (ended_.size() > 1) return;  // the writer has been told
  }
  writer_.run("matches", ProjectionWriter::When::kSoon, [this] { return append(); });
  writer_.run("match files", ProjectionWriter::When::kWhenQuiet, [this] { return take_apart(); });
}

Result<void> MatchFiles::append() {
  std::vector<std::shared_ptr<const MatchRecord>> ended;
  {
    std::lock_guard lock(mutex_);
    ended.swap(ended_);
  }
  std::map<fs::path, std::string> lines;
  for (const auto& record : ended) {
    auto file = match_lines_file(data_, record->head());
    if (!file) {
      agent::runtime::log::warn("a match cannot be recorded: {}", file.error().message);
      continue;
    }
    std::string line = record->json();
    std::replace(line.begin(), line.end() - 1, '\n', '\t');  // JSON has no tabs in strings
    lines[*file] += line;
  }
  for (const auto& [file, text] : lines) {
    if (auto appended = append_lines(file, text); !appended) {
      std::lock_guard lock(mutex_);
      ended_.insert(ended_.begin(), ended.begin(), ended.end());
      return appended;
    }
    written_.insert(file);
  }
  return {};
}

Result<void> MatchFiles::take_apart() {
  if (auto appended = append(); !appended) return appended;
  while (!written_.empty()) {
    const fs::path file = *written_.begin();
    std::ifstream in(file, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      if (auto written = write_match(file.parent_path(), std::move(line), writer_); !written)
        return written;
    }
    in.close();
    std::error_code failed;
    fs::remove(file, failed);
    if (failed)
      return core::Error{core::ErrorCode::kInternalError, file.string() + ": " + failed.message(),
                         ""};
    written_.erase(written_.begin());
  }
  return {};
}

}  // namespace league::referee::files
