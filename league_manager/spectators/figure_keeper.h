#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "league_manager/files/league_book.h"
#include "league_manager/table/figures.h"

namespace league::league_manager::spectators {

/// Computes a league's figures (docs/table.md) after each round and at its end, on a thread of its
/// own with the lowest priority, for at most a twentieth of the time, so that a league that plays
/// at full speed is not delayed. Thread-safe.
class FigureKeeper {
 public:
  using Latest = std::shared_ptr<const table::Figures>;
  using BookReader = std::function<void(const files::LeagueBook&)>;
  /// Passes the book to a reader; false if it is not available now.
  using ReadBook = std::function<bool(const BookReader&)>;

  /// Everything that `read_book` and `on_new` refer to must stay valid until stop() has returned.
  /// `on_new` is called on the thread whenever there are new figures.
  FigureKeeper(ReadBook read_book, std::function<void()> on_new);

  /// For Ledger::observe.
  void on_events(const events::Events& events);
  /// The latest figures; null before the first.
  [[nodiscard]] Latest latest() const;
  /// Gives up what it computes, within milliseconds.
  void stop();

 private:
  using Time = std::chrono::steady_clock::time_point;

  void run(const std::stop_token& stop);
  /// False if the book could not be read.
  [[nodiscard]] bool compute(const std::stop_token& stop);

  const ReadBook read_book_;
  const std::function<void()> on_new_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_due_ = false;
  bool is_over_ = false;  ///< the league: there is nothing to delay any more
  Latest latest_;
  std::jthread thread_;  // last, so that it ends first
};

}  // namespace league::league_manager::spectators
