#include "league_manager/files/league_projector.h"

#include <iterator>
#include <utility>

#include "league_manager/files/league_files.h"

namespace league::league_manager::files {
namespace {

/// At most this many events wait for the next write; there are more only while an old journal is
/// replayed.
constexpr std::size_t kMostUnread = 8192;

}  // namespace

LeagueProjector::LeagueProjector(agent::runtime::ProjectionWriter& writer,
                                 const std::filesystem::path& data, const core::LeagueId& league_id)
    : writer_(writer),
      standings_{.path = standings_file(data, league_id), .is_precious = true},
      rounds_{.path = rounds_file(data, league_id), .is_precious = true} {}

LeagueProjector::~LeagueProjector() { writer_.stop(); }

core::Result<void> LeagueProjector::check() const {
  for (const auto* file : {&standings_, &rounds_}) {
    std::error_code ignored;  // the draft reports the error
    std::filesystem::create_directories(file->path.parent_path(), ignored);
    if (auto draft = core::DraftFile::create(file->path); !draft) return draft.error();
  }
  return {};
}

void LeagueProjector::start() {
  {
    std::lock_guard lock(mutex_);
    is_started_ = true;
  }
  writer_.update(standings_, render(write_standings));
  writer_.update(rounds_, render(write_rounds));
}

void LeagueProjector::on_events(const events::Events& events) {
  bool is_table_old = false;
  bool are_rounds_old = false;
  for (const auto& event : events) {
    is_table_old = is_table_old || changes_table(event.body);
    are_rounds_old = are_rounds_old || changes_rounds(event.body);
  }
  bool are_too_many = false;
  {
    std::lock_guard lock(mutex_);
    unread_.insert(unread_.end(), events.begin(), events.end());
    are_too_many = unread_.size() >= kMostUnread;
    is_table_old = is_table_old && is_started_;
    are_rounds_old = are_rounds_old && is_started_;
  }
  if (is_table_old) writer_.update(standings_, render(write_standings));
  if (are_rounds_old) writer_.update(rounds_, render(write_rounds));
  if (!are_too_many) return;
  // If a write holds the lock, these events are read up later.
  if (std::unique_lock lock(book_mutex_, std::try_to_lock); lock) (void)read_up();
}

bool LeagueProjector::read(const std::function<void(const LeagueBook&)>& read,
                           std::chrono::milliseconds patience) {
  // By the time of day: a wait by the steady clock is one that ThreadSanitizer does not see.
  std::unique_lock lock(book_mutex_, std::chrono::system_clock::now() + patience);
  if (!lock || !read_up()) return false;
  read(book_);
  return true;
}

agent::runtime::ProjectionWriter::Render LeagueProjector::render(Write write) {
  return [this, write](core::DraftFile& draft) -> core::Result<void> {
    std::lock_guard lock(book_mutex_);
    if (auto read = read_up(); !read) return read;
    return write(book_, [&draft](std::string_view part) { return draft.write(part); });
  };
}

core::Result<void> LeagueProjector::read_up() {
  events::Events events;
  {
    std::lock_guard lock(mutex_);
    events.swap(unread_);
  }
  for (const auto& event : events) {
    if (auto applied = book_.apply(event); !applied) return applied;
  }
  return {};
}

}  // namespace league::league_manager::files
