#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>

#include "common/agent/runtime/projection_writer.h"
#include "league_manager/files/league_book.h"

namespace league::league_manager::files {

/// Keeps `leagues/LEAGUE/standings.json` and `rounds.json` of the data directory up to date with
/// the durable events of a league (Ledger::observe). They are written by the writer's thread, in
/// the background. Thread-safe.
class LeagueProjector {
 public:
  /// `writer` outlives the projector; `league_id` must be safe as a name.
  LeagueProjector(agent::runtime::ProjectionWriter& writer, const std::filesystem::path& data,
                  const core::LeagueId& league_id);
  /// Stops the writer.
  ~LeagueProjector();
  LeagueProjector(const LeagueProjector&) = delete;
  LeagueProjector& operator=(const LeagueProjector&) = delete;

  /// Takes the next events of the journal, in order. Fast: it does not write the files itself.
  void on_events(const events::Events& events);
  /// Fails if the files cannot be written, as far as that can be checked in advance.
  [[nodiscard]] core::Result<void> check() const;
  /// Shows `read` the league as of all events so far. False, without calling it, if a file is being
  /// written for longer than `patience`, or if the journal's events do not fit.
  [[nodiscard]] bool read(const std::function<void(const LeagueBook&)>& read,
                          std::chrono::milliseconds patience);
  /// Begins to write the files. Call it after the journal was read to its end without an error, so
  /// that a damaged journal does not overwrite anything.
  void start();

 private:
  using Write = core::Result<void> (*)(const LeagueBook&,
                                       const std::function<core::Result<void>(std::string_view)>&);
  [[nodiscard]] agent::runtime::ProjectionWriter::Render render(Write write);
  /// Brings the book up to date.
  [[nodiscard]] core::Result<void> read_up();

  agent::runtime::ProjectionWriter& writer_;
  const agent::runtime::ProjectionWriter::File standings_;
  const agent::runtime::ProjectionWriter::File rounds_;

  std::timed_mutex book_mutex_;  // taken before mutex_
  LeagueBook book_;
  std::mutex mutex_;
  bool is_started_ = false;
  events::Events unread_;
};

}  // namespace league::league_manager::files
