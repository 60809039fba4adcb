#include "player/service/open_match_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/core/draft_file.h"
#include "common/schema/fields.h"

namespace league::player::service {
namespace {

using nlohmann::json;

/// What a referee of this project shows; it is the default and is not stored.
constexpr std::string_view kMatchCredential = "match";

core::Error notes_error(const std::filesystem::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, file.string() + ": " + why, ""};
}

/// A line about one match of a player that is not the whole match.
struct MatchNote {
  core::PlayerId player_id{};
  core::MatchId match_id{};
  std::optional<std::string> referee_credential = std::nullopt;  ///< that is to be expected
  bool is_over = false;
  bool is_asked_for = false;  ///< the choice, by a call with this commitment of the opponent
  std::optional<std::string> opponent_commitment = std::nullopt;

  void describe(schema::Fields& a) {
    a.required("player_id", player_id, "match_id", match_id);
    a.optional("referee_credential", referee_credential);
    a.flag("over", is_over);
    a.flag("asked_for", is_asked_for);
    a.optional("opponent_commitment", opponent_commitment);
  }
  [[nodiscard]] std::string line() const { return schema::to_text(*this) + '\n'; }
};

/// Whether `now` differs from `known` only because the choice was asked for.
bool was_only_asked_for(const OpenMatch& known, const OpenMatch& now) {
  if (known.is_revealed || !now.is_revealed || known.opponent_commitment) return false;
  OpenMatch asked = known;
  asked.is_revealed = true;
  asked.revealed_attempt = asked.attempt;
  asked.revealed_play = asked.play;
  asked.opponent_commitment = now.opponent_commitment;
  return asked == now;
}

}  // namespace

core::Result<std::unique_ptr<OpenMatchFile>> OpenMatchFile::open(Options options) {
  std::error_code failed;
  std::filesystem::create_directories(options.file.parent_path(), failed);  // the draft reports the
                                                                            // error
  std::unique_ptr<OpenMatchFile> file(new OpenMatchFile(std::move(options)));
  if (auto loaded = file->load(); !loaded) return loaded.error();
  auto ready = file->options_.is_shared ? file->open_shared() : file->rewrite();
  if (!ready) return ready.error();
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
  if (!in) return notes_error(options_.file, "cannot be read; check the permissions of the file");
  in.seekg(read_size_);
  int damaged = 0;
  for (std::string line; std::getline(in, line);) {
    // Another process may still be writing the last line of a shared file.
    if (in.eof() && options_.is_shared) break;
    read_size_ += static_cast<std::streamoff>(line.size()) + 1;
    if (!line.empty() && !read_line(line)) ++damaged;
  }
  if (damaged > 0) {
    agent::runtime::log::warn(
        "{}: {} damaged line(s) ignored; the player makes new choices for matches that are open",
        options_.file.string(), damaged);
  }
  return {};
}

bool OpenMatchFile::read_line(const std::string& line) {
  const json document = json::parse(line, nullptr, false);
  const auto note = schema::read<MatchNote>(document);
  if (!note) return false;
  Key key(note->player_id, note->match_id);
  if (note->referee_credential) {
    take_credential(key, *note->referee_credential);
  } else if (note->is_over) {
    matches_.erase(key);
    credentials_.erase(key);
  } else if (note->is_asked_for) {
    const auto known = matches_.find(key);
    if (known == matches_.end()) return false;
    OpenMatch& match = known->second;
    if (note->opponent_commitment) match.opponent_commitment = note->opponent_commitment;
    match.is_revealed = true;
    match.revealed_attempt = match.attempt;
    match.revealed_play = match.play;
  } else {
    auto match = open_match_from_json(document);
    if (!match) return false;
    matches_.insert_or_assign(std::move(key), std::move(*match));
  }
  return true;
}

void OpenMatchFile::take_credential(const Key& key, const std::string& credential) {
  if (credential == kMatchCredential) {
    credentials_.erase(key);
  } else {
    credentials_.insert_or_assign(key, credential);
  }
}

core::Result<void> OpenMatchFile::open_shared() {
  descriptor_ = ::open(options_.file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0) return notes_error(options_.file, std::strerror(errno));
  return {};
}

