#include "common/agent/seats/seats.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/core/text.h"
#include "common/rpc/codec.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/json_text.h"
#include "common/schema/parse_json.h"

namespace league::agent::seats {
namespace {

using core::Error;
using core::ErrorCode;

constexpr std::string_view kPrefix = "tok_seat_";  // so that logs mask it like every token
constexpr std::size_t kNonce = 32;  ///< hexadecimal digits

/// `frame` with another id.
rpc::SharedText with_id(const rpc::SharedText& frame, const rpc::Id& id) {
  auto document = schema::parse_json(frame);
  if (!document || !document->is_object()) return frame;
  (*document)["id"] = id;
  return rpc::to_json_text(*document);
}

/// Tells a client that its session has ended because a newer one took over.
std::shared_ptr<const std::string> taken_over() {
  return std::make_shared<const std::string>(
      rpc::encode_notification("notifications/seat_ended", R"({"reason":"taken_over"})"));
}

/// Calls `function` once: with a value or, if nobody does, with what `otherwise` makes, so that the
/// end of a task leaves nobody without an answer.
template <typename Value>
class Once {
 public:
  Once(std::function<void(Value)> function, std::function<Value()> otherwise)
      : function_(std::move(function)), otherwise_(std::move(otherwise)) {}
  ~Once() {
    if (function_) std::exchange(function_, nullptr)(otherwise_());
  }
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  void operator()(Value value) { std::exchange(function_, nullptr)(std::move(value)); }

