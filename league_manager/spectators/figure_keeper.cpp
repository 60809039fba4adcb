#include "league_manager/spectators/figure_keeper.h"

#include <sys/resource.h>

#include <algorithm>

namespace league::league_manager::spectators {
namespace {

constexpr int kPartOfTime = 20;
constexpr std::chrono::milliseconds kUntilNextTry{200};  // of reading the book

/// Whether the results that count, or the place where they are asked for, have changed.
bool is_due_after(const events::EventBody& event) {
  const auto* acted = std::get_if<events::OperatorActed>(&event);
  return std::holds_alternative<events::RoundCompleted>(event) ||
         std::holds_alternative<events::LeagueCompleted>(event) || (acted && acted->match);
}

}  // namespace

FigureKeeper::FigureKeeper(ReadBook read_book, std::function<void()> on_new)
    : read_book_(std::move(read_book)),
      on_new_(std::move(on_new)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void FigureKeeper::on_events(const events::Events& events) {
  const bool is_due = std::ranges::any_of(events, is_due_after, &events::Event::body);
  if (!is_due) return;
  std::lock_guard lock(mutex_);
  is_due_ = true;
  for (const events::Event& event : events)
    is_over_ = is_over_ || std::holds_alternative<events::LeagueCompleted>(event.body);
  changed_.notify_one();
}

FigureKeeper::Latest FigureKeeper::latest() const {
  std::lock_guard lock(mutex_);
  return latest_;
}

void FigureKeeper::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void FigureKeeper::run(const std::stop_token& stop) {
  constexpr int kLowest = 19;
  (void)::setpriority(PRIO_PROCESS, 0, kLowest);  // on Linux, of this thread
  Time not_before{};
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return is_due_; });
      changed_.wait_until(lock, stop, not_before, [this] { return is_over_; });
      if (stop.stop_requested()) return;
      is_due_ = false;
    }
    const Time began = std::chrono::steady_clock::now();
    const bool was_read = compute(stop);
    const Time now = std::chrono::steady_clock::now();
    not_before = now + kPartOfTime * (now - began);
    if (was_read) continue;
    std::unique_lock lock(mutex_);
    is_due_ = true;
    changed_.wait_for(lock, stop, kUntilNextTry, [] { return false; });
  }
}

bool FigureKeeper::compute(const std::stop_token& stop) {
  std::vector<table::CountedMatch> matches;
  int players = 0;
  std::string league_id;
  const bool was_read = read_book_([&](const files::LeagueBook& book) {
    if (!book.is_open()) return;
    const League& league = book.league();
    matches = table::counted_matches(league);
    players = league.roster().count(events::AgentKind::kPlayer);
    league_id = league.settings().league_id.str();
  });
  if (!was_read) return false;
  auto figures = table::figures_of(players, matches, league_id, stop);
  if (!figures) return true;
  {
    std::lock_guard lock(mutex_);
    latest_ = std::make_shared<const table::Figures>(std::move(*figures));
  }
  on_new_();
  return true;
}

}  // namespace league::league_manager::spectators