core::Result<void> OpenMatchFile::rewrite() {
  auto draft = core::DraftFile::create(options_.file, {.mode = 0600});
  if (!draft) return draft.error();
  std::size_t size = 0;
  for (const auto& [key, match] : matches_) {
    const std::string line = open_match_to_text(match) + '\n';
    if (auto written = draft->write(line); !written) return written;
    size += line.size();
  }
  for (const auto& [key, credential] : credentials_) {
    const std::string line = MatchNote{key.first, key.second, credential}.line();
    if (auto written = draft->write(line); !written) return written;
    size += line.size();
  }
  if (auto committed = draft->commit(core::Flush::kNow); !committed) return committed;
  const int descriptor = ::open(options_.file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return notes_error(options_.file, std::strerror(errno));
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
  size_ = open_size_ = size;
  over_lines_.clear();
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

std::optional<OpenMatch> OpenMatchFile::find_shared(const core::PlayerId& player,
                                                    const core::MatchId& match) {
  if (!options_.is_shared) return std::nullopt;
  std::lock_guard lock(mutex_);
  if (auto loaded = load(); !loaded) agent::runtime::log::warn("{}", loaded.error().message);
  const auto found = matches_.find({player, match});
  return found == matches_.end() ? std::nullopt : std::optional(found->second);
}

RefereeCredentials OpenMatchFile::credentials_of(const core::PlayerId& player) const {
  std::lock_guard lock(mutex_);
  RefereeCredentials credentials;
  for (const auto& [key, credential] : credentials_) {
    if (key.first == player) credentials.emplace(key.second, credential);
  }
  return credentials;
}

core::Result<void> OpenMatchFile::keep_credential(const core::PlayerId& player,
                                                  const core::MatchId& match,
                                                  const std::string& credential) {
  const Key key(player, match);
  std::lock_guard lock(mutex_);
  const auto known = credentials_.find(key);
  const bool is_news =
      known == credentials_.end() ? credential != kMatchCredential : known->second != credential;
  if (!is_news) return {};
  const std::string lines = over_lines_ + MatchNote{player, match, credential}.line();
  if (auto written = append(lines); !written) return written;
  over_lines_.clear();
  take_credential(key, credential);
  return {};
}

void OpenMatchFile::mark_dirty() {
  if (!std::exchange(is_dirty_, true)) changed_.notify_all();
}

core::Result<void> OpenMatchFile::append(std::string_view lines) {
  const ssize_t written = ::write(descriptor_, lines.data(), lines.size());
  if (written < 0) return notes_error(options_.file, std::strerror(errno));
  size_ += static_cast<std::size_t>(written);
  if (static_cast<std::size_t>(written) < lines.size()) {
    // The disk is full and the line incomplete; a line end keeps it from damaging the next line.
    (void)!::write(descriptor_, "\n", 1);
    return notes_error(options_.file, std::strerror(ENOSPC));
  }
  mark_dirty();
  return {};
}

core::Result<void> OpenMatchFile::keep(const OpenMatch& match) {
  Key key(match.player_id, match.match_id);
  std::lock_guard lock(mutex_);
  const auto known = matches_.find(key);
  const bool is_known = known != matches_.end();
  if (is_known && known->second == match) return {};
  std::string lines = over_lines_;
  if (is_known && was_only_asked_for(known->second, match)) {
    lines += MatchNote{.player_id = match.player_id,
                       .match_id = match.match_id,
                       .is_asked_for = true,
                       .opponent_commitment = match.opponent_commitment}
                 .line();
  } else {
    lines.append(open_match_to_text(match)) += '\n';
  }
  if (auto written = append(lines); !written) return written;
  over_lines_.clear();
  matches_.insert_or_assign(std::move(key), match);
  return {};
}

void OpenMatchFile::forget(const core::PlayerId& player, const core::MatchId& match) {
  std::lock_guard lock(mutex_);
  if (matches_.erase({player, match}) + credentials_.erase({player, match}) == 0) return;
  over_lines_ += MatchNote{.player_id = player, .match_id = match, .is_over = true}.line();
  mark_dirty();
}

void OpenMatchFile::forget_all(const core::PlayerId& player) {
  for (const OpenMatch& match : matches_of(player)) forget(player, match.match_id);
  for (const auto& [match, credential] : credentials_of(player)) forget(player, match);
}

void OpenMatchFile::flush_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_dirty_ || is_stopped_; });
    // Wait a little, so that one flush covers several lines.
    changed_.wait_for(lock, options_.flush_interval, [this] { return is_stopped_; });
    const bool is_last = is_stopped_;
    if (is_dirty_) {
      if (!over_lines_.empty()) {
        if (auto written = append(over_lines_); !written)
          agent::runtime::log::warn("{}", written.error().message);
        over_lines_.clear();
      }
      if (!options_.is_shared && size_ > options_.most_bytes + 2 * open_size_) {
        if (auto written = rewrite(); !written)
          agent::runtime::log::warn("{}", written.error().message);
      }
      is_dirty_ = false;
      lock.unlock();
      if (::fdatasync(descriptor_) != 0) {
        agent::runtime::log::warn("{}: {}", options_.file.string(), std::strerror(errno));
      }
      lock.lock();
    }
    if (is_last) return;
  }
}

}  // namespace league::player::service
