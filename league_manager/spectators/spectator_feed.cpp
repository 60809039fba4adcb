#include "league_manager/spectators/spectator_feed.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/rpc/json_object.h"
#include "league_manager/view/public_text.h"

namespace league::league_manager::spectators {
namespace {

/// At most this many events wait unread while nobody watches.
constexpr std::size_t kMostUnreadEvents = 8192;
constexpr std::size_t kMostLines = 200;
constexpr std::size_t kMostStoredBytes = 4 * 1024 * 1024;  // of updates, for spectators that
                                                           // reconnect
constexpr std::chrono::seconds kAwayTime{60};  // how long updates are still made after the last
                                               // spectator has left, since it may reconnect
constexpr std::chrono::milliseconds kRetry{2000};
/// The limit of bytes per second for all spectators together (docs/measurements.md says what they
/// cost), ...
constexpr std::size_t kBytesPerSecond = 8 * 1024 * 1024;
/// ... and the limit of processor time for them: one processor's time divided by this number.
constexpr int kPartOfProcessor = 20;

std::string line_json(const rounds::OperatorLine& line, std::uint64_t number,
                      core::UtcTimestamp at) {
  std::string out;
  rpc::JsonObject(out)
      .number("n", number)
      .time("at", at)
      .flag("warning", line.is_warning)
      .text("event", line.event)
      .text("text", view::public_text(line.text))
      .end();
  return out;
}

transport::http::HttpPage json_page(int status, std::string body) {
  return {.status = status,
          .content_type = "application/json",
          .body = std::move(body),
          .headers = {{"Cache-Control", "no-store"}}};
}

}  // namespace

SpectatorFeed::SpectatorFeed(SpectatorOptions options, ReadBook read_book, core::Timer& timer,
                             const core::Clock& clock)
    : options_(std::move(options)),
      read_book_(std::move(read_book)),
      timer_(timer),
      clock_(clock) {}

void SpectatorFeed::finish() {
  constexpr int kMostTries = 5;  // tick() fails while a file is being written from the book
  for (int i = 0; i < kMostTries && !tick(); ++i) {
  }
  std::lock_guard lock(tick_mutex_);
  is_stopped_ = true;
  for (const auto& reader : readers_) reader->close();
  readers_.clear();
}

void SpectatorFeed::stop() {
  std::lock_guard lock(tick_mutex_);
  is_stopped_ = true;
  readers_.clear();
}

void SpectatorFeed::on_events(const events::Events& events) {
  bool is_too_much = false;
  {
    std::lock_guard lock(mutex_);
    unread_.insert(unread_.end(), events.begin(), events.end());
    if (is_watched_) schedule_locked();
    is_too_much = unread_.size() >= kMostUnreadEvents;
  }
  if (!is_too_much) return;
  // If a tick holds the lock, these events are read later.
  if (std::unique_lock lock(tick_mutex_, std::try_to_lock); lock) read_up();
}

void SpectatorFeed::on_line(const rounds::OperatorLine& line) {
  const auto now = clock_.utc_now();
  std::lock_guard lock(mutex_);
  ++last_line_;
  lines_.emplace_back(last_line_, line_json(line, last_line_, now));
  if (lines_.size() > kMostLines) lines_.pop_front();
  if (is_watched_) schedule_locked();
}

std::string SpectatorFeed::news() const {
  std::lock_guard lock(mutex_);
  return lines_since(0);
}

void SpectatorFeed::on_registrations() {
  std::lock_guard lock(mutex_);
  has_registrations_ = true;
  if (is_watched_) schedule_locked();
}

void SpectatorFeed::on_figures() {
  std::lock_guard lock(mutex_);
  has_figures_ = true;
  if (is_watched_) schedule_locked();
}

transport::http::HttpPage SpectatorFeed::open(const transport::http::PageRequest& request) {
  if (spectators_ >= options_.most_spectators) {
    auto page = json_page(503, R"({"error":"too many people watch this league"})");
    page.headers.emplace_back("Retry-After", "30");
    std::lock_guard lock(mutex_);
    schedule_locked();  // the tick removes spectators that have left
    return page;
  }
  std::optional<std::uint64_t> last;
  if (const auto id = request.last_event_id; id && id->starts_with(options_.epoch + "-")) {
    const auto digits = id->substr(options_.epoch.size() + 1);
    std::uint64_t number = 0;
    const auto end = digits.data() + digits.size();
    const auto [stop, fault] = std::from_chars(digits.data(), end, number);
    if (fault == std::errc{} && stop == end) last = number;
  }
  transport::http::HttpPage page;
  page.stream =
      transport::link::StreamAcceptance{.options = {.is_resumable = false, .retry = kRetry},
                                        .opened = [weak = weak_from_this(), last](Channel channel) {
                                          if (auto self = weak.lock())
                                            self->add({std::move(channel), last});
                                        }};
  return page;
}

void SpectatorFeed::add(PendingSpectator pending) {
  std::lock_guard lock(mutex_);
  ++spectators_;
  is_watched_ = true;
  pending_.push_back(std::move(pending));
  schedule_locked();
}

transport::http::HttpPage SpectatorFeed::match(const transport::http::PageRequest& request) {
  const auto key = events::MatchKey::parse(request.name);
  std::string found;
  std::lock_guard lock(tick_mutex_);
  if (is_stopped_) return json_page(503, "{}");
  read_up();
  const auto read = [&](const files::LeagueBook& book) {
    found = view::match_view(book, timelines_, *key);
  };
  if (key && !read_book_(read)) return json_page(503, "{}");
  if (found.empty()) return json_page(404, R"({"error":"no such match has been announced"})");
  return json_page(200, std::move(found));
}

transport::http::HttpPage SpectatorFeed::player(const transport::http::PageRequest& request) {
  const auto agent = events::AgentRef::parse(request.name);
  std::string found;
  std::lock_guard lock(tick_mutex_);
  if (is_stopped_) return json_page(503, "{}");
  const auto read = [&](const files::LeagueBook& book) {
    if (book.is_open() && agent->kind == events::AgentKind::kPlayer &&
        book.league().roster().contains(*agent))
      found = view::player_view(book, agent->index, {},
                                options_.line_of ? options_.line_of(agent->id()) : std::nullopt);
  };
  if (agent && !read_book_(read)) return json_page(503, "{}");
  if (found.empty()) return json_page(404, R"({"error":"no such player has registered"})");
  return json_page(200, std::move(found));
}

void SpectatorFeed::schedule_locked() {
  if (std::exchange(is_scheduled_, true)) return;
  const auto wait = std::max(next_tick_ - clock_.steady_now(), std::chrono::nanoseconds::zero());
  timer_.schedule(wait, [weak = weak_from_this()] {
    if (auto self = weak.lock()) (void)self->tick();
  });
}

bool SpectatorFeed::tick() {
  std::lock_guard lock(tick_mutex_);
  if (is_stopped_) return true;
  const Time began = clock_.steady_now();
  {
    std::lock_guard moment(mutex_);
    is_scheduled_ = false;
    arrived_.insert(arrived_.end(), pending_.begin(), pending_.end());
    pending_.clear();
  }
  read_up();
  Text update;
  Text snapshot;
  const bool was_read = render(update, snapshot);
  std::size_t bytes = 0;
  if (was_read) {
    bytes = (update ? update->size() * readers_.size() : 0) +
            (snapshot ? snapshot->size() * arrived_.size() : 0);
    if (update) remember(update);
    tell_all(update, snapshot);
  }
  const Time now = clock_.steady_now();
  if (!readers_.empty()) watched_until_ = now + kAwayTime;
  const auto pause = std::max<std::chrono::nanoseconds>(
      {options_.interval, (now - began) * kPartOfProcessor,
       std::chrono::milliseconds(bytes * 1000 / kBytesPerSecond)});
  std::lock_guard moment(mutex_);
  spectators_ = readers_.size() + arrived_.size() + pending_.size();
  is_watched_ = spectators_ > 0 || now < watched_until_;
  next_tick_ = now + pause;
  if (!was_read || !unread_.empty() || !pending_.empty()) schedule_locked();
  return was_read;
}

void SpectatorFeed::read_up() {
  events::Events events;
  bool is_watched = false;
  {
    std::lock_guard moment(mutex_);
    events.swap(unread_);
    has_gap_ = has_gap_ || (!is_watched_ && !events.empty());
    is_watched = is_watched_;
  }
  for (const events::Event& event : events) {
    const auto match = timelines_.take(event);
    if (!is_watched) continue;
    has_changed_ = true;
    if (match) changed_.matches.insert(*match);
    changed_.has_acts =
        changed_.has_acts || std::holds_alternative<events::OperatorActed>(event.body);
    // A new round adds its matches, which are pending.
    if (const auto* round = std::get_if<events::RoundStarted>(&event.body)) {
      for (int i = 1; i <= static_cast<int>(round->draw_seeds.size()); ++i)
        changed_.matches.insert({round->round, i});
      // The one before it has ended. Several rounds may begin between two updates.
      if (!changed_.first_round) changed_.first_round = round->round - 1;
    }
    changed_.has_agents = changed_.has_agents ||
                          std::holds_alternative<events::AgentRegistered>(event.body) ||
                          std::holds_alternative<events::AgentReregistered>(event.body) ||
                          std::holds_alternative<events::AgentStateChanged>(event.body) ||
                          std::holds_alternative<events::LeagueStarted>(event.body) ||
                          std::holds_alternative<events::FailureCounted>(event.body);
  }
}

bool SpectatorFeed::render(Text& update, Text& snapshot) {
  if (std::exchange(has_gap_, false)) forget_updates();
  std::uint64_t last_line = 0;
  bool is_watched = false;
  bool has_registrations = false;
  view::ViewParts parts = changed_;
  view::ViewParts whole{.is_whole = true};
  {
    std::lock_guard moment(mutex_);
    last_line = last_line_;
    is_watched = is_watched_;
    has_registrations = std::exchange(has_registrations_, false) && options_.registrations;
    if (std::exchange(has_figures_, false)) parts.figures = options_.figures();
    parts.log = lines_since(told_line_);
    whole.log = lines_since(0);
  }
  const bool needs_update =
      is_watched && (has_changed_ || has_registrations || parts.figures || last_line > told_line_);
  const bool needs_snapshot = std::ranges::any_of(arrived_, [&](const PendingSpectator& pending) {
    return !pending.last || !has_since(*pending.last);
  });
  if (options_.figures && needs_snapshot) whole.figures = options_.figures();
  if (options_.registrations && needs_snapshot) whole.registrations = options_.registrations();
  if (needs_update && has_registrations) parts.registrations = options_.registrations();
  const auto now = clock_.utc_now();
  const bool was_read =
      (!needs_update && !needs_snapshot) || read_book_([&](const files::LeagueBook& book) {
        if (!book.is_open()) return;
        if (needs_update)
          update =
              std::make_shared<const std::string>(view::league_view(book, timelines_, parts, now));
        if (needs_snapshot)
          snapshot =
              std::make_shared<const std::string>(view::league_view(book, timelines_, whole, now));
      });
  if (!was_read) {
    std::lock_guard moment(mutex_);
    has_registrations_ = has_registrations_ || has_registrations;
    has_figures_ = has_figures_ || parts.figures;
    return false;
  }
  changed_ = {};
  has_changed_ = false;
  told_line_ = last_line;
  return true;
}

/// Forgets all updates and skips a number, so that every client that reconnects gets a snapshot.
void SpectatorFeed::forget_updates() {
  ++last_id_;
  updates_.clear();
  updates_bytes_ = 0;
}

void SpectatorFeed::remember(Text update) {
  updates_bytes_ += update->size();
  updates_.push_back({++last_id_, std::move(update)});
  while (updates_bytes_ > kMostStoredBytes) {
    updates_bytes_ -= updates_.front().text->size();
    updates_.pop_front();
  }
}

bool SpectatorFeed::has_since(std::uint64_t id) const {
  if (id == last_id_) return true;
  return id < last_id_ && !updates_.empty() && updates_.front().id <= id + 1;
}

void SpectatorFeed::tell_all(const Text& update, const Text& snapshot) {
  if (update) {
    const std::string id = event_id(last_id_);
    for (const auto& reader : readers_) (void)reader->push_event(update, id, "update");
  }
  for (const PendingSpectator& pending : arrived_) {
    if (pending.last && has_since(*pending.last)) {
      for (const Update& missed : updates_) {
        if (missed.id > *pending.last)
          (void)pending.channel->push_event(missed.text, event_id(missed.id), "update");
      }
    } else if (snapshot) {
      (void)pending.channel->push_event(snapshot, event_id(last_id_), "snapshot");
    } else {  // the missed updates were forgotten meanwhile: the client reconnects and gets a
              // snapshot
      pending.channel->close();
    }
    readers_.push_back(pending.channel);
  }
  arrived_.clear();
  std::erase_if(readers_, [](const Channel& reader) { return !reader->is_open(); });
}

std::string SpectatorFeed::event_id(std::uint64_t number) const {
  return options_.epoch + "-" + std::to_string(number);
}

std::string SpectatorFeed::lines_since(std::uint64_t number) const {
  std::string out = "[";
  for (const auto& [its_number, line] : lines_) {
    if (its_number <= number) continue;
    if (out.size() > 1) out += ',';
    out += line;
  }
  return out + "]";
}

}  // namespace league::league_manager::spectators