 private:
  std::function<void(Value)> function_;
  const std::function<Value()> otherwise_;
};

SeatAnswer shutting_down() {
  return {.error = Error{ErrorCode::kShuttingDown, "the program of this seat is ending", ""}};
}

/// What is called once, whatever becomes of its caller.
template <typename Value>
std::function<void(Value)> called_once(std::function<void(Value)> function,
                                       std::function<Value()> otherwise) {
  auto once = std::make_shared<Once<Value>>(std::move(function), std::move(otherwise));
  return [once](Value value) { (*once)(std::move(value)); };
}

}  // namespace

std::string_view line_name(Line line) {
  constexpr std::array<std::string_view, 4> kNames = {"away", "poll", "websocket", "host"};
  return kNames[static_cast<std::size_t>(line)];
}

struct Seats::OpenCall {
  SeatCall call;
  rpc::SharedText offered;  ///< with `offered_id`
  rpc::Id offered_id;  ///< unique among the seat's open calls
  core::Clock::Steady arrived;
  bool was_awaited = false;  ///< the player was waiting when it arrived
  std::optional<core::Clock::Steady> left = std::nullopt;  ///< first
  std::string session{};  ///< to which it was offered last
  rpc::SharedText answer{};
  core::Clock::Steady answered_at{};
  task::Latch answered{1};
};

struct Seats::Seat {
  std::string session{};
  Line line = Line::kAway;
  std::shared_ptr<transport::link::PeerChannel> channel = nullptr;
  std::shared_ptr<task::Latch> waiting = nullptr;  ///< the poll that waits for a call
  core::Clock::Steady last_seen{};
  std::vector<std::shared_ptr<OpenCall>> open{};  ///< in the order of their arrival
};

Seats::Seats(core::Timer& timer, const core::Clock& clock, core::RandomSource& random,
             OnException on_exception, SeatLimits limits)
    : timer_(timer),
      clock_(clock),
      random_(random),
      limits_(limits),
      key_(random.bytes<32>()),
      scope_(task::Executor(), std::move(on_exception)) {}

std::string Seats::name_session(const std::string& player) {
  // The name says whose session it is and proves that we made it, so that its sender can be
  // recognised without a look at the seats.
  const std::string nonce = core::to_hex(random_.bytes<kNonce / 2>());
  std::string session(kPrefix);
  return session + player + "_" + nonce + "_" +
         core::to_hex(core::hmac_sha256(key_, core::as_bytes(player + "|" + nonce)));
}

void Seats::open(std::string player, std::string session, Line line,
                 std::shared_ptr<transport::link::PeerChannel> channel) {
  scope_.executor().post([this, player = std::move(player), session = std::move(session), line,
                          channel = std::move(channel)]() mutable {
    begin(player, std::move(session), line, std::move(channel));
  });
}

std::optional<std::string> Seats::player_of(std::string_view session) const {
  if (!session.starts_with(kPrefix)) return std::nullopt;
  const std::string_view rest = session.substr(kPrefix.size());
  const std::size_t proof_at = rest.rfind('_');
  if (proof_at == rest.npos || proof_at < kNonce + 1) return std::nullopt;
  const std::size_t nonce_at = proof_at - kNonce;
  if (rest[nonce_at - 1] != '_') return std::nullopt;
  std::string player(rest.substr(0, nonce_at - 1));
  const auto nonce = rest.substr(nonce_at, kNonce);
  const auto expected =
      core::to_hex(core::hmac_sha256(key_, core::as_bytes(player + "|" + std::string(nonce))));
  if (!core::constant_time_equal(expected, rest.substr(proof_at + 1))) return std::nullopt;
  return player;
}

void Seats::begin(const std::string& player, std::string session, Line line,
                  std::shared_ptr<transport::link::PeerChannel> channel) {
  auto& held = seats_[player];
  if (!held) held = std::make_shared<Seat>();
  Seat& seat = *held;
  if (channel && !channel->is_open()) return;  // it was lost before its answer was sent
  if (seat.channel) (void)seat.channel->push(taken_over());
  leave(player, seat);
  seat.session = std::move(session);
  seat.channel = std::move(channel);
  seat.line = line;
  seat.last_seen = clock_.steady_now();
  if (seat.channel) {
    const std::lock_guard lock(mutex_);
    by_channel_[seat.channel->id()] = player;
  }
  show(player, seat.line);
  // It may have closed before it was known here; then nobody tells us any more.
  if (seat.channel && !seat.channel->is_open()) return leave(player, seat);
  hand_out(player, seat);
}

bool Seats::is_taken(const transport::link::PeerChannel& channel) const {
  const std::lock_guard lock(mutex_);
  return by_channel_.contains(channel.id());
}

/// The end of the seat's session; its calls stay open.
void Seats::leave(const std::string& player, Seat& seat) {
  if (auto channel = std::exchange(seat.channel, nullptr)) {
    {
      const std::lock_guard lock(mutex_);
      by_channel_.erase(channel->id());
    }
    channel->close();
  }
  seat.session.clear();
  if (auto waiting = std::exchange(seat.waiting, nullptr)) waiting->count_down();
  if (std::exchange(seat.line, Line::kAway) == Line::kAway) return;
  seat.last_seen = clock_.steady_now();
  show(player, Line::kAway);
}

void Seats::show(const std::string& player, Line line) {
  const std::lock_guard lock(mutex_);
  shown_[player] = {line, clock_.utc_now()};
}

std::optional<Seats::Shown> Seats::shown(const std::string& player) const {
  const std::lock_guard lock(mutex_);
  const auto found = shown_.find(player);
  return found != shown_.end() ? std::optional(found->second) : std::nullopt;
}

void Seats::call(std::string player, SeatCall call, Answered answered) {
  scope_.spawn(converse(std::move(player), std::move(call),
                        called_once<SeatAnswer>(std::move(answered), shutting_down)));
}

core::Result<void> Seats::has_room(const Seat& seat, const SeatCall& call) const {
  std::size_t calls = 0;
  std::size_t bytes = call.bytes.size();
  for (const auto& open : seat.open) {
    if (open->call.caller != call.caller) continue;
    ++calls;
    bytes += open->call.bytes.size();
  }
  if (calls < limits_.open_calls && (calls == 0 || bytes <= limits_.open_bytes)) return {};
  return Error{ErrorCode::kOverloaded,
               "this player has not answered the calls that you have made; at most " +
                   std::to_string(limits_.open_calls) + " may be open, of " +
                   std::to_string(limits_.open_bytes / 1024) + " KiB together",
               ""};
}

task::Task<void> Seats::converse(std::string player, SeatCall call, Answered answered) {
  auto& held = seats_[player];
  if (!held) {
    held = std::make_shared<Seat>();
    held->last_seen = clock_.steady_now();
  }
  const auto seat = held;
  end_if_silent(player, *seat);
  const auto now = clock_.steady_now();
  SeatAnswer answer;
  if (seat->line == Line::kAway && now - seat->last_seen > limits_.absence && !call.waits)
    answer.error = Error{ErrorCode::kConnectionError, player + " is not connected to its seat", ""};
  if (auto room = has_room(*seat, call); !room) answer.error = room.error();
  if (answer.error) {
    answered(std::move(answer));
    co_return;
  }
  const auto open = std::make_shared<OpenCall>(
      OpenCall{.call = std::move(call), .offered = {}, .offered_id = {}, .arrived = now});
  const bool is_id_taken = std::ranges::any_of(
      seat->open, [&](const auto& other) { return other->offered_id == open->call.id; });
  open->offered_id = is_id_taken ? rpc::Id("seat-" + std::to_string(++next_id_)) : open->call.id;
  open->offered = is_id_taken ? with_id(open->call.bytes, open->offered_id) : open->call.bytes;
  open->was_awaited = seat->channel != nullptr || seat->waiting != nullptr;
  seat->open.push_back(open);
  hand_out(player, *seat);

  const bool has_come =
      co_await open->answered.wait_for(timer_, open->call.deadline - clock_.steady_now());
  std::erase(seat->open, open);
  if (is_id_taken) {
    answer.offered = open->offered;
    answer.given = open->answer;
  }
  answer.sent_at = open->left;
  if (open->was_awaited && open->left) answer.own_delay = *open->left - open->arrived;
  answer.own_delay += clock_.steady_now() - (has_come ? open->answered_at : open->call.deadline);
  if (has_come) {
    answer.bytes = is_id_taken ? with_id(open->answer, open->call.id) : open->answer;
  } else {
    answer.error = Error{ErrorCode::kTimeout, player + " has not answered at its seat", ""};
  }
  answered(std::move(answer));
}

void Seats::end_if_silent(const std::string& player, Seat& seat) {
  const bool is_silent = seat.line == Line::kPoll && !seat.waiting &&
                         clock_.steady_now() - seat.last_seen > limits_.silence;
  if (is_silent) leave(player, seat);
}

/// Gives the player the calls that its session was not offered yet, if it waits for them.
void Seats::hand_out(const std::string& player, Seat& seat) {
  if (seat.waiting) {
    const bool has_any = std::ranges::any_of(
        seat.open, [&](const auto& open) { return open->session != seat.session; });
    if (has_any) seat.waiting->count_down();
    return;
  }
  if (!seat.channel) return;
  for (const auto& open : seat.open) {
    if (open->session == seat.session || open->answered_at != core::Clock::Steady{}) continue;
    if (!seat.channel->push(open->offered.share())) return leave(player, seat);
    open->session = seat.session;
    if (!open->left) open->left = clock_.steady_now();
  }
}

std::vector<Polled::Call> Seats::take_calls(Seat& seat) {
  std::vector<Polled::Call> calls;
  const auto now = clock_.steady_now();
  for (const auto& open : seat.open) {
    if (open->session == seat.session || open->answered_at != core::Clock::Steady{}) continue;
    open->session = seat.session;
    if (!open->left) open->left = now;
    const auto remaining =
        std::chrono::duration_cast<std::chrono::milliseconds>(open->call.deadline - now);
    calls.push_back({open->offered, std::max(remaining, std::chrono::milliseconds(0))});
  }
  return calls;
}

void Seats::take(Seat& seat, const rpc::SharedText& answer) {
  const auto frame = rpc::peek_frame(answer);
  if (frame.kind != rpc::FrameKind::kResponse) return;
  const auto found = std::ranges::find_if(seat.open, [&](const auto& open) {
    return open->offered_id == frame.id && open->left && open->answer.empty();
  });
  if (found == seat.open.end()) return;
  OpenCall& open = **found;
  open.answer = answer;
  open.answered_at = clock_.steady_now();
  open.answered.count_down();
}

core::Result<std::string> Seats::owner_of(const std::string& session) const {
  const auto player = player_of(session);
  const auto seat = player ? seats_.find(*player) : seats_.end();
  if (seat == seats_.end() || seat->second->line == Line::kAway) {
    return Error{ErrorCode::kAuthTokenInvalid,
                 "session is not that of a seat: open one with open_seat", "/session"};
  }
  if (seat->second->session != session) {
    return Error{ErrorCode::kNotAuthorized,
                 "a newer session has taken over this seat, so this one has ended", "/session"};
  }
  return *player;
}

void Seats::poll(std::string session, std::chrono::milliseconds wait,
                 std::vector<std::string> answers,
                 std::function<void(core::Result<Polled>)> polled) {
  scope_.spawn(wait_for_calls(
      std::move(session), wait, std::move(answers),
      called_once<core::Result<Polled>>(std::move(polled), [] { return Polled{}; })));
}

task::Task<void> Seats::wait_for_calls(std::string session, std::chrono::milliseconds wait,
                                       std::vector<std::string> answers,
                                       std::function<void(core::Result<Polled>)> polled) {
  const auto player = owner_of(session);
  if (!player) {
    polled(player.error());
    co_return;
  }
  const auto seat = seats_[*player];
  seat->last_seen = clock_.steady_now();
  for (auto& answer : answers) take(*seat, std::move(answer));
  if (auto earlier = std::exchange(seat->waiting, nullptr)) earlier->count_down();
  Polled got{.calls = take_calls(*seat)};
  if (got.calls.empty() && wait.count() > 0) {
    const auto mine = std::make_shared<task::Latch>(1);
    seat->waiting = mine;
    co_await mine->wait_for(timer_, wait);
    got.is_taken_over = !seat->session.empty() && seat->session != session;
    if (seat->waiting == mine) {
      seat->waiting = nullptr;
      seat->last_seen = clock_.steady_now();
      got.calls = take_calls(*seat);
    }
  }
  polled(std::move(got));
}

void Seats::end(std::string session) {
  scope_.executor().post([this, session = std::move(session)] {
    const auto player = owner_of(session);
    if (player) leave(*player, *seats_[*player]);
  });
}

void Seats::look_for(std::string player, std::function<void(bool)> found) {
  scope_.executor().post([this, player = std::move(player), found = std::move(found)] {
    const auto at = seats_.find(player);
    if (at == seats_.end() || at->second->line == Line::kAway) return found(false);
    const Seat& seat = *at->second;
    found(seat.channel || seat.waiting ||
          clock_.steady_now() - seat.last_seen <= limits_.between_polls);
  });
}

bool Seats::take_answer(const transport::link::PeerChannel& channel, const rpc::SharedText& bytes) {
  std::string player;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_channel_.find(channel.id());
    if (found == by_channel_.end()) return false;
    player = found->second;
  }
  scope_.executor().post([this, player = std::move(player), id = channel.id(), bytes] {
    Seat& seat = *seats_[player];
    if (seat.channel && seat.channel->id() == id) take(seat, bytes);
  });
  return true;
}

void Seats::on_channel_closed(const transport::link::PeerChannel& channel) {
  scope_.executor().post([this, id = channel.id()] {
    std::string player;
    {
      const std::lock_guard lock(mutex_);
      const auto found = by_channel_.find(id);
      if (found == by_channel_.end()) return;
      player = found->second;
    }
    Seat& seat = *seats_[player];
    if (seat.channel && seat.channel->id() == id) leave(player, seat);
  });
}

}  // namespace league::agent::seats
