#include "player/open_match_file.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/core/draft_file.h"

namespace league::player {
namespace {

using nlohmann::json;

core::Error notes_error(const std::filesystem::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, file.string() + ": " + why, ""};
}

std::string line_of(const json& note) {
  return note.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

std::string over_line(const core::PlayerId& player, const core::MatchId& match) {
  return line_of({{"player_id", player.str()}, {"match_id", match.str()}, {"over", true}});
}

}  // namespace

core::Result<std::unique_ptr<OpenMatchFile>> OpenMatchFile::open(Options options) {
  std::error_code failed;
  std::filesystem::create_directories(options.file.parent_path(), failed);  // the draft says why
  std::unique_ptr<OpenMatchFile> file(new OpenMatchFile(std::move(options)));
  if (auto loaded = file->load(); !loaded) return loaded.error();
  if (auto written = file->rewrite(); !written) return written.error();
  file->flusher_ = std::thread([raw = file.get()] { raw->flush_loop(); });
  return file;
}

OpenMatchFile::~OpenMatchFile() {
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  if (flusher_.joinable()) flusher_.join();
  if (descriptor_ >= 0) ::close(descriptor_);
}

core::Result<void> OpenMatchFile::load() {
  std::error_code failed;
  if (!std::filesystem::exists(options_.file, failed)) return {};
  std::ifstream in(options_.file, std::ios::binary);
  if (!in) return notes_error(options_.file, "cannot be read; check the rights of the file");
  int damaged = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && !read_line(line)) ++damaged;
  }
  if (damaged > 0) {
    spdlog::warn("{}: {} damaged line(s) left out; where a match is open, its choice is made anew",
                 options_.file.string(), damaged);
  }
  return {};
}

bool OpenMatchFile::read_line(const std::string& line) {
  const json note = json::parse(line, nullptr, false);
  if (!note.is_object()) return false;
  if (!note.contains("over")) {
    auto match = open_match_from_json(note);
    if (!match) return false;
    Key key(match->player_id, match->match_id);
    matches_.insert_or_assign(std::move(key), std::move(*match));
    return true;
  }
  const auto player = note.find("player_id");
  const auto match = note.find("match_id");
  if (player == note.end() || !player->is_string()) return false;
  if (match == note.end() || !match->is_string()) return false;
  matches_.erase(
      {core::PlayerId(player->get<std::string>()), core::MatchId(match->get<std::string>())});
  return true;
}

core::Result<void> OpenMatchFile::rewrite() {
  auto draft = core::DraftFile::create(options_.file, {.mode = 0600});
  if (!draft) return draft.error();
  std::size_t size = 0;
  for (const auto& [key, match] : matches_) {
    const std::string line = line_of(open_match_to_json(match));
    if (auto written = draft->write(line); !written) return written;
    size += line.size();
  }
  if (auto committed = draft->commit(core::Flush::kNow); !committed) return committed;
  const int descriptor = ::open(options_.file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return notes_error(options_.file, std::strerror(errno));
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
  size_ = open_size_ = size;
  return {};
}

std::vector<OpenMatch> OpenMatchFile::matches_of(const core::PlayerId& player) const {
  std::lock_guard lock(mutex_);
  std::vector<OpenMatch> matches;
  for (const auto& [key, match] : matches_) {
    if (key.first == player) matches.push_back(match);
  }
  return matches;
}

core::Result<void> OpenMatchFile::append(const std::string& line) {
  const ssize_t written = ::write(descriptor_, line.data(), line.size());
  if (written < 0) return notes_error(options_.file, std::strerror(errno));
  size_ += static_cast<std::size_t>(written);
  if (static_cast<std::size_t>(written) < line.size()) {
    // The rest of the disk was too small; a line end keeps the next line whole.
    (void)!::write(descriptor_, "\n", 1);
    return notes_error(options_.file, std::strerror(ENOSPC));
  }
  if (!std::exchange(is_dirty_, true)) changed_.notify_all();
  return {};
}

core::Result<void> OpenMatchFile::keep(const OpenMatch& match) {
  const std::string line = line_of(open_match_to_json(match));
  std::lock_guard lock(mutex_);
  if (auto written = append(line); !written) return written;
  matches_.insert_or_assign({match.player_id, match.match_id}, match);
  return {};
}

void OpenMatchFile::forget(const core::PlayerId& player, const core::MatchId& match) {
  const std::string line = over_line(player, match);
  std::lock_guard lock(mutex_);
  if (matches_.erase({player, match}) == 0) return;
  if (auto written = append(line); !written) spdlog::warn("{}", written.error().message);
}

void OpenMatchFile::forget_all(const core::PlayerId& player) {
  for (const OpenMatch& match : matches_of(player)) forget(player, match.match_id);
}

void OpenMatchFile::flush_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_dirty_ || is_stopped_; });
    // What is written meanwhile goes along.
    changed_.wait_for(lock, options_.flush_interval, [this] { return is_stopped_; });
    const bool is_last = is_stopped_;
    if (std::exchange(is_dirty_, false)) {
      if (size_ > options_.most_bytes + 2 * open_size_) {
        if (auto written = rewrite(); !written) spdlog::warn("{}", written.error().message);
      }
      lock.unlock();
      if (::fdatasync(descriptor_) != 0) {
        spdlog::warn("{}: {}", options_.file.string(), std::strerror(errno));
      }
      lock.lock();
    }
    if (is_last) return;
  }
}

}  // namespace league::player
