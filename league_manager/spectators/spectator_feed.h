#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/http/http_page.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/view/match_timelines.h"
#include "league_manager/view/spectator_view.h"

namespace league::league_manager::spectators {

struct SpectatorOptions {
  std::string epoch;  ///< letters and digits, different in each run of the manager
  std::size_t most_spectators = 2000;  ///< more are refused with 503
  std::chrono::milliseconds interval{500};  ///< between two updates, at least
  std::function<std::string()> registrations = {};  ///< RegistrationBoard::json; empty: nothing
  /// The latest figures (FigureKeeper::latest); empty: none.
  std::function<std::shared_ptr<const table::Figures>()> figures = {};
  /// How a player that comes to the manager is connected, and since when; may be empty.
  std::function<std::optional<std::pair<std::string, core::UtcTimestamp>>(const std::string& id)>
      line_of = {};
};

/// Sends a league to its spectators as server-sent events with the ids `EPOCH-NUMBER`: first a
/// snapshot, then updates. A client that reconnects with Last-Event-ID gets the updates that it
/// missed. Updates contain the current state of whatever has changed, so applying them twice does
/// no harm.
///
/// The number of spectators is not under the operator's control: an update is rendered once for all
/// of them, on the timer's thread, and the more work it took, the later the next one follows. The
/// transport drops spectators that do not read. Nothing is rendered while nobody watches.
/// Held by a shared_ptr. Thread-safe.
class SpectatorFeed : public std::enable_shared_from_this<SpectatorFeed> {
 public:
  using BookReader = std::function<void(const files::LeagueBook&)>;
  /// Passes the book to a reader; false if it is not available now.
  using ReadBook = std::function<bool(const BookReader&)>;

  /// `timer` should belong to the feed alone, since a tick can take milliseconds. `timer` and
  /// `clock` must outlive the feed; everything that `read_book` refers to must stay valid until
  /// stop() has returned.
  SpectatorFeed(SpectatorOptions options, ReadBook read_book, core::Timer& timer,
                const core::Clock& clock);

  /// For Ledger::observe.
  void on_events(const events::Events& events);
  /// A line of the operator's log.
  void on_line(const rounds::OperatorLine& line);
  /// The last lines of the operator's log, as a JSON array.
  [[nodiscard]] std::string news() const;
  /// `registrations` of the options has changed.
  void on_registrations();

  /// `figures` of the options has changed.
  void on_figures();

  /// The page whose response becomes a spectator's stream.
  [[nodiscard]] transport::http::HttpPage open(const transport::http::PageRequest& request);
  /// The pages of one match and of one player: JSON, or 404.
  [[nodiscard]] transport::http::HttpPage match(const transport::http::PageRequest& request);
  [[nodiscard]] transport::http::HttpPage player(const transport::http::PageRequest& request);
  [[nodiscard]] std::size_t spectators() const { return spectators_; }
  /// Sends the pending update and ends all streams, then stops like stop().
  void finish();
  /// Once this has returned, nothing is sent and the book is not read any more.
  void stop();

 private:
  using Text = std::shared_ptr<const std::string>;
  using Channel = std::shared_ptr<transport::link::PeerChannel>;
  using Time = core::Clock::Steady;
  struct PendingSpectator {
    Channel channel;
    std::optional<std::uint64_t> last;  ///< the last event that it received; nothing: none, or from
                                        ///< another run
  };
  struct Update {
    std::uint64_t id = 0;
    Text text;
  };

  void add(PendingSpectator pending);
  void schedule_locked();
  /// False if the book could not be read now.
  bool tick();
  // Needs tick_mutex_.
  void read_up();
  [[nodiscard]] bool render(Text& update, Text& snapshot);
  void remember(Text update);
  void forget_updates();
  void tell_all(const Text& update, const Text& snapshot);
  [[nodiscard]] bool has_since(std::uint64_t id) const;
  [[nodiscard]] std::string event_id(std::uint64_t number) const;
  [[nodiscard]] std::string lines_since(std::uint64_t number) const;

  const SpectatorOptions options_;
  const ReadBook read_book_;
  core::Timer& timer_;
  const core::Clock& clock_;
  std::atomic<std::size_t> spectators_{0};

  std::mutex tick_mutex_;  // guards what follows; taken before mutex_
  bool is_stopped_ = false;
  view::MatchTimelines timelines_{view::kMostMatchesShown};
  view::ViewParts changed_;  ///< since the last update
  bool has_changed_ = false;
  bool has_gap_ = false;  ///< events were read for which no update was made
  std::uint64_t told_line_ = 0;  ///< number of the last line that is in an update
  std::vector<Channel> readers_;
  std::vector<PendingSpectator> arrived_;
  std::deque<Update> updates_;  ///< the last ones
  std::size_t updates_bytes_ = 0;
  std::uint64_t last_id_ = 0;
  Time watched_until_{};

  mutable std::mutex mutex_;  // guards the rest; held only briefly
  events::Events unread_;
  std::vector<PendingSpectator> pending_;
  std::deque<std::pair<std::uint64_t, std::string>> lines_;  ///< by number, as JSON
  std::uint64_t last_line_ = 0;
  bool has_registrations_ = false;  ///< they have changed since the last update
  bool has_figures_ = false;  ///< the same of the figures
  bool is_watched_ = false;
  bool is_scheduled_ = false;
  Time next_tick_{};
};

}  // namespace league::league_manager::spectators
