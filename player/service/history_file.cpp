#include "player/service/history_file.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/agent/runtime/log.h"
#include "common/audit/log/log_file.h"

namespace league::player::service {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

core::Error file_error(const fs::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, file.string() + ": " + why, ""};
}

}  // namespace

core::Result<fs::path> history_file(const fs::path& data, const core::PlayerId& player) {
  if (!audit::log::is_safe_name(player.str())) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "an id that names a directory has 1 to 128 letters, digits, `_` or `-`", ""};
  }
  return data / "players" / player.str() / "history.json";
}

core::Result<std::unique_ptr<HistoryFile>> HistoryFile::open(
    const fs::path& data, HistoryOwner owner, agent::runtime::ProjectionWriter& writer) {
  auto file = history_file(data, owner.player_id);
  if (!file) return file.error();
  std::unique_ptr<HistoryFile> history(new HistoryFile(std::move(*file), std::move(owner), writer));
  if (auto loaded = history->load(); !loaded) return loaded.error();
  return history;
}

HistoryFile::HistoryFile(fs::path file, HistoryOwner owner,
                         agent::runtime::ProjectionWriter& writer)
    : file_(std::move(file)), owner_(std::move(owner)), writer_(writer) {}

core::Result<void> HistoryFile::load() {
  std::error_code failed;
  fs::create_directories(file_.parent_path(), failed);  // the draft reports the error
  if (auto draft = core::DraftFile::create(file_); !draft) return draft.error();
  if (!fs::exists(file_, failed)) return {};
  std::ifstream in(file_, std::ios::binary);
  if (!in) return file_error(file_, "cannot be read; check the permissions of the file");
  if (in.peek() == std::ifstream::traits_type::eof()) {
    agent::runtime::log::warn(
        "{} is empty, as after a power failure: a new history begins; `league export` can "
        "recreate the old one from the conversation log",
        file_.string());
    return {};
  }
  auto document = json::parse(in, nullptr, false);
  if (document.is_discarded()) {
    return file_error(file_,
                      "is damaged (not JSON); restore a backup, let `league export` make it "
                      "from the conversation log, or move it away to start with an empty history");
  }
  auto history = history_from_json(document);
  if (!history) return file_error(file_, history.error().message);
  auto name = document.find("display_name");
  if (name != document.end() && *name != owner_.display_name)
    return put_aside("was another player's");
  auto is_of_new_league = [this](const PlayedMatch& match) {
    return !owner_.new_league.empty() && match.league_id == owner_.new_league;
  };
  if (std::ranges::any_of(history->matches(), is_of_new_league))
    return put_aside("is of an earlier league " + owner_.new_league.str());
  history_ = std::move(*history);
  return {};
}

core::Result<void> HistoryFile::put_aside(const std::string& why) const {
  std::error_code failed;
  fs::path place;
  for (int i = 1; place.empty() || fs::exists(place, failed); ++i)
    place = file_.parent_path() / ("history-" + std::to_string(i) + ".json");
  fs::rename(file_, place, failed);
  if (failed) return file_error(file_, failed.message());
  agent::runtime::log::info("{} {}; it is now {}", file_.string(), why, place.string());
  return {};
}

MatchHistory HistoryFile::read() const {
  std::lock_guard lock(history_mutex_);
  return history_;
}

void HistoryFile::add(PlayedMatch match) {
  {
    std::lock_guard lock(mutex_);
    unwritten_.push_back(std::move(match));
  }
  update();
}

void HistoryFile::dispute(DisputedMatch match) {
  {
    std::lock_guard lock(mutex_);
    unwritten_disputes_.push_back(std::move(match));
  }
  update();
}

void HistoryFile::update() {
  writer_.update({.path = file_, .is_precious = true},
                 [this](core::DraftFile& draft) { return write(draft); });
}

core::Result<void> HistoryFile::write(core::DraftFile& draft) {
  std::lock_guard lock(history_mutex_);
  std::vector<PlayedMatch> matches;
  std::vector<DisputedMatch> disputes;
  {
    std::lock_guard other(mutex_);
    matches.swap(unwritten_);
    disputes.swap(unwritten_disputes_);
  }
  for (auto& match : disputes) history_.dispute(std::move(match));
  for (auto& match : matches) history_.add(std::move(match));
  return draft.write(history_text(history_, owner_));
}

}  // namespace league::player::service
